"""The ledger on SQLite: `apply` writes, everything else reads.

Every change takes the next revision number, and a reader asks for the changes after a revision. So
the vector index and the partitions in RAM follow the ledger by one number each; no outbox table is
needed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from semantic_memory.domain.events import Event
from semantic_memory.domain.observers import ignore_event
from semantic_memory.ledger.sqlite.administration import Administration
from semantic_memory.ledger.sqlite.beliefs import BeliefReader
from semantic_memory.ledger.sqlite.changes import ChangeWriter
from semantic_memory.ledger.sqlite.connections import Connections
from semantic_memory.ledger.sqlite.facts import FactReader
from semantic_memory.ledger.sqlite.feeds import Feeds
from semantic_memory.ledger.sqlite.lines import LineReader
from semantic_memory.ledger.sqlite.listing import ListingReader
from semantic_memory.ledger.sqlite.records import JobRecords, SessionReader
from semantic_memory.ledger.sqlite.words import WordSearcher


class SqliteLedger(
    FactReader,
    ListingReader,
    BeliefReader,
    LineReader,
    ChangeWriter,
    Feeds,
    WordSearcher,
    SessionReader,
    JobRecords,
    Administration,
):
    """The `Ledger` on one SQLite file, composed of its parts. Thread-safe, for one process."""

    def __init__(self, path: Path, observe: Callable[[Event], None] = ignore_event) -> None:
        super().__init__(Connections(path, observe))

    def close(self) -> None:
        """Close every connection, after the transaction under way."""
        self._connections.close()
