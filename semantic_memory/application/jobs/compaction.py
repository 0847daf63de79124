"""Erases forgotten texts from the ledger's pages, the session logs and the index."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress

from semantic_memory.application.jobs.course import Course
from semantic_memory.consolidation.resolver import Outcome
from semantic_memory.domain.errors import StoreUnavailableError
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.ports import Ledger
from semantic_memory.pipeline.pipeline import Pipeline

_OWED = "purge owed"
"""Key in the ledger's meta while copies of texts may be left that are to be erased: `user NAME`."""
_USER = "user "
_ALL = "1"

Purge = Callable[[Collection[str] | None], None]
"""Deletes the copies of the texts of some users, or of all, that indexes keep."""


class Compactor:
    """Makes forgetting permanent. A tombstone keeps its id, time and reason, and no text."""

    def __init__(self, ledger: Ledger, pipeline: Pipeline, purge: Purge) -> None:
        self._ledger = ledger
        self._pipeline = pipeline
        self._purge = purge

    def resume(self) -> None:
        """Finish the erasure of an earlier process, which was killed.

        If the disk is full or can't be written, the next `compact` does.
        """
        with suppress(StoreUnavailableError):
            self._finish()

    def _finish(self) -> None:
        owed = self._ledger.meta(_OWED)
        if not owed:
            return
        user_id = owed.removeprefix(_USER) if owed.startswith(_USER) else None
        self._ledger.erase(user_id)
        self._purge(None if user_id is None else [user_id])
        self._ledger.set_meta(_OWED, "")

    def compact(self, user_id: str | None, course: Course) -> Iterator[Outcome]:
        """Erase, session by session, then the ledger's copies."""
        sessions = self._ledger.sessions_with_forgotten(user_id)
        for key in course.each([*sessions, None]):
            if key is None:
                yield self._copies(user_id, dry_run=course.dry_run)
            else:
                yield self._log(key, dry_run=course.dry_run)

    def _log(self, key: SessionKey, *, dry_run: bool) -> Outcome:
        outcome = Outcome()
        outcome.counts["logs"] += 1
        if dry_run:
            outcome.planned.append(f"rewrite the log of session {key.session_id}")
        else:
            outcome.counts["log bytes"] += self._pipeline.compact_session(key)
        return outcome

    def _copies(self, user_id: str | None, *, dry_run: bool) -> Outcome:
        outcome = Outcome()
        if dry_run:
            number = len(self._ledger.forgotten(user_id))
            if number:
                outcome.planned.append(f"erase the texts of {number:,} forgotten memories")
            outcome.counts["erased"] += number
            return outcome
        self._finish()
        # first: a kill leaves it to the next opening
        self._ledger.set_meta(_OWED, _ALL if user_id is None else f"{_USER}{user_id}")
        erased = self._ledger.erase(user_id)
        outcome.counts["erased"] += sum(erased.values())
        if erased:
            self._purge(erased.keys())
        self._ledger.set_meta(_OWED, "")
        return outcome
