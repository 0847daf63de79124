"""The base of the ledger's parts."""

from __future__ import annotations

from collections.abc import Sequence
from sqlite3 import Connection
from typing import Any

from semantic_memory.ledger.sqlite.connections import Connections

CHANGES = (
    "SELECT coalesce(sum(revision), 0)"
    " + (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'changes apart') FROM users"
)
"""Selects the number of changes of facts so far, of all users."""


class Part:
    """A part of the ledger: reads in snapshots and writes in transactions of one database."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def _number(self, query: str, values: Sequence[Any] = ()) -> int:
        with self._connections.snapshot() as db:
            return int(db.execute(query, values).fetchone()[0])


def set_meta(db: Connection, key: str, value: str) -> None:
    """Keep a small value, in a transaction."""
    db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (key, value))
