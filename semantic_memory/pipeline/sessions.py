"""Forget, rewrite and configure single sessions while stages work on them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from ingest.session_log import SessionLog
from semantic_memory.domain.changes import Advance, Cursor
from semantic_memory.domain.changes import Stage as Progress
from semantic_memory.domain.messages import SessionKey, SessionOptions
from semantic_memory.domain.ports import Ledger
from semantic_memory.pipeline.facts import forgotten
from semantic_memory.pipeline.portions import PortionReader
from semantic_memory.pipeline.session_options import read_options, reset_options, write_options
from semantic_memory.pipeline.stretches import StretchReader

_STAGES: tuple[Progress, ...] = ("stored", "extracted")


class Sessions:
    """Change single sessions. Thread-safe; waits for no model and for no other session.

    A stage that is working on a session meanwhile finds, when it commits, that the log or its
    cursor has changed, and commits nothing.
    """

    def __init__(
        self,
        ledger: Ledger,
        log: SessionLog,
        reader: PortionReader,
        stretches: StretchReader,
        store: Callable[[SessionKey], None],
    ) -> None:
        """Have the messages of a session stored by `store`."""
        self._ledger = ledger
        self._log = log
        self._reader = reader
        self._stretches = stretches
        self._store = store

    def forget(self, key: SessionKey) -> None:
        """Delete a session's log and options; its memories are left to be forgotten."""
        self._store(key)  # so that every message has a memory, which becomes its tombstone
        with self._reader.locks.hold(key):
            self._log.remove(*key)
            with self._ledger.exclusive():
                self._ledger.apply([Advance(Cursor(*key, stage)) for stage in _STAGES])
                reset_options(self._ledger, key)

    def options(self, key: SessionKey) -> SessionOptions:
        """Return the options of a session."""
        return read_options(self._ledger, key)

    def configure(self, key: SessionKey, options: SessionOptions) -> None:
        """Set the options of a session; messages observed while extraction was off stay unread."""
        if not self.options(key).extract:
            self._stretches.pass_over(key)
        with self._ledger.exclusive():
            write_options(self._ledger, key, options)

    def compact(self, key: SessionKey) -> int:
        """Rewrite a session's log without its forgotten messages; returns the bytes freed."""
        self._store(key)
        ids = [record.message.id for record in self._log.read(*key)]
        return self.rewrite(key, forgotten(self._ledger, key, ids))

    def rewrite(self, key: SessionKey, gone: Collection[str]) -> int:
        """Rewrite a session's log without the texts of some messages; returns the bytes freed."""
        with self._reader.locks.hold(key):
            if not gone or not self._log.size(*key):
                return 0
            freed, offsets = self._log.compact(*key, gone)
            with self._ledger.exclusive():
                cursors = [self._ledger.cursor(*key, stage) for stage in _STAGES]
                self._ledger.apply(
                    [Advance(replace(one, offset=offsets[one.position])) for one in cursors]
                )
        return freed
