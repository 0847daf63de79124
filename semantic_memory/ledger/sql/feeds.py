"""Following the ledger: the deltas of partitions, large searches, the backlog of the embedder."""

from __future__ import annotations

from collections.abc import Sequence

from semantic_memory.domain.facts import Fact, Status
from semantic_memory.domain.ports import Claimed, Delta, TraitRow
from semantic_memory.ledger.sql.dialect import Clause
from semantic_memory.ledger.sql.part import Connections, Part
from semantic_memory.ledger.sql.rows import (
    FACT,
    MOST_ROWS,
    FactRow,
    TraitColumns,
    to_fact,
    to_trait,
    traits,
)

_LOGGED_ONLY = "category = 'conversation' AND status = 'archived'"
WAITING = f"embedded = 0 AND status <> 'forgotten' AND NOT ({_LOGGED_ONLY})"


class Feeds(Part):
    """The roles `PartitionFeed`, `Traits` and `EmbeddingBacklog`."""

    def __init__(self, connections: Connections) -> None:
        super().__init__(connections)
        dialect = connections.dialect
        self._with_vectors = f"facts f LEFT JOIN vectors v ON {dialect.same('v', 'f')}"
        follows = dialect.holds("f.detail", "'\"follows\"'")
        columns = traits(follows, dialect.corroborations, dialect.stems)
        self._traits = (
            f"SELECT {columns} FROM {self._with_vectors}"
            f" LEFT JOIN {dialect.stems_table} s ON {dialect.same('s', 'f')}"
        )
        self._by_place = dialect.by_place

    def changed(self, user_id: str, since: int, limit: int) -> set[str]:
        """Return the ids of at most `limit` of the user's facts that changed after `since`."""
        query = (
            "SELECT id FROM facts WHERE user_id = ? AND revision > ?"
            " AND category <> 'conversation' LIMIT ?"
        )
        with self._connections.snapshot() as db:
            return {fact_id for (fact_id,) in db.execute(query, (user_id, since, limit))}

    # ---------------------------------------------------------------- a partition

    def delta(self, user_id: str, since: int, limit: int | None = None) -> Delta:
        """Return the first `limit` changes of a user after revision `since`."""
        with self._connections.snapshot() as db:
            found = db.execute(
                f"{self._traits} WHERE f.user_id = ? AND f.revision > ?"
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
                f" FROM {self._with_vectors} WHERE f.user_id = ? AND f.status <> 'forgotten'",
                (user_id,),
            ).fetchone()
        return number, size

    # ---------------------------------------------------------------- a large search

    # One value for all ids: a statement with hundreds of marks is parsed and planned each time.

    def traits(self, fact_ids: Sequence[str], user_id: str | None = None) -> list[TraitRow]:
        """Return the ranking columns of memories; forgotten ones are left out."""
        these, ids = self._these(fact_ids, user_id)
        query = f"{self._traits} WHERE {these} AND f.status <> 'forgotten'"
        with self._connections.snapshot() as db:
            return [to_trait(TraitColumns._make(row)) for row in db.execute(query, ids)]

    def neighbours(self, fact_ids: Sequence[str], user_id: str | None = None) -> list[str]:
        """Return the ids of placed memories and of those one place away in their sessions."""
        these, ids = self._these(fact_ids, user_id)
        query = f"""
            SELECT DISTINCT n.id FROM facts f JOIN facts n {self._by_place}
            ON n.user_id = f.user_id AND n.session_id = f.session_id
               AND n.position BETWEEN f.position - 1 AND f.position + 1
            WHERE {these} AND f.status <> 'forgotten' AND n.status <> 'forgotten'"""
        with self._connections.snapshot() as db:
            return [fact_id for (fact_id,) in db.execute(query, ids)]

    def _these(self, fact_ids: Sequence[str], user_id: str | None) -> Clause:
        """Return the condition of some memories; without the user, all users' may be read."""
        these, ids = self._connections.dialect.among("f.id", fact_ids)
        return (these, ids) if user_id is None else (f"f.user_id = ? AND {these}", [user_id, *ids])

    # ---------------------------------------------------------------- the embedder

    def unembedded(self, limit: int) -> list[Fact]:
        """Return memories without vectors, oldest first; refused ones are left out."""
        query = f"SELECT {FACT} FROM facts f WHERE {WAITING} ORDER BY f.num LIMIT ?"
        with self._connections.snapshot() as db:
            return [to_fact(FactRow._make(row)) for row in db.execute(query, (limit,))]

    def claim_unembedded(self, limit: int, seconds: float) -> Claimed:
        """Return memories as `unembedded` does: there is no other process."""
        del seconds
        return Claimed(self.unembedded(limit))

    def count_unembedded(self) -> int:
        """Return the number of memories that wait for their vectors."""
        return self._number(f"SELECT count(*) FROM facts WHERE {WAITING}")
