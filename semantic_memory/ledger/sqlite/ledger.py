"""The ledger on SQLite: `apply` writes, everything else reads.

Every change of a fact takes its user's next revision, and a reader asks for a user's changes after
a revision: so the partitions in RAM and listings follow the ledger by one number each. A vector
index holds all users: the memories that it lacks are marked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from semantic_memory.disk import SystemDisk
from semantic_memory.domain.errors import LedgerBehindError
from semantic_memory.domain.events import Event
from semantic_memory.domain.observers import ignore_event
from semantic_memory.domain.ports.disk import Disk
from semantic_memory.ledger.remedies import HOW_TO_RECOVER
from semantic_memory.ledger.sql.beliefs import BeliefReader
from semantic_memory.ledger.sql.events import EventReader
from semantic_memory.ledger.sql.feeds import Feeds
from semantic_memory.ledger.sql.indexing import IndexFeed
from semantic_memory.ledger.sql.items import ItemReader
from semantic_memory.ledger.sql.lines import LineReader
from semantic_memory.ledger.sql.listing import ListingReader
from semantic_memory.ledger.sql.records import JobRecords, SessionReader
from semantic_memory.ledger.sqlite.administration import Administration
from semantic_memory.ledger.sqlite.changes import ChangeWriter
from semantic_memory.ledger.sqlite.connections import Connections
from semantic_memory.ledger.sqlite.facts import FactReader
from semantic_memory.ledger.sqlite.words import WordSearcher

_DISK = SystemDisk()


class SqliteLedger(
    FactReader,
    ListingReader,
    BeliefReader,
    LineReader,
    ChangeWriter,
    EventReader,
    Feeds,
    IndexFeed,
    WordSearcher,
    ItemReader,
    SessionReader,
    JobRecords,
    Administration,
):
    """The `Ledger` on one SQLite file, composed of its parts. Thread-safe, for one process."""

    def __init__(
        self,
        path: Path,
        observe: Callable[[Event], None] = ignore_event,
        *,
        reached: int = 0,
        recovering: bool = False,
        disk: Disk = _DISK,
        keys: Sequence[bytes] = (),
        reading: str = "",
    ) -> None:
        """Open the database at `path`, creating it if necessary, encrypted if there are `keys`.

        `reading` says why nothing may be written, as every change is told then.
        Raises LedgerBehindError, unless `recovering`, if it has been further: by its watermark, or
        by the number of changes that an index has `reached`.
        """
        connections = Connections(path, observe, disk, keys, reading)
        with ExitStack() as opened:
            opened.callback(connections.close)
            super().__init__(connections)
            self._check_mark(path, reached, recovering=recovering)
            opened.pop_all()

    def _check_mark(self, path: Path, reached: int, *, recovering: bool) -> None:
        mark = self._connections.mark
        if recovering:
            mark.hold()  # until all of it is done: a recovery cut off half way starts again
            return
        noted, changes = max(mark.read(), reached), self._changes
        if noted > changes:
            raise LedgerBehindError(
                f"the ledger {path} has {changes:,} changes, but had {noted:,}: the end of it is"
                f" lost, or an older copy was put in its place; {HOW_TO_RECOVER}"
            )
        mark.release(changes)

    @property
    def connections(self) -> Connections:
        """The connections, to copy what is in the file."""
        return self._connections

    def accept(self) -> None:
        """Take the present state for the latest from now on, after a recovery."""
        self._connections.mark.release(self._changes)

    def close(self) -> None:
        """Close every connection, after the transaction under way."""
        self._connections.close()
        self._bell.ring()
