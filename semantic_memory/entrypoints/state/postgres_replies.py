"""Answers to repeat, in a table; encrypted if the store is.

Who begins a request takes a lease of its row, and renews it until the request has ended. A worker
holds a lock with its name besides, on a connection that ends with it, so that the row of one that
was killed can be taken at once; of one that is paused, when the lease is over. The transaction of
the request's changes marks the row, and fails if the row is another worker's by then.
"""

from __future__ import annotations

import hmac
import logging
import secrets
import threading
from collections.abc import Sequence
from contextlib import ExitStack, suppress

from semantic_memory.domain.errors import StoreError, StoreUnavailableError
from semantic_memory.domain.events import Event, MemoriesForgotten
from semantic_memory.domain.once import Mark
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.ports import Clock
from semantic_memory.domain.ports.encryption import Encryption
from semantic_memory.domain.sealing import sealed, unsealed
from semantic_memory.entrypoints.api.replies import (
    KEPT_SECONDS,
    PURGE_EVERY,
    WITHDRAWN,
    Reply,
    Turn,
)
from semantic_memory.ledger.postgres.connections import Connections, Session
from semantic_memory.ledger.postgres.driver import translated

LEASE_SECONDS = 15.0
"""For so long a request of a worker that is paused, or whose machine is gone, stays taken."""
_PRESENT = "here:"  # begins the names of workers that hold the lock of their name

_logger = logging.getLogger("semantic_memory.service")
_IDENTIFIER = regex(r'"([A-Za-z0-9_.@:+\-]{1,128})"')

# Rows are locked in the order of their names, wherever several are, so that nobody waits in a ring.
_BEGIN = """
    INSERT INTO replies AS r (name, worker, leased_until, at)
    VALUES (?, ?, clock_timestamp() + make_interval(secs => ?), ?)
    ON CONFLICT (name) DO UPDATE
    SET worker = excluded.worker, leased_until = excluded.leased_until, at = excluded.at,
        forgotten = '{}'
    WHERE r.worker IS NOT NULL AND (
        r.leased_until < clock_timestamp()
        OR starts_with(r.worker, ?) AND pg_try_advisory_xact_lock(hashtextextended(r.worker, 0))
    )
    RETURNING done
"""
_END = "DELETE FROM replies WHERE name = ? AND worker = ? AND NOT done"
_END_DONE = "UPDATE replies SET leased_until = '-infinity' WHERE name = ? AND worker = ?"
_MARK = "UPDATE replies SET done = TRUE WHERE name = ? AND worker = ?"
_PRESENCE = "SELECT pg_advisory_xact_lock(hashtextextended(?, 0))"
_FIND = """
    SELECT fingerprint, status, media_type, body FROM replies WHERE name = ? AND worker IS NULL
"""
_KEEP = """
    UPDATE replies SET worker = NULL, leased_until = NULL, fingerprint = ?, status = ?,
        media_type = ?, body = ?, names = ?::bytea[]
    WHERE name = ? AND worker = ?
"""
_WITHDRAW = f"""
    UPDATE replies SET status = {WITHDRAWN}, media_type = '', body = '', names = '{{}}'
    WHERE name IN (SELECT name FROM replies WHERE %s ORDER BY name FOR UPDATE)
"""  # noqa: S608 - of constants
_WITHDRAW_KEPT = _WITHDRAW % "names && ?::bytea[]"
_WITHDRAW_ONE = _WITHDRAW % "name = ? AND names && forgotten"
_NOTE_FORGOTTEN = """
    UPDATE replies SET forgotten = forgotten || ?::bytea[] WHERE name IN (
        SELECT name FROM replies WHERE worker IS NOT NULL ORDER BY name FOR UPDATE
    )
"""
_RENEW = """
    UPDATE replies SET leased_until = clock_timestamp() + make_interval(secs => ?)
    WHERE name IN (
        SELECT name FROM replies WHERE name = ANY(?) AND worker = ? ORDER BY name FOR UPDATE
    )
"""
_PURGE = """
    DELETE FROM replies WHERE name IN (
        SELECT name FROM replies
        WHERE at < ? AND (worker IS NULL OR leased_until < clock_timestamp())
        ORDER BY name FOR UPDATE SKIP LOCKED
    )
"""


class PostgresReplies:
    """`Replies` of any number of workers. Their leases go by the clock of the database."""

    def __init__(
        self,
        connections: Connections,
        clock: Clock,
        encryption: Encryption | None = None,
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        """Start the thread that renews leases; `close` ends it."""
        self._connections = connections
        self._clock = clock
        self._encryption = encryption
        self._secrets: Sequence[bytes] = encryption.database_keys if encryption else (b"",)
        self._lease_seconds = lease_seconds
        self._worker = _PRESENT + secrets.token_hex(8)
        self._lock = threading.Lock()
        self._under_way: set[str] = set()
        self._kept = 0
        self._purge()
        self._closed = threading.Event()
        self._presence = ExitStack()
        self._session: Session | None = None
        self._appear()
        self._renewer = threading.Thread(target=self._renew, name="leases of replies", daemon=True)
        self._renewer.start()

    def begin(self, name: str) -> Reply | Turn:
        """Return the earlier answer, or who works on the request."""
        with self._lock:
            if name in self._under_way:
                return Turn.TAKEN
            self._under_way.add(name)
        found: Reply | Turn = Turn.TAKEN
        try:
            found = self._begin(name)
        finally:
            if found not in (Turn.OURS, Turn.AGAIN):
                self._leave(name)
        return found

    def marking(self, name: str) -> Mark:
        """Return how the transaction that makes a request's changes marks it as done."""

        def mark(db: Session) -> None:
            if not db.execute(_MARK, (name, self._worker)).rowcount:
                raise StoreUnavailableError(
                    "this request was taken over by another worker, as this one was paused: send"
                    " it again"
                )

        return mark

    def keep(self, name: str, reply: Reply) -> None:
        """Remember an answer, and end its request; one whose lease was lost isn't kept."""
        names = [self._digest(self._secrets[0], one) for one in _identifiers(reply.body)]
        fingerprint, body = (
            sealed(one, self._encryption) for one in (reply.fingerprint.encode(), reply.body)
        )
        values = (fingerprint, reply.status, reply.media_type, body, names, name, self._worker)
        with self._connections.passing() as db:
            db.execute(_KEEP, values)
            db.execute(_WITHDRAW_ONE, (name,))
        with self._lock:
            self._under_way.discard(name)
            self._kept += 1
            due = self._kept % PURGE_EVERY == 0
        if due:
            self._purge()

    def end(self, name: str) -> None:
        """End a request without an answer."""
        if name not in self._under_way:
            return
        try:
            with self._connections.passing() as db:
                for statement in (_END, _END_DONE):
                    db.execute(statement, (name, self._worker))
        finally:
            self._leave(name)

    def withdraw(self, event: Event) -> None:
        """Erase the answers with memories of a user who has something forgotten, of all workers."""
        if not isinstance(event, MemoriesForgotten):
            return
        digests = [self._digest(secret, event.user_id) for secret in self._secrets]
        # Requests under way first: who keeps an answer in between is found among those kept.
        for statement in (_NOTE_FORGOTTEN, _WITHDRAW_KEPT):
            with self._connections.transaction() as db:
                db.execute(statement, (digests,))

    def close(self) -> None:
        """Renew leases no longer."""
        self._closed.set()
        self._renewer.join()
        self._vanish()

    def _begin(self, name: str) -> Reply | Turn:
        at = self._clock.now().timestamp()
        lease = (name, self._worker, self._lease_seconds, at, _PRESENT)
        with self._connections.passing() as db:
            if (ours := db.execute(_BEGIN, lease).fetchone()) is not None:
                return Turn.AGAIN if ours[0] else Turn.OURS
            row = db.execute(_FIND, (name,)).fetchone()
        if row is None:
            return Turn.TAKEN
        fingerprint, status, media_type, body = row
        return Reply(self._open(fingerprint).decode(), status, media_type, self._open(body))

    def _open(self, content: bytes) -> bytes:
        try:
            return unsealed(content, self._encryption)
        except ValueError as error:
            raise StoreError(f"a kept answer can't be read: {error}") from error

    def _digest(self, secret: bytes, name: str) -> bytes:
        return hmac.digest(secret, name.encode(), "sha256")[:16]

    def _leave(self, name: str) -> None:
        with self._lock:
            self._under_way.discard(name)

    def _purge(self) -> None:
        oldest = self._clock.now().timestamp() - KEPT_SECONDS
        with self._connections.passing() as db:
            db.execute(_PURGE, (oldest,))

    def _renew(self) -> None:
        while not self._closed.wait(self._lease_seconds / 3):
            with self._lock:
                names = sorted(self._under_way)
            try:
                self._appear()
                if names:
                    with self._connections.passing() as db:
                        db.execute(_RENEW, (self._lease_seconds, names, self._worker))
            except StoreUnavailableError as error:
                _logger.warning("the leases of requests under way can't be renewed: %s", error)
            except Exception:  # the thread's outermost loop: the next renewal may succeed
                _logger.exception("the leases of requests under way can't be renewed")

    def _appear(self) -> None:
        """Hold the lock of this worker's name, on a new connection if the old one has ended."""
        if self._session is not None:
            with suppress(StoreError), translated(self._connections.name):
                self._session.execute("SELECT 1")
                return
            self._vanish()  # the server has restarted
        session = self._presence.enter_context(self._connections.present())
        session.execute(_PRESENCE, (self._worker,))
        self._session = session

    def _vanish(self) -> None:
        self._session = None
        with suppress(StoreError):
            self._presence.close()


def _identifiers(body: bytes) -> set[str]:
    """Return what may be an identifier among the texts of JSON.

    >>> sorted(_identifiers(b'{"user_id":"maya","content":"Likes tea"}'))
    ['content', 'maya', 'user_id']
    """
    return set(_IDENTIFIER.findall(body.decode("utf-8", "replace")))
