"""Committing changes, and following them by revision."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress

from semantic_memory.concurrency import Bell
from semantic_memory.domain.changes import (
    Add,
    Advance,
    Change,
    Cut,
    Embed,
    EmbedItem,
    Forget,
    Keyed,
    PutItem,
    RefreshItems,
    Retire,
    Touch,
    Update,
    Weigh,
    Write,
)
from semantic_memory.domain.once import mark_done
from semantic_memory.ledger.postgres.connections import Connections, Session
from semantic_memory.ledger.postgres.dialect import POSTGRES
from semantic_memory.ledger.postgres.driver import CONTENDED, translated
from semantic_memory.ledger.postgres.locks import UserLocks
from semantic_memory.ledger.postgres.part import Part
from semantic_memory.ledger.postgres.texts import Texts
from semantic_memory.ledger.sql.batch import Batch
from semantic_memory.ledger.sql.part import REVISION

# Before the next tries of a transaction that met another one
_PAUSES_SECONDS = (0.01, 0.03, 0.1)
_TEXTS = Texts()


class ChangeWriter(Part):
    """The role `ChangeLog`, for any number of processes."""

    def __init__(self, connections: Connections) -> None:
        super().__init__(connections)
        self._locks = UserLocks(connections)
        self._bell = Bell()

    def exclusive(self, *user_ids: str) -> AbstractContextManager[None]:
        """Keep others, of all processes, from changing what is these users'. Reentrant."""
        return self._locks.hold(user_ids)

    def apply(self, changes: Sequence[Change]) -> int:
        """Commit all of `changes`, durably, or none; return how many had an effect.

        A transaction that met another one is run again, up to three times.
        """
        if not changes:
            return 0
        with translated(self._connections.name):
            users = self._users(changes)
            with self._locks.near(users):
                effects = self._retried(changes, users)
        self._bell.ring()
        return effects

    def _retried(self, changes: Sequence[Change], users: set[str]) -> int:
        for pause in _PAUSES_SECONDS:
            with suppress(*CONTENDED):
                return self._apply(changes, users)
            time.sleep(pause)
        return self._apply(changes, users)

    def _apply(self, changes: Sequence[Change], users: set[str]) -> int:
        with self._connections.contending() as db:
            self._locks.take(db, users)
            batch = Batch(POSTGRES, _TEXTS, _locked(db, sorted(users)))
            effects = sum(batch.write(db, change) for change in changes)
            mark_done(db)  # last: its row is locked no longer than the commit takes
            self._locks.check(users)
        return effects

    def _users(self, changes: Sequence[Change]) -> set[str]:
        """Return the users whom changes concern; a fact that isn't there yet concerns none."""
        named = {user_id for change in changes if (user_id := _user(change)) is not None}
        facts = [fact_id for change in changes if (fact_id := _fact(change)) is not None]
        lines = [change.line_id for change in changes if isinstance(change, Retire)]
        if not facts and not lines:
            return named
        with self._connections.snapshot() as db:
            found = db.execute(
                "SELECT user_id FROM facts WHERE id = ANY(?)"
                " UNION SELECT user_id FROM lines WHERE id = ANY(?)",
                (facts, lines),
            )
            return named | {user_id for (user_id,) in found}

    def on_commit(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake` after each transaction of changes of this process, and at the end."""
        return self._bell.listen(wake)

    def revision(self, user_id: str) -> int:
        """Return the number of the user's latest change; 0 before any."""
        return self._number(REVISION, (user_id,))


def _locked(db: Session, users: Sequence[str]) -> dict[str, int]:
    """Lock the rows of users, creating them if necessary; return their revisions."""
    query = "SELECT user_id, revision FROM users WHERE user_id = ANY(?) ORDER BY user_id FOR UPDATE"
    revisions: dict[str, int] = dict(db.execute(query, (users,)).fetchall())
    if len(revisions) == len(users):
        return revisions
    db.executemany(
        "INSERT INTO users (user_id) VALUES (?) ON CONFLICT DO NOTHING", [(one,) for one in users]
    )
    return dict(db.execute(query, (users,)).fetchall())


def _user(change: Change) -> str | None:
    match change:
        case Add(fact) | Update(fact):
            return fact.user_id
        case Write(line):
            return line.user_id
        case Advance(cursor):
            return cursor.user_id
        case PutItem(item):
            return item.user_id
        case EmbedItem() | RefreshItems() | Retire():
            return None
        case Touch() | Forget() | Cut() | Embed() | Keyed() | Weigh():
            return None
        case _:
            return change.user_id


def _fact(change: Change) -> str | None:
    match change:
        case Touch() | Forget() | Cut() | Embed() | Keyed() | Weigh():
            return change.fact_id
        case _:
            return None
