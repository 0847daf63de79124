"""The rows of a ledger on SQLite, as they are copied."""

from __future__ import annotations

from semantic_memory.ledger.sql.copying import Rows
from semantic_memory.ledger.sql.part import Database
from semantic_memory.ledger.sqlite.connections import Connections
from semantic_memory.ledger.sqlite.words import Texts


class SqliteRows(Rows):
    """The rows of a ledger on SQLite."""

    def __init__(self, connections: Connections) -> None:
        super().__init__(Texts())
        self.connections = connections

    def settle(self) -> None:
        """Do nothing: everything has its number."""

    def continue_numbers(self, db: Database) -> None:
        """Do nothing: numbers continue the highest."""

    def begin_user(self, db: Database, user_id: str) -> None:
        """Insert the row of a user's counters."""
        db.execute("INSERT INTO users VALUES (?, 0, 0)", (user_id,))
