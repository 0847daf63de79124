"""Committing changes, and following them by revision."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress

from semantic_memory.concurrency import Bell
from semantic_memory.domain.changes import Change
from semantic_memory.domain.errors import StoreError, StoreUnavailableError
from semantic_memory.ledger.sql.batch import Batch
from semantic_memory.ledger.sql.part import REVISION
from semantic_memory.ledger.sqlite.connections import Connections
from semantic_memory.ledger.sqlite.dialect import SQLITE
from semantic_memory.ledger.sqlite.part import Part
from semantic_memory.ledger.sqlite.words import Texts

# Before the second and the third try. stamina would log each try through the application's logging.
_PAUSES_SECONDS = (0.02, 0.04)
_TEXTS = Texts()


class ChangeWriter(Part):
    """The role `ChangeLog`. Revisions are kept in RAM, as searches ask for them all the time."""

    def __init__(self, connections: Connections) -> None:
        super().__init__(connections)
        self._changes = self._number(SQLITE.changes)
        self._revisions: dict[str, int] = {}
        self._bell = Bell()

    def exclusive(self, *user_ids: str) -> AbstractContextManager[None]:
        """Keep other writers out, of all users: the database has one writer. Reentrant."""
        del user_ids
        return self._connections.exclusive()

    def apply(self, changes: Sequence[Change]) -> int:
        """Commit all of `changes`, durably, or none; return how many had an effect.

        Tries three times if the disk refuses.
        """
        if not changes:
            return 0
        for pause in _PAUSES_SECONDS:
            with suppress(StoreUnavailableError):
                return self._apply(changes)
            time.sleep(pause)
        return self._apply(changes)

    def _apply(self, changes: Sequence[Change]) -> int:
        batch = Batch(SQLITE, _TEXTS)
        with self._connections.exclusive():
            try:
                with self._connections.transaction() as db:
                    effects = sum(batch.write(db, change) for change in changes)
            except StoreError:
                self._revisions.clear()  # a commit that the disk refused may stand nevertheless
                raise
            if batch.changes:
                self._changes += batch.changes
                self._connections.mark.note(self._changes)
            self._revisions.update(batch.revisions)
        self._bell.ring()
        return effects

    def on_commit(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake` after each transaction of changes, and at the end."""
        return self._bell.listen(wake)

    def revision(self, user_id: str) -> int:
        """Return the number of the user's latest change; 0 before any."""
        known = self._revisions.get(user_id)
        if known is None:
            with self._connections.exclusive():
                known = self._number(REVISION, (user_id,))
                if known:  # anybody can make up user ids: these must not fill the memory
                    self._revisions[user_id] = known
        return known
