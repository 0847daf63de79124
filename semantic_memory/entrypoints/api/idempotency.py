"""Idempotency keys: a write that is sent again gets the first one's answer, for a day."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from anyio import to_thread
from fastapi import Header, Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from semantic_memory.disk import SystemDisk
from semantic_memory.domain.errors import StoreUnavailableError
from semantic_memory.domain.events import Event, MemoriesForgotten
from semantic_memory.domain.ports import Clock
from semantic_memory.entrypoints.callers import Caller
from semantic_memory.ledger.sqlite.database import Database

_DAY = 86_400.0
_PURGE_EVERY = 1_000
_WITHDRAWN = 410  # status of an answer whose text was erased

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=128,
        pattern=r"^[\x21-\x7e]+$",
        description="Drawn at random for each write; sent again with it, a write isn't repeated.",
    ),
]


async def accepts_idempotency_key(idempotency_key: IdempotencyKey = None) -> None:
    """Document and check the header for a whole router."""
    del idempotency_key


class Reply(NamedTuple):
    """A response to send again."""

    fingerprint: str
    status: int
    media_type: str
    body: bytes


class Replies:
    """The answers of the last day, in a file. Thread-safe."""

    def __init__(self, file: Path, clock: Clock, keys: Sequence[bytes] = ()) -> None:
        """Open the file, creating it if need be, encrypted if there are `keys`."""
        self._clock = clock
        self._lock = threading.Lock()
        self._under_way: set[str] = set()
        self._kept = 0
        self._database = Database(file, SystemDisk(), keys)
        self._database.create()
        try:
            self._connection = self._database.connect()
        except self._database.error as error:
            raise StoreUnavailableError(f"can't open {file}: {error}") from error
        with self._using() as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            # The last answers may be lost with the machine's power; all writes converge even then.
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA secure_delete = ON")  # forgotten texts are overwritten
            connection.execute(
                "CREATE TABLE IF NOT EXISTS replies (name TEXT PRIMARY KEY, fingerprint TEXT,"
                " status INTEGER, media_type TEXT, body BLOB, at REAL) WITHOUT ROWID"
            )
        self._purge()

    def begin(self, name: str) -> Reply | None:
        """The earlier answer; None if there is none, and this request is to be worked on.

        Raises HTTPException 409 while the first request is still worked on.
        """
        with self._using() as connection:
            if name in self._under_way:
                raise HTTPException(
                    409,
                    "a request with this Idempotency-Key is still being worked on",
                    headers={"Retry-After": "1"},
                )
            row = connection.execute(
                "SELECT fingerprint, status, media_type, body FROM replies WHERE name = ?", (name,)
            ).fetchone()
            if row is None:
                self._under_way.add(name)
                return None
            return Reply(*row)

    def keep(self, name: str, reply: Reply) -> None:
        """Remember an answer."""
        with self._using() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?)",
                (name, *reply, self._clock.now().timestamp()),
            )
            self._kept += 1
        if self._kept % _PURGE_EVERY == 0:
            self._purge()

    def end(self, name: str) -> None:
        """The request that `begin` let through is over."""
        with self._lock:
            self._under_way.discard(name)

    def withdraw(self, event: Event) -> None:
        """Erase the answers with memories of a user who has something forgotten; an `Observer`.

        Their requests aren't worked on again: they are answered with 410.
        """
        if not isinstance(event, MemoriesForgotten):
            return
        held = json.dumps(event.user_id, ensure_ascii=False).encode()
        with self._using() as connection:
            connection.execute(
                "UPDATE replies SET status = ?, media_type = '', body = x''"
                " WHERE instr(body, ?) > 0",
                (_WITHDRAWN, held),
            )
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def _purge(self) -> None:
        with self._using() as connection:
            oldest = self._clock.now().timestamp() - _DAY
            connection.execute("DELETE FROM replies WHERE at < ?", (oldest,))

    @contextmanager
    def _using(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._connection
            except self._database.error as error:
                raise StoreUnavailableError(f"can't keep idempotency keys: {error}") from error


class Once(APIRoute):
    """A route whose writes honour `Idempotency-Key`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The route's handler, which looks for an earlier answer first."""
        handle = super().get_route_handler()

        async def handle_once(request: Request) -> Response:
            key = request.headers.get("idempotency-key")
            if key is None:
                return await handle(request)
            replies: Replies = request.app.state.replies
            caller: Caller = request.state.caller
            name = _digest(caller.name, request.method, request.url.path, key)
            sent = await request.body()
            fingerprint = _digest(request.url.query, sent.decode("latin-1"))
            earlier = await to_thread.run_sync(replies.begin, name)
            if earlier is not None:
                return _again(earlier, fingerprint)
            try:
                response = await handle(request)
                reply = Reply(
                    fingerprint,
                    response.status_code,
                    response.media_type or "",
                    bytes(response.body),
                )
                await to_thread.run_sync(replies.keep, name, reply)
            finally:
                replies.end(name)
            return response

        return handle_once


def _again(reply: Reply, fingerprint: str) -> Response:
    if reply.fingerprint != fingerprint:
        raise HTTPException(
            409, "this Idempotency-Key was used for another request; draw a new one"
        )
    if reply.status == _WITHDRAWN:
        raise HTTPException(
            _WITHDRAWN,
            "this write was done; its answer held memories of a user who had some forgotten since",
        )
    return Response(
        reply.body or None,
        reply.status,
        headers={"Idempotency-Replayed": "true"},
        media_type=reply.media_type or None,
    )


def _digest(*parts: str) -> str:
    return hashlib.sha256("\x00".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
