"""The base of the parts that run on any SQL database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from semantic_memory.ledger.sql.dialect import Dialect

REVISION = "SELECT coalesce(max(revision), 0) FROM users WHERE user_id = ?"
"""Selects the number of a user's latest change; 0 before any."""


class Found(Protocol):
    """The rows that a statement found, and how many it changed."""

    @property
    def rowcount(self) -> int:
        """Number of rows changed."""
        ...

    def fetchone(self) -> Any:
        """Return the next row; None behind the last."""
        ...

    def fetchmany(self, size: int = ..., /) -> list[Any]:
        """Return the next `size` rows."""
        ...

    def fetchall(self) -> list[Any]:
        """Return the rows that are left."""
        ...

    def __iter__(self) -> Iterator[Any]: ...


class Database(Protocol):
    """A connection; values are bound to question marks, as in SQLite."""

    def execute(self, query: str, values: Sequence[Any] = ..., /) -> Found:
        """Run a statement."""
        ...

    def executemany(self, query: str, values: Iterable[Sequence[Any]], /) -> object:
        """Run a statement once for each row of values."""
        ...


class Connections(Protocol):
    """Lends connections."""

    @property
    def dialect(self) -> Dialect:
        """The terms of the database."""
        ...

    def snapshot(self) -> AbstractContextManager[Database]:
        """Lend a connection that sees one state of the database throughout."""
        ...

    def transaction(self) -> AbstractContextManager[Database]:
        """Lend a writing connection; commit at the end, roll back if something is raised."""
        ...


def set_meta(db: Database, key: str, value: str) -> None:
    """Keep a small value, in a transaction."""
    db.execute(
        "INSERT INTO meta (key, value) VALUES (?, ?)"
        " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (key, value),
    )


class Part:
    """A part of the ledger: reads in snapshots and writes in transactions of one database."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def _number(self, query: str, values: Sequence[Any] = ()) -> int:
        with self._connections.snapshot() as db:
            return int(db.execute(query, values).fetchone()[0])
