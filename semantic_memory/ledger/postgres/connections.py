"""Connections to a PostgreSQL database, pooled, and the transactions on them.

No state is kept in a session, so that a pool between, like PgBouncer's of transactions, may serve
each transaction by another one: names are looked up in the schema that each transaction sets, and
no statement is prepared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from semantic_memory.domain.databases import check_database_url, database_name
from semantic_memory.domain.errors import ConfigurationError
from semantic_memory.domain.events import DatabaseUsed, Event
from semantic_memory.domain.patterns import regex
from semantic_memory.ledger.postgres.dialect import POSTGRES
from semantic_memory.ledger.postgres.driver import psycopg, psycopg_pool, translated
from semantic_memory.ledger.postgres.schema import migrate

DEFAULT_SCHEMA = "semantic_memory"
_NAMES_SCHEMA = "schema="
_SCHEMA = regex("[a-z_][a-z0-9_]{0,62}")
_MOST_CONNECTIONS = 10
_WAIT_SECONDS = 5.0
_WAIT_AGAIN_SECONDS = 0.5  # once one has waited in vain, until there is a connection again
_RECONNECT_SECONDS = 2.0  # of tries at growing intervals, before a new one begins at once
_LOCK_SECONDS = 15.0  # of waiting for what another process holds
# A process that is paused, or whose machine is gone, holds what it has locked no longer than this.
_IDLE_SECONDS = 60.0  # between two statements of a transaction
_IDLE_HOLDING_SECONDS = 300.0  # of an exclusive section, whose work is done on other connections
_ALIVE = {
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",
}
"""Has a server noticed whose machine is gone; what the URL says of this comes first."""
_READING = "ISOLATION LEVEL REPEATABLE READ READ ONLY"
# Durable once acknowledged, whatever the default of the server.
_WRITING = "ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit TO on"
_PASSING = "ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit TO off"


class Session:
    """A connection within a transaction, with the statements of `sql.part.Database`."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self.statements = 0
        """Number of statements executed."""

    def execute(self, query: str, values: Sequence[Any] = (), /) -> psycopg.Cursor[Any]:
        """Run a statement; values are bound to question marks."""
        self.statements += 1
        return self._connection.execute(marked(query), values, binary=True)

    def executemany(self, query: str, values: Iterable[Sequence[Any]], /) -> None:
        """Run a statement once for each row of values."""
        self.statements += 1
        with self._connection.cursor() as cursor:
            cursor.executemany(marked(query), values)

    def copied(self, table: str) -> Iterator[bytes | bytearray | memoryview]:
        """Yield all rows of a table in the binary format of COPY."""
        statement = f"COPY {table} TO STDOUT (FORMAT BINARY)".encode()
        with self._connection.cursor() as cursor, cursor.copy(statement) as copy:
            yield from copy


class Connections:
    """Two pools: one for reading and writing, one for the locks held meanwhile. Thread-safe."""

    dialect = POSTGRES

    def __init__(
        self,
        url: str,
        observe: Callable[[Event], None],
        prepare: Callable[[str, str, str], object] = migrate,
        most: int = _MOST_CONNECTIONS,
    ) -> None:
        """Open the database, `postgresql://host/database?schema=name`, and bring it up to date.

        `prepare` does that first, by the driver's URL, the schema, and the database's name. Each
        pool has at most so many connections.
        Raises ConfigurationError for another URL, StoreUnavailableError without a server.
        """
        conninfo, self.schema = split_url(url)
        self.name = database_name(conninfo)
        """The database, without user and password."""
        self.observe = observe
        """Called with the time that a lock was waited for."""
        self._away = False
        prepare(conninfo, self.schema, self.name)
        self._most = most
        self._pool = _pool(conninfo, most, self._note_away)
        # A thread that holds a lock needs a connection beside it, which none that waits may take.
        self._lock_pool = _pool(conninfo, most, self._note_away)
        try:
            with translated(self.name):
                self._pool.open()
                self._lock_pool.open()
        except BaseException:
            self.close()
            raise

    @contextmanager
    def snapshot(self) -> Iterator[Session]:
        """Lend a connection that sees one state of the database throughout."""
        with translated(self.name), self._begun(self._pool, _READING) as session:
            yield session

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        """Lend a writing connection; commit at the end, roll back if something is raised."""
        with translated(self.name), self.contending() as session:
            yield session

    @contextmanager
    def passing(self) -> Iterator[Session]:
        """Lend a writing connection for what may be lost with the server's power."""
        with translated(self.name), self._begun(self._pool, _PASSING) as session:
            yield session

    @contextmanager
    def contending(self) -> Iterator[Session]:
        """Lend a writing connection, and leave the driver's errors as they are."""
        with self._begun(self._pool, _WRITING) as session:
            yield session

    @contextmanager
    def locking(self) -> Iterator[Session]:
        """Lend a connection for the locks of a transaction that writes nothing."""
        with (
            translated(self.name),
            self._begun(self._lock_pool, _WRITING, _IDLE_HOLDING_SECONDS) as session,
        ):
            yield session

    @contextmanager
    def present(self) -> Iterator[Session]:
        """Lend a connection whose locks last until the end of the body, or of this process.

        It may be silent for any time: its transaction holds no rows, and vacuum passes it by.
        """
        with translated(self.name), self._begun(self._pool, _WRITING, idle_seconds=0.0) as session:
            yield session

    def close(self) -> None:
        """Close all connections, after the transactions under way."""
        self._pool.close()
        self._lock_pool.close()

    @contextmanager
    def _begun(
        self,
        pool: psycopg_pool.ConnectionPool[Any],
        level: str,
        idle_seconds: float = _IDLE_SECONDS,
    ) -> Iterator[Session]:
        start = time.perf_counter()
        connection = self._begin(pool, level, idle_seconds)
        try:
            session = Session(connection)
            yield session
            connection.execute("COMMIT")
            self.observe(DatabaseUsed(session.statements, time.perf_counter() - start))
        except BaseException:
            if not connection.broken and not connection.closed:
                connection.rollback()
            raise
        finally:
            pool.putconn(connection)

    def _begin(
        self, pool: psycopg_pool.ConnectionPool[Any], level: str, idle_seconds: float
    ) -> psycopg.Connection[Any]:
        """Return a connection with a transaction begun, passing over those that have broken."""
        begin = (
            f"BEGIN {level}; SET LOCAL search_path TO {self.schema};"
            f" SET LOCAL lock_timeout TO {_LOCK_SECONDS * 1_000:.0f};"
            f" SET LOCAL idle_in_transaction_session_timeout TO {idle_seconds * 1_000:.0f}"
        )
        for _ in range(self._most + 1):
            connection = self._lent(pool)
            try:
                connection.execute(begin.encode())
            except psycopg.OperationalError:
                broken = connection.broken
                pool.putconn(connection)
                if not broken:
                    raise
            except BaseException:
                pool.putconn(connection)
                raise
            else:
                return connection
        raise psycopg.OperationalError("every connection of the pool is broken")

    def _note_away(self, pool: psycopg_pool.ConnectionPool[Any]) -> None:
        """Note that a pool found no server."""
        del pool
        self._away = True

    def _lent(self, pool: psycopg_pool.ConnectionPool[Any]) -> psycopg.Connection[Any]:
        """Wait for a connection; not for long while the server is away."""
        try:
            lent: psycopg.Connection[Any] = pool.getconn(
                _WAIT_AGAIN_SECONDS if self._away else _WAIT_SECONDS
            )
        except psycopg_pool.PoolTimeout:
            self._away = True
            raise
        self._away = False
        return lent


def _pool(
    conninfo: str, most: int, failed: Callable[[psycopg_pool.ConnectionPool[Any]], None]
) -> psycopg_pool.ConnectionPool[Any]:
    form = psycopg.conninfo
    options: dict[str, Any] = {**_ALIVE, **form.conninfo_to_dict(conninfo)}
    return psycopg_pool.ConnectionPool(
        form.make_conninfo("", **options),
        min_size=0,
        max_size=most,
        timeout=_WAIT_SECONDS,
        open=False,
        reconnect_timeout=_RECONNECT_SECONDS,
        reconnect_failed=failed,
        kwargs={"autocommit": True, "prepare_threshold": None, "connect_timeout": 10},
    )


def split_url(url: str) -> tuple[str, str]:
    """Return the URL that the driver knows, and the schema. Raises ConfigurationError.

    >>> split_url("postgresql://db.example/memories?schema=agents&sslmode=require")
    ('postgresql://db.example/memories?sslmode=require', 'agents')
    """
    try:
        check_database_url(url)
    except ValueError as error:
        raise ConfigurationError(f"the URL of the PostgreSQL database {error}") from None
    # The rest stays as it is written: the driver decodes it by rules of its own.
    base, _, query = url.partition("?")
    options = query.split("&") if query else []
    named = [one for one in options if one.startswith(_NAMES_SCHEMA)]
    schema = unquote(named[-1].removeprefix(_NAMES_SCHEMA)) if named else DEFAULT_SCHEMA
    if not _SCHEMA.fullmatch(schema):
        raise ConfigurationError(
            f"the schema {schema!r} must be 1-63 lower-case letters, digits and _,"
            " and not begin with a digit"
        )
    others = "&".join(one for one in options if one not in named)
    return f"{base}?{others}" if others else base, schema


@lru_cache(maxsize=1_024)
def marked(query: str) -> bytes:
    """Return a statement with the driver's marks in place of question marks."""
    return query.replace("%", "%%").replace("?", "%s").encode()
