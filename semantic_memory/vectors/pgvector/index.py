"""Vector index in a table of PostgreSQL.

A memory has a row for each window of its text, with the columns of the ledger's `facts` that
conditions read, so that these are the ledger's own terms. A user's rows are found by the user and
compared exactly, until `own` gives the user an HNSW index of these rows alone: one index over many
users hardly finds the memories of a small one. It orders by half precision; cosines are of the
whole vectors.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.errors import (
    IndexBrokenError,
    IndexUnavailableError,
    StoreClosedError,
    StoreError,
    StoreUnavailableError,
)
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.ports import IndexEntry, Match
from semantic_memory.ledger.postgres.connections import Connections, Session
from semantic_memory.ledger.sql.rows import micros

_COLUMNS = (
    "user_id",
    "id",
    "piece",
    "category",
    "status",
    "session_id",
    "agent_id",
    "run_id",
    "tags",
    "confidence",
    "importance",
    "created_at",
    "confirmed_at",
    "expires_at",
    "valid_from",
    "valid_to",
    "embedding",
)
_KEY = _COLUMNS[:3]
_TEXT = 'TEXT COLLATE "C"'
_OVERFETCH = 4  # pieces for a memory: of long ones, and for the order by half precision
_MOST_DIMENSIONS = 4_000  # of an HNSW index by half precision
# In the relaxed order, fewer are lost to a filter; what is found is ranked again by whole vectors.
_SET = """
    SELECT set_config('search_path', ?, TRUE), set_config('hnsw.ef_search', '200', TRUE),
        set_config('hnsw.iterative_scan', 'relaxed_order', TRUE)
"""


class PgvectorIndex:
    """`VectorIndex` in one table. Thread-safe, for many processes, of which one writes."""

    copies = False

    def __init__(self, connections: Connections, table: str, extension: str) -> None:
        """Create `table`, if necessary; the schema `extension` has the types of pgvector."""
        self._connections = connections
        self._table = table
        self._path = f"{connections.schema}, {extension}"
        with self._writing() as db:
            for statement in _definitions(table):
                db.execute(statement)

    def upsert(self, entries: Sequence[IndexEntry]) -> None:
        """Insert or replace the rows of memories, in one transaction."""
        rows = {row[:3]: row for entry in entries for row in _rows(entry)}
        numbers = {entry.fact.id: len(entry.windows) for entry in entries}
        marks = ", ".join("?" * (len(_COLUMNS) - 1))
        changed = ", ".join(f"{one} = excluded.{one}" for one in _COLUMNS if one not in _KEY)
        with self._writing() as db:
            db.execute(
                f"DELETE FROM {self._table} f USING unnest(?::text[], ?::int[]) d(id, pieces)"
                " WHERE f.id = d.id AND f.piece >= d.pieces",
                ([*numbers], [*numbers.values()]),
            )
            # A row whose vector stays isn't written to the indexes again.
            db.executemany(
                f"INSERT INTO {self._table} ({', '.join(_COLUMNS)}) VALUES ({marks}, ?::vector)"
                f" ON CONFLICT ({', '.join(_KEY)}) DO UPDATE SET {changed}",
                rows.values(),
            )

    def delete(self, fact_ids: Sequence[str]) -> None:
        """Delete the rows of memories."""
        with self._writing() as db:
            db.execute(f"DELETE FROM {self._table} WHERE id = ANY(?)", ([*fact_ids],))

    def query(
        self, vector: Matrix, *, user_id: str, limit: int, filters: Filters = NO_FILTERS
    ) -> list[Match]:
        """Return the user's nearest memories: by the user's HNSW index if that is faster."""
        where, values = self._connections.dialect.where(user_id, filters.conditions())
        asked = _text(vector)
        pieces = f"SELECT f.id, -(f.embedding <#> ?::vector) AS cosine FROM {self._table} f"
        best = "GROUP BY id ORDER BY 2 DESC, id LIMIT ?"
        half = f"halfvec({len(vector)})"
        with self._reading() as db:
            found = db.execute(
                f"SELECT id, max(cosine) FROM ({pieces} WHERE {where}"
                f" ORDER BY f.embedding::{half} <#> ?::{half} LIMIT ?) nearest {best}",
                (asked, *values, asked, limit * _OVERFETCH, limit),
            ).fetchall()
            if len(found) < limit:  # long memories, or a filter that lets little through
                found = db.execute(
                    f"SELECT id, max(cosine) FROM ({pieces} WHERE {where}) every {best}",
                    (asked, *values, limit),
                ).fetchall()
        return [Match(fact_id, cosine) for fact_id, cosine in found]

    def count(self) -> int:
        """Return the number of memories in the index."""
        with self._reading() as db:
            (number,) = db.execute(
                f"SELECT count(*) FROM {self._table} WHERE piece = 0"
            ).fetchone() or (0,)
        return int(number)

    def ids(self) -> set[str]:
        """Return the ids of all memories in the index."""
        with self._reading() as db:
            found = db.execute(f"SELECT id FROM {self._table} WHERE piece = 0")
            return {fact_id for (fact_id,) in found}

    def owns(self, user_id: str) -> bool:
        """Return True if a user has an HNSW index."""
        with self._reading() as db:
            row = db.execute("SELECT to_regclass(?)", (self._own_name(user_id),)).fetchone()
        return row != (None,)

    def own(self, user_id: str) -> None:
        """Create an HNSW index of a user's rows; writing waits meanwhile, queries don't."""
        with self._writing() as db:
            dimensions = f"SELECT vector_dims(embedding) FROM {self._table} LIMIT 1"
            (number,) = db.execute(dimensions).fetchone() or (0,)
            if not 0 < number <= _MOST_DIMENSIONS:
                return
            db.execute(
                f"CREATE INDEX IF NOT EXISTS {self._own_name(user_id)} ON {self._table}"
                f" USING hnsw ((embedding::halfvec({number})) halfvec_ip_ops)"
                f" WHERE user_id = {_literal(user_id)}"
            )
            db.execute(f"ANALYZE {self._table}")

    def close(self) -> None:
        """Do nothing: the home closes the connections."""

    def _own_name(self, user_id: str) -> str:
        digest = hashlib.blake2b(user_id.encode(), digest_size=8).hexdigest()
        return f"{self._table}_{digest}"

    @contextmanager
    def _reading(self) -> Iterator[Session]:
        with translated(), self._connections.snapshot() as db:
            db.execute(_SET, (self._path,))
            yield db

    @contextmanager
    def _writing(self) -> Iterator[Session]:
        with translated(), self._connections.transaction() as db:
            db.execute(_SET, (self._path,))
            yield db


def _definitions(table: str) -> Iterator[str]:
    # Room in each page: a row that changes beside its vector then stays where its indexes find it.
    yield f"""
        CREATE TABLE IF NOT EXISTS {table} (
            user_id {_TEXT} NOT NULL, id {_TEXT} NOT NULL, piece INTEGER NOT NULL,
            category {_TEXT} NOT NULL, status {_TEXT} NOT NULL, session_id {_TEXT},
            agent_id {_TEXT} NOT NULL, run_id {_TEXT} NOT NULL, tags {_TEXT} NOT NULL,
            confidence DOUBLE PRECISION NOT NULL, importance DOUBLE PRECISION NOT NULL,
            created_at BIGINT NOT NULL, confirmed_at BIGINT, expires_at BIGINT,
            valid_from BIGINT NOT NULL, valid_to BIGINT,
            embedding vector NOT NULL, PRIMARY KEY (user_id, id, piece)
        ) WITH (fillfactor = 75)
    """
    yield f"CREATE INDEX IF NOT EXISTS {table}_by_id ON {table} (id)"


def _rows(entry: IndexEntry) -> Iterator[tuple[Any, ...]]:
    fact = entry.fact
    times = (fact.created_at, fact.confirmed_at, fact.expires_at, fact.valid_from, fact.valid_to)
    columns = (
        fact.category.value,
        fact.status.value,
        fact.source.session_id,
        fact.scope.agent_id or "",
        fact.scope.run_id or "",
        " ".join(fact.tags),
        fact.confidence,
        fact.importance,
        *(time and micros(time) for time in times),
    )
    for piece, window in enumerate(entry.windows):
        yield fact.user_id, fact.id, piece, *columns, _text(window)


def _text(vector: Matrix) -> str:
    """Return a vector as PostgreSQL reads it; nine digits tell every float32 from the next."""
    return f"[{','.join(map('{:.9g}'.format, vector.tolist()))}]"


def _literal(text: str) -> str:
    """Return a text as a constant of SQL, byte by byte: a definition takes no values."""
    return "E'" + "".join(f"\\x{byte:02x}" for byte in text.encode()) + "'"


@contextmanager
def translated() -> Iterator[None]:
    """Translate the errors of connections into those of an index."""
    try:
        yield
    except (IndexUnavailableError, IndexBrokenError):
        raise
    except (StoreUnavailableError, StoreClosedError) as error:
        raise IndexUnavailableError(_said(error)) from error
    except StoreError as error:
        raise IndexBrokenError(_said(error)) from error


def _said(error: StoreError) -> str:
    return f"pgvector at {str(error).removeprefix('ledger ')}"
