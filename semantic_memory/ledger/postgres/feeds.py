"""The backlog of the embedder, shared by any number of workers."""

from __future__ import annotations

import uuid

from semantic_memory.domain.facts import Fact
from semantic_memory.domain.ports import Claimed
from semantic_memory.ledger.postgres.connections import Connections
from semantic_memory.ledger.postgres.schema import lock_key
from semantic_memory.ledger.sql import feeds
from semantic_memory.ledger.sql.rows import FACT, FactRow, to_fact

_END = "DELETE FROM embedding WHERE worker = ? OR until < clock_timestamp()"
_CLAIM = f"""
    WITH claimed AS (
        INSERT INTO embedding
        SELECT user_id, num, ?, clock_timestamp() + ? * interval '1 second' FROM facts f
        WHERE {feeds.WAITING} AND NOT EXISTS (
            SELECT FROM embedding e WHERE e.user_id = f.user_id AND e.num = f.num
        )
        ORDER BY num LIMIT ? RETURNING user_id, num
    )
    SELECT {FACT} FROM claimed JOIN facts f USING (user_id, num) ORDER BY f.num
"""


class Feeds(feeds.Feeds):
    """The roles `PartitionFeed`, `Traits` and `EmbeddingBacklog`."""

    _connections: Connections

    def __init__(self, connections: Connections) -> None:
        super().__init__(connections)
        self._worker = uuid.uuid4()

    def claim_unembedded(self, limit: int, seconds: float) -> Claimed:
        """Return memories as `unembedded` does, which no other process is given for `seconds`."""
        key = lock_key("embedding", self._connections.schema)
        with self._connections.transaction() as db:
            # One claim at a time: a concurrent one would wait for these rows, and get too few.
            db.execute("SELECT pg_advisory_xact_lock(?)", (key,))
            db.execute(_END, (self._worker,))
            rows = db.execute(_CLAIM, (self._worker, seconds, limit)).fetchall()
        claimed: list[Fact] = [to_fact(FactRow._make(row)) for row in rows]
        return Claimed(claimed, others=not claimed and bool(self.unembedded(1)))
