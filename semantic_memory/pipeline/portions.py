"""Read portions of session logs, and tell whether what was read still stands when it is committed.

Nothing is locked between reading and committing. A portion stands as long as its stage has gone no
further in that session and the log has been neither rewritten nor removed, so forgetting wins over
whatever was being made of the messages meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ingest.session_log import Record, SessionLog
from semantic_memory.concurrency import KeyedLocks
from semantic_memory.domain.changes import Cursor
from semantic_memory.domain.changes import Stage as Progress
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.ports import Ledger
from semantic_memory.pipeline.facts import behind


@dataclass(frozen=True, slots=True)
class Portion:
    """Consecutive records of a session that a stage hasn't done."""

    key: SessionKey
    start: Cursor
    generation: int
    """Of the log that was read."""
    records: Sequence[Record]

    @property
    def end(self) -> Cursor:
        """The cursor once the portion is done."""
        return behind(self.key, self.start.stage, self.records[-1])


class PortionReader:
    """Read the logs of sessions from their cursors on. Thread-safe."""

    def __init__(self, ledger: Ledger, log: SessionLog) -> None:
        self._ledger = ledger
        self._log = log
        self.locks: KeyedLocks[SessionKey] = KeyedLocks()
        """Lock of each session, held while its log is read or rewritten."""

    def read(
        self,
        key: SessionKey,
        stage: Progress,
        take: Callable[[Iterator[Record]], Sequence[Record]],
    ) -> Portion | None:
        """Return what `take` takes of the records that a stage hasn't done; None for nothing."""
        with self.locks.hold(key):
            start = self._ledger.cursor(*key, stage)
            generation = self._log.generation(*key)
            records = take(self._log.read(*key, after=start))
        return Portion(key, start, generation, records) if records else None

    def stands(self, portion: Portion) -> bool:
        """Tell whether a portion may be committed. Ask with the ledger held exclusively."""
        return (
            self._log.generation(*portion.key) == portion.generation
            and self._ledger.cursor(*portion.key, portion.start.stage) == portion.start
        )
