"""The ledger on PostgreSQL: `apply` writes, everything else reads.

Several processes may write at once. Who changes what is a user's locks the user, so that a user's
changes are numbered in the order in which they are committed; between users there is no order.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from semantic_memory.domain.events import Event
from semantic_memory.domain.observers import ignore_event
from semantic_memory.domain.ports.log import LineFormat
from semantic_memory.ledger.postgres.administration import Administration
from semantic_memory.ledger.postgres.changes import ChangeWriter
from semantic_memory.ledger.postgres.connections import Connections
from semantic_memory.ledger.postgres.events import EventReader
from semantic_memory.ledger.postgres.feeds import Feeds
from semantic_memory.ledger.postgres.following import Follower
from semantic_memory.ledger.postgres.indexing import IndexFeed
from semantic_memory.ledger.postgres.listing import ListingReader
from semantic_memory.ledger.postgres.log import PostgresLog
from semantic_memory.ledger.postgres.numbering import Numbering
from semantic_memory.ledger.postgres.sessions import SessionReader
from semantic_memory.ledger.postgres.words import WordSearcher
from semantic_memory.ledger.sql.beliefs import BeliefReader
from semantic_memory.ledger.sql.facts import FactReader
from semantic_memory.ledger.sql.items import ItemReader
from semantic_memory.ledger.sql.lines import LineReader
from semantic_memory.ledger.sql.records import JobRecords


class PostgresLedger(
    EventReader,
    FactReader,
    ListingReader,
    BeliefReader,
    LineReader,
    Feeds,
    IndexFeed,
    WordSearcher,
    ItemReader,
    SessionReader,
    JobRecords,
    Administration,
    ChangeWriter,
):
    """The `Ledger` in one schema of a PostgreSQL database. Thread-safe, for many processes."""

    def __init__(self, url: str, observe: Callable[[Event], None] = ignore_event) -> None:
        """Open the database at `url`, `postgresql://user@host/database?schema=name`.

        The schema, `semantic_memory` by default, is created if necessary, and brought to this
        version of the package. Raises StoreUnavailableError if the server can't be reached.
        """
        connections = Connections(url, observe)
        with ExitStack() as opened:
            opened.callback(connections.close)
            super().__init__(connections)
            self._follower = Follower(self.last_event, self._bell.ring)
            self._numbering = Numbering(connections)
            self._bell.listen(self._numbering.wake)
            opened.pop_all()

    @property
    def connections(self) -> Connections:
        """The connections, for what else is kept in the schema."""
        return self._connections

    def session_log(self, form: LineFormat, emit: Callable[[Event], None]) -> PostgresLog:
        """Return the session logs of this database, with lines of this form.

        Raises ConfigurationError if they are encrypted and `form` has no key that fits.
        """
        return PostgresLog(self._connections, self._locks, form, emit)

    def on_commit(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake` after each transaction of changes, of other processes within a second."""
        self._follower.start()
        return super().on_commit(wake)

    def close(self) -> None:
        """Close every connection, after the transactions under way."""
        self._follower.close()
        self._numbering.close()
        self._connections.close()
        self._bell.ring()
