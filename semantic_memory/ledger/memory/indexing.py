"""Filling an index: the memories that it lacks, in their present state, and which it then has."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.conditions import meets
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.ports import Match, Outbox, Unindexed
from semantic_memory.ledger import rules
from semantic_memory.ledger.memory.store import Part, Row


class IndexFeed(Part):
    """The role `SyncFeed`."""

    def outbox(self, limit: int) -> Outbox:
        """Return at most `limit` of the memories that the index lacks, by user."""
        tables = self._store.snapshot()
        rows = [tables.facts[one] for _, one in sorted(tables.unindexed.items())[:limit]]
        stored = [rules.Stored(row.num, row.fact, row.vectors, row.revision) for row in rows]
        return rules.outbox(stored, tables.changes)

    def note_indexed(
        self, done: Sequence[Unindexed], key: str, was: str | None, value: str
    ) -> bool:
        """Take memories that haven't changed since as indexed, and set `key`, unless it changed."""
        with self._store.transaction() as tables:
            if tables.meta.get(key) != was:
                numbers = {(one.user_id, one.num) for one in done}
                for row in tables.facts.values():
                    if (row.fact.user_id, row.num) in numbers:
                        tables.unindexed[row.fact.user_id, row.num] = row.fact.id
                return False
            for user_id, num, revision in done:
                fact_id = tables.unindexed.get((user_id, num))
                if fact_id is not None and tables.facts[fact_id].revision == revision:
                    del tables.unindexed[user_id, num]
            tables.meta[key] = value
        return True

    def unindex(self, key: str, value: str) -> None:
        """Take no memory as indexed, and set `key`, in one transaction."""
        with self._store.transaction() as tables:
            held = filter(_held, tables.facts.values())
            tables.unindexed = {(row.fact.user_id, row.num): row.fact.id for row in held}
            tables.meta[key] = value

    def count_unindexed(self) -> int:
        """Return the number of memories that the index lacks."""
        return len(self._store.snapshot().unindexed)

    def unindexed(self, limit: int, user_id: str | None = None) -> set[str]:
        """Return the ids of at most `limit` memories that the index lacks, of a user or of all."""
        lacked = self._store.snapshot().unindexed.items()
        own = (fact_id for (owner, _), fact_id in lacked if user_id in (None, owner))
        return set(islice(own, limit))

    def held(self) -> tuple[int, int]:
        """Return how many memories the index holds at least, and at most."""
        tables = self._store.snapshot()
        lacked = set(tables.unindexed.values())
        least = sum(_held(row) for row in tables.facts.values() if row.fact.id not in lacked)
        return least, least + len(lacked)

    def embedded_ids(self) -> set[str]:
        """Return the ids of all memories that an index should hold."""
        return {row.fact.id for row in self._store.snapshot().facts.values() if _held(row)}

    def similarities(
        self,
        vector: Matrix,
        user_id: str,
        filters: Filters,
        among: Collection[str] | None = None,
    ) -> Iterator[list[Match]]:
        """Yield the cosine of `vector` to each memory's nearest window, in one batch."""
        conditions = filters.conditions()
        matches = [
            Match(row.fact.id, float((row.vectors.windows @ vector).max()))
            for row in self._store.snapshot().of(user_id)
            if row.vectors is not None
            and (among is None or row.fact.id in among)
            and meets(row.fact, conditions)
        ]
        if matches:
            yield matches


def _held(row: Row) -> bool:
    return row.kept and row.vectors is not None
