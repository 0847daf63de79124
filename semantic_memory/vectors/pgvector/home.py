"""The place of an index in a PostgreSQL database: a table for each filling, in one schema."""

from __future__ import annotations

from semantic_memory.domain.errors import IndexUnavailableError
from semantic_memory.domain.observers import ignore_event
from semantic_memory.ledger.postgres.connections import Connections, split_url
from semantic_memory.ledger.postgres.driver import psycopg
from semantic_memory.ledger.postgres.driver import translated as reaching
from semantic_memory.ledger.postgres.schema import lock_key
from semantic_memory.vectors.pgvector.index import PgvectorIndex, translated

_EXTENSION = """
    SELECT n.nspname, string_to_array(e.extversion, '.')::int[] >= '{0,8}'
    FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'
"""
_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = ? AND tablename ~ '^index_[0-9a-f]+$'"


class PgvectorDatabase:
    """An `IndexHome` in a schema of a database, without texts."""

    name = "pgvector"

    def __init__(self, url: str) -> None:
        """Use `url`, `postgresql://user@host/database?schema=name`; connect at the first opening.

        Raises ConfigurationError for another URL.
        """
        split_url(url)
        self._url = url
        self._connections: Connections | None = None
        self._extension = ""

    def damage(self, generation: str) -> None:
        """Return None: damage shows only in use."""

    def open(self, generation: str) -> PgvectorIndex:
        """Open the table of a generation, over new connections."""
        self.close()
        connections = self._connected()
        return PgvectorIndex(connections, f"index_{generation}", self._extension)

    def position(self) -> None:
        """Return None: a database is copied as a whole."""

    def note(self, changes: int) -> None:
        """Do nothing: there is no place for a note."""

    def set_aside(self) -> None:
        """Keep nothing: the table is deleted before a new one is filled."""

    def empty(self) -> None:
        """Delete the tables of all generations."""
        self.close()
        connections = self._connected()
        with translated(), connections.transaction() as db:
            for (table,) in db.execute(_TABLES, (connections.schema,)).fetchall():
                db.execute(f"DROP TABLE IF EXISTS {table}")

    def close(self) -> None:
        """Close the connections."""
        connections, self._connections = self._connections, None
        if connections is not None:
            connections.close()

    def _connected(self) -> Connections:
        if self._connections is None:
            with translated():
                self._connections = Connections(self._url, ignore_event, self._prepare)
        return self._connections

    def _prepare(self, conninfo: str, schema: str, name: str) -> None:
        """Create extension and schema if necessary, and learn where the types are."""
        with (
            reaching(name),
            psycopg.connect(conninfo, prepare_threshold=None, connect_timeout=10) as connection,
        ):
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (lock_key("pgvector"),))
            if connection.execute("SELECT to_regnamespace(%s)", (schema,)).fetchone() == (None,):
                connection.execute(f"CREATE SCHEMA {schema}".encode())
            found = connection.execute(_EXTENSION).fetchone()
            if found is None:
                _create_extension(connection, name)
                found = connection.execute(_EXTENSION).fetchone()
        if found is None or not found[1]:
            raise IndexUnavailableError(
                f"pgvector at {name} is older than 0.8: upgrade it on the server, and run"
                " ALTER EXTENSION vector UPDATE in the database"
            )
        self._extension = found[0]


def _create_extension(connection: psycopg.Connection[tuple[object, ...]], name: str) -> None:
    try:
        connection.execute("CREATE EXTENSION vector")
    except psycopg.errors.InsufficientPrivilege as error:
        raise IndexUnavailableError(
            f"pgvector at {name} isn't enabled, and the role may not: let an administrator run"
            " CREATE EXTENSION vector in the database"
        ) from error
    except (psycopg.errors.UndefinedFile, psycopg.errors.FeatureNotSupported) as error:
        raise IndexUnavailableError(
            f"pgvector isn't installed at {name}: install it on the server, 0.8 or newer"
            " (the package postgresql-NN-pgvector, NN being its version of PostgreSQL)"
        ) from error
