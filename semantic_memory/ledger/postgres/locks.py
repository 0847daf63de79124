"""Locks of users: one writer of a user at a time, in this process and among all."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager

from semantic_memory.concurrency import KeyedLocks
from semantic_memory.ledger.postgres.connections import Connections, Session
from semantic_memory.ledger.postgres.schema import lock_key

_LOCK = "SELECT count(pg_advisory_xact_lock(key)) FROM unnest(?::bigint[]) key"


class UserLocks:
    """Locks users, in their order, for a thread that may hold some of them already.

    A thread first waits for the others of this process, without a connection, then for other
    processes.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._near: KeyedLocks[str] = KeyedLocks("ledger", connections.observe)
        self._held = threading.local()

    @contextmanager
    def hold(self, user_ids: Collection[str]) -> Iterator[None]:
        """Hold the locks of users beside other transactions. Reentrant."""
        with self.near(user_ids):
            others = self._others(user_ids)
            if not others:
                yield
                return
            before = self._holders()
            with self._connections.locking() as session:
                self._lock(session, others)
                self._held.users = {**before, **dict.fromkeys(others, session)}
                try:
                    yield
                finally:
                    self._held.users = before

    @contextmanager
    def near(self, user_ids: Collection[str]) -> Iterator[None]:
        """Keep the other threads of this process out."""
        with ExitStack() as stack:
            for user_id in sorted(user_ids):
                stack.enter_context(self._near.hold(user_id))
            yield

    def take(self, session: Session, user_ids: Collection[str]) -> None:
        """Lock users until the end of a transaction, but for those that this thread holds."""
        if others := self._others(user_ids):
            self._lock(session, others)

    def check(self, user_ids: Collection[str]) -> None:
        """Raise the driver's error if a lock that this thread holds has been lost."""
        holders = self._holders()
        for session in {holders[user_id] for user_id in user_ids if user_id in holders}:
            session.execute("SELECT 1")

    def _lock(self, session: Session, user_ids: Collection[str]) -> None:
        keys = [lock_key("user", self._connections.schema, one) for one in sorted(user_ids)]
        session.execute(_LOCK, (keys,))

    def _others(self, user_ids: Collection[str]) -> set[str]:
        return set(user_ids) - self._holders().keys()

    def _holders(self) -> dict[str, Session]:
        held: dict[str, Session] = getattr(self._held, "users", {})
        return held
