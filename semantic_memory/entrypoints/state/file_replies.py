"""Answers to repeat, in a file; it is encrypted if the store is."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from semantic_memory.disk import SystemDisk
from semantic_memory.domain.errors import StoreUnavailableError
from semantic_memory.domain.events import Event, MemoriesForgotten
from semantic_memory.domain.ports import Clock
from semantic_memory.entrypoints.api.replies import (
    KEPT_SECONDS,
    PURGE_EVERY,
    WITHDRAWN,
    Reply,
    Turn,
)
from semantic_memory.ledger.sqlite.database import Database


class FileReplies:
    """`Replies` of one process, in a file."""

    def __init__(self, file: Path, clock: Clock, keys: Sequence[bytes] = ()) -> None:
        """Open the file, creating it if necessary, encrypted if there are `keys`."""
        self._clock = clock
        self._lock = threading.Lock()
        self._under_way: dict[str, set[bytes]] = {}
        """For each request, who had something forgotten since it began."""
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

    def begin(self, name: str) -> Reply | Turn:
        """Return the earlier answer, or who works on the request."""
        with self._using() as connection:
            if name in self._under_way:
                return Turn.TAKEN
            row = connection.execute(
                "SELECT fingerprint, status, media_type, body FROM replies WHERE name = ?", (name,)
            ).fetchone()
            if row is None:
                self._under_way[name] = set()
                return Turn.OURS
            return Reply(*row)

    def marking(self, name: str) -> None:
        """Return None: the file is of one process, with which its requests under way end."""

    def keep(self, name: str, reply: Reply) -> None:
        """Remember an answer, and end its request."""
        with self._using() as connection:
            if any(held in reply.body for held in self._under_way.get(name, ())):
                reply = Reply(reply.fingerprint, WITHDRAWN, "", b"")
            connection.execute(
                "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?)",
                (name, *reply, self._clock.now().timestamp()),
            )
            self._under_way.pop(name, None)
            self._kept += 1
        if self._kept % PURGE_EVERY == 0:
            self._purge()

    def end(self, name: str) -> None:
        """End a request without an answer."""
        with self._lock:
            self._under_way.pop(name, None)

    def withdraw(self, event: Event) -> None:
        """Erase the answers with memories of a user who has something forgotten."""
        if not isinstance(event, MemoriesForgotten):
            return
        held = json.dumps(event.user_id, ensure_ascii=False).encode()
        with self._using() as connection:
            for forgotten in self._under_way.values():
                forgotten.add(held)
            connection.execute(
                "UPDATE replies SET status = ?, media_type = '', body = x''"
                " WHERE instr(body, ?) > 0",
                (WITHDRAWN, held),
            )
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def _purge(self) -> None:
        with self._using() as connection:
            oldest = self._clock.now().timestamp() - KEPT_SECONDS
            connection.execute("DELETE FROM replies WHERE at < ?", (oldest,))

    @contextmanager
    def _using(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._connection
            except self._database.error as error:
                raise StoreUnavailableError(f"can't keep idempotency keys: {error}") from error
