"""Reading a user's facts page by page, and along their references."""

from __future__ import annotations

from collections.abc import Iterable

from semantic_memory.domain.conditions import meets
from semantic_memory.domain.errors import NotFoundError
from semantic_memory.domain.facts import Status
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.ports.listing import Listed, Order, Position
from semantic_memory.ledger import rules
from semantic_memory.ledger.memory.store import Part, Row


class ListingReader(Part):
    """The role `Listing`."""

    def page(
        self,
        user_id: str,
        filters: Filters,
        *,
        status: Status | None = None,
        order: Order = "time",
        limit: int | None = None,
        behind: Position | None = None,
    ) -> Listed:
        """Return the user's facts that pass `filters`, sorted, behind a position."""
        tables = self._store.snapshot()
        conditions = filters.conditions(status)
        rows = [row for row in tables.of(user_id) if meets(row.fact, conditions)]
        revision, last = tables.revisions.get(user_id, 0), len(tables.facts)
        since = None
        if behind is not None and behind.revision is not None and behind.last is not None:
            since = revision = behind.revision
            last = behind.last
        placed = [(_key(row, order, since), row.num, row) for row in rows if row.num <= last]
        if behind is not None:
            placed = [one for one in placed if one[:2] < (behind.key, behind.num)]
        placed.sort(key=lambda one: one[:2], reverse=True)
        facts = [row.fact for _, _, row in placed]
        if limit is None or len(facts) <= limit:
            return Listed(facts, None)
        key, num, _ = placed[limit - 1]
        return Listed(facts[:limit], Position(key, num, revision, last))

    def position(self, fact_id: str, user_id: str, order: Order) -> Position:
        """Return the present place of a fact. Raises NotFoundError if the user has none such."""
        row = self._store.snapshot().facts.get(fact_id)
        if row is None or row.fact.user_id != user_id:
            raise NotFoundError(f"no memory {fact_id!r} to continue from")
        return Position(_key(row, order), row.num)

    def linked(
        self, user_id: str, start: str, *, depth: int, backwards: bool = False
    ) -> frozenset[str]:
        """Return the ids at most `depth` references away from `start`, itself aside."""
        facts = [row.fact for row in self._store.snapshot().of(user_id) if row.kept]

        def step(ids: Iterable[str]) -> set[str]:
            near = set(ids)
            if backwards:
                return {fact.id for fact in facts if not near.isdisjoint(fact.references)}
            return {one for fact in facts if fact.id in near for one in fact.references}

        return rules.followed(start, depth, step)


def _key(row: Row, order: Order, since: int | None = None) -> float:
    """Return what a row is sorted by, now or at a revision."""
    place = rules.placing(row.fact)
    if since is not None:
        past = (own for revision, own in row.placings if revision > since)
        place = next(past, place)
    return place[order]
