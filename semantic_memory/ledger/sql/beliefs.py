"""Reading beliefs: active facts that have vectors."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from semantic_memory.domain.ports import Belief
from semantic_memory.ledger.sql.part import Connections, Part
from semantic_memory.ledger.sql.rows import (
    FACT,
    MOST_ROWS,
    VECTORS,
    FactRow,
    chunks,
    to_fact,
    to_vectors,
)


class BeliefReader(Part):
    """The role `Beliefs`."""

    def __init__(self, connections: Connections) -> None:
        super().__init__(connections)
        self._beliefs = (
            f"SELECT {FACT}, {VECTORS}, f.revision FROM facts f"
            f" JOIN vectors v ON {connections.dialect.same('v', 'f')}"
            " WHERE f.user_id = ? AND f.status = 'active' AND f.embedded = 1"
            " AND f.category <> 'conversation'"
        )

    def beliefs(self, user_id: str, *, since: int = 0, limit: int | None = None) -> list[Belief]:
        """Return the user's beliefs that changed after revision `since`, at most `limit`."""
        most = MOST_ROWS if limit is None else limit
        query = f"{self._beliefs} AND f.revision > ? LIMIT ?"
        with self._connections.snapshot() as db:
            rows = db.execute(query, (user_id, since, most)).fetchall()
        return [_to_belief(row) for row in rows]

    def beliefs_among(
        self, user_id: str, fact_ids: Collection[str], keys: Collection[bytes]
    ) -> list[Belief]:
        """Return the user's beliefs with one of these ids or one of these keys."""
        found: dict[tuple[Any, ...], None] = {}  # a belief may be found by its id and by a key
        with self._connections.snapshot() as db:
            for chunk, marks in chunks(list(fact_ids)):
                query = f"{self._beliefs} AND f.id IN ({marks})"
                found.update(dict.fromkeys(db.execute(query, (user_id, *chunk))))
            for some, marks in chunks(list(keys)):
                query = (
                    f"{self._beliefs} AND f.num IN"
                    f" (SELECT num FROM claim_keys WHERE user_id = ? AND key IN ({marks}))"
                )
                found.update(dict.fromkeys(db.execute(query, (user_id, user_id, *some))))
        return [_to_belief(row) for row in found]


def _to_belief(row: tuple[Any, ...]) -> Belief:
    *columns, windows, sentences, data, revision = row
    fact = to_fact(FactRow._make(columns))
    vectors = to_vectors(windows, sentences, data)
    return Belief(fact, vectors.windows[0], revision)
