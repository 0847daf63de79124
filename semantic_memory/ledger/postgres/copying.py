"""The rows of a ledger on PostgreSQL, as they are copied."""

from __future__ import annotations

from semantic_memory.ledger.postgres.connections import Connections
from semantic_memory.ledger.postgres.numbering import number_events
from semantic_memory.ledger.postgres.texts import Texts
from semantic_memory.ledger.sql.copying import Rows
from semantic_memory.ledger.sql.part import Database

_NUMBERED = ("facts", "lines", "prompts", "items", "runs")


class PostgresRows(Rows):
    """The rows of a ledger on PostgreSQL."""

    connections: Connections
    overriding = "OVERRIDING SYSTEM VALUE"

    def __init__(self, connections: Connections) -> None:
        super().__init__(Texts())
        self.connections = connections

    def settle(self) -> None:
        """Number all events."""
        number_events(self.connections, None)

    def continue_numbers(self, db: Database) -> None:
        """Set the sequences behind the highest numbers."""
        for table in _NUMBERED:
            db.execute(
                f"SELECT setval(pg_get_serial_sequence('{table}', 'num'), coalesce(max(num), 1),"
                f" max(num) IS NOT NULL) FROM {table}"
            )

    def begin_user(self, db: Database, user_id: str) -> None:
        """Insert the row of a user's counters."""
        db.execute("INSERT INTO users (user_id) VALUES (?)", (user_id,))
