"""Erases forgotten texts from the ledger's pages, the session logs and the index."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from semantic_memory.consolidation.resolver import Outcome
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.ports import Ledger
from semantic_memory.pipeline.pipeline import Pipeline

_OWED = "purge owed"
"""Key in the ledger's meta while copies of texts may be left that the ledger has erased."""


class Compactor:
    """Makes forgetting permanent. A tombstone keeps its id, time and reason, and no text."""

    def __init__(self, ledger: Ledger, pipeline: Pipeline, purge: Callable[[], None]) -> None:
        """Have `purge` delete the copies of texts that an index keeps."""
        self._ledger = ledger
        self._pipeline = pipeline
        self._purge = purge

    def resume(self) -> None:
        """Delete the copies that an earlier process left, which was killed."""
        if self._ledger.meta(_OWED):
            self._purge()
            self._ledger.set_meta(_OWED, "")

    def compact(self, user_id: str | None, *, dry_run: bool) -> Iterator[Outcome]:
        """Erase, session by session, then the ledger's copies."""
        for key in self._ledger.sessions_with_forgotten(user_id):
            outcome = Outcome()
            if dry_run:
                outcome.planned.append(f"rewrite the log of session {key.session_id}")
                outcome.counts["logs"] += 1
            else:
                outcome.counts["log bytes"] += self._pipeline.compact_session(SessionKey(*key))
                outcome.counts["logs"] += 1
            yield outcome
        outcome = Outcome()
        if dry_run:
            number = len(self._ledger.forgotten(user_id))
            if number:
                outcome.planned.append(f"erase the texts of {number:,} forgotten memories")
            outcome.counts["erased"] += number
        else:
            self.resume()
            self._ledger.set_meta(_OWED, "1")  # first: a kill leaves it to the next opening
            erased = self._ledger.erase(user_id)
            outcome.counts["erased"] += erased
            if erased:
                self._purge()
            self._ledger.set_meta(_OWED, "")
        yield outcome
