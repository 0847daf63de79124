"""Committing changes to the ledger, and following them by revision."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from semantic_memory.domain.changes import Change


class ChangeLog(Protocol):
    """Commits changes in transactions, and numbers those of facts.

    Every change of a fact takes the next revision of its user.
    """

    def revision(self, user_id: str) -> int:
        """Return the number of the user's latest change; 0 before any."""
        ...

    def changed(self, user_id: str, since: int, limit: int) -> set[str]:
        """Return the ids of at most `limit` of the user's facts that changed after `since`.

        Forgotten facts are among them, verbatim messages aren't.
        """
        ...

    def apply(self, changes: Sequence[Change]) -> int:
        """Commit all of `changes`, durably, or none; return how many had an effect.

        Changes of a user's facts get ascending revisions and become visible in that order: a reader
        that has seen revision n of a user has seen all before it. Between users there is no order.
        Raises NotFoundError for an update or a forget of an unknown or forgotten id,
        ConcurrentUpdateError for an update of another version.
        """
        ...

    def exclusive(self, *user_ids: str) -> AbstractContextManager[None]:
        """Keep others from changing what is these users', so that changes can depend on reads.

        Reentrant for the same users. An embedded ledger keeps out all other writers.
        """
        ...
