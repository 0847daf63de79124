"""Following the ledger: the outbox of an index, the deltas of partitions, the backlog."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.facts import Fact, Status
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.ports import Delta, Match, Outbox, TraitRow
from semantic_memory.ledger import rules
from semantic_memory.ledger.sqlite.part import Part
from semantic_memory.ledger.sqlite.rows import (
    FACT,
    MOST_ROWS,
    TRAIT,
    VECTORS,
    FactRow,
    TraitColumns,
    chunks,
    nearest_windows,
    to_fact,
    to_trait,
    to_vectors,
)
from semantic_memory.ledger.sqlite.where import where

_SCAN_BATCH = 250
_WITH_VECTORS = "facts f LEFT JOIN vectors v ON v.num = f.num"
_LOGGED_ONLY = "category = 'conversation' AND status = 'archived'"
WAITING = f"embedded = 0 AND status <> 'forgotten' AND NOT ({_LOGGED_ONLY})"
_HELD = "embedded = 1 AND status <> 'forgotten'"


class Feeds(Part):
    """The roles `SyncFeed`, `PartitionFeed`, `Traits` and `EmbeddingBacklog`."""

    # ---------------------------------------------------------------- an index

    def outbox(self, since: int, limit: int) -> Outbox:
        """Return the next changes that an index at revision `since` lacks, in order."""
        with self._connections.snapshot() as db:
            found = db.execute(
                f"SELECT {FACT}, f.embedded, f.revision, {VECTORS} FROM {_WITH_VECTORS}"
                " WHERE f.revision > ? ORDER BY f.revision LIMIT ?",
                (since, limit),
            ).fetchall()
        changed = []
        for *columns, embedded, revision, windows, sentences, data in found:
            vectors = to_vectors(windows, sentences, data) if embedded == 1 else None
            changed.append(rules.Stored(to_fact(FactRow._make(columns)), vectors, revision))
        return rules.outbox(since, changed)

    def held_at(self, revision: int) -> tuple[int, int]:
        """Return how many memories an index at `revision` holds at least, and at most."""
        with self._connections.snapshot() as db:
            least, later = db.execute(
                f"SELECT count(*) FILTER (WHERE revision <= ?1 AND {_HELD}),"
                " count(*) FILTER (WHERE revision > ?1) FROM facts",
                (revision,),
            ).fetchone()
        return least, least + later

    def embedded_ids(self) -> set[str]:
        """Return the ids of all memories that an index should hold."""
        with self._connections.snapshot() as db:
            query = f"SELECT id FROM facts WHERE {_HELD}"
            return {fact_id for (fact_id,) in db.execute(query)}

    def similarities(
        self, vector: Matrix, user_id: str, filters: Filters, since: int = 0
    ) -> Iterator[list[Match]]:
        """Yield the cosine of `vector` to each memory's nearest window, in batches."""
        condition, values = where(user_id, filters.conditions())
        with self._connections.snapshot() as db:
            found = db.execute(
                f"SELECT f.id, {VECTORS} FROM facts f JOIN vectors v ON v.num = f.num"
                f" WHERE f.embedded = 1 AND f.revision > ? AND {condition}",
                (since, *values),
            )
            while batch := found.fetchmany(_SCAN_BATCH):
                nearest = nearest_windows([stored for _, *stored in batch], vector)
                yield [
                    Match(fact_id, cosine)
                    for (fact_id, *_), cosine in zip(batch, nearest.tolist(), strict=True)
                ]

    # ---------------------------------------------------------------- a partition

    def delta(self, user_id: str, since: int, limit: int | None = None) -> Delta:
        """Return the first `limit` changes of a user after revision `since`."""
        with self._connections.snapshot() as db:
            found = db.execute(
                f"SELECT {TRAIT} FROM {_WITH_VECTORS} WHERE f.user_id = ? AND f.revision > ?"
                " ORDER BY f.revision LIMIT ?",
                (user_id, since, MOST_ROWS if limit is None else limit),
            ).fetchall()
        kept: list[TraitRow] = []
        gone: list[int] = []
        for row in map(TraitColumns._make, found):
            if row.status == Status.FORGOTTEN:
                gone.append(row.num)
            else:
                kept.append(to_trait(row))
            since = row.revision
        return Delta(revision=since, rows=kept, removed=gone)

    def footprint(self, user_id: str) -> tuple[int, int]:
        """Return the number of the user's memories, and the bytes of their texts and vectors."""
        with self._connections.snapshot() as db:
            number, size = db.execute(
                "SELECT count(*), coalesce(sum(length(f.content) + coalesce(length(v.data), 0)), 0)"
                f" FROM {_WITH_VECTORS} WHERE f.user_id = ? AND f.status <> 'forgotten'",
                (user_id,),
            ).fetchone()
        return number, size

    # ---------------------------------------------------------------- a large search

    def traits(self, fact_ids: Sequence[str]) -> list[TraitRow]:
        """Return the ranking columns of memories; forgotten ones are left out."""
        found: list[TraitRow] = []
        with self._connections.snapshot() as db:
            for chunk, marks in chunks(fact_ids):
                query = (
                    f"SELECT {TRAIT} FROM {_WITH_VECTORS}"
                    f" WHERE f.id IN ({marks}) AND f.status <> 'forgotten'"
                )
                rows = map(TraitColumns._make, db.execute(query, chunk))
                found.extend(map(to_trait, rows))
        return found

    def neighbours(self, fact_ids: Sequence[str]) -> list[str]:
        """Return the ids of placed memories and of those one place away in their sessions."""
        found: dict[str, None] = {}
        with self._connections.snapshot() as db:
            for chunk, marks in chunks(fact_ids):
                query = f"""
                    SELECT n.id FROM facts f JOIN facts n INDEXED BY facts_by_place
                    ON n.user_id = f.user_id AND n.session_id = f.session_id
                       AND n.position BETWEEN f.position - 1 AND f.position + 1
                    WHERE f.id IN ({marks})
                       AND f.status <> 'forgotten' AND n.status <> 'forgotten'"""
                found.update(dict.fromkeys(fact_id for (fact_id,) in db.execute(query, chunk)))
        return list(found)

    # ---------------------------------------------------------------- the embedder

    def unembedded(self, limit: int) -> list[Fact]:
        """Return memories without vectors, oldest first; refused ones are left out."""
        query = f"SELECT {FACT} FROM facts f WHERE {WAITING} ORDER BY f.num LIMIT ?"
        with self._connections.snapshot() as db:
            return [to_fact(FactRow._make(row)) for row in db.execute(query, (limit,))]

    def count_unembedded(self) -> int:
        """Return the number of memories that wait for their vectors."""
        return self._number(f"SELECT count(*) FROM facts WHERE {WAITING}")
