"""Reading a user's facts page by page, and along their references."""

from __future__ import annotations

from collections.abc import Iterable

from semantic_memory.domain.conditions import meets
from semantic_memory.domain.errors import NotFoundError
from semantic_memory.domain.facts import Fact, Status
from semantic_memory.domain.fields import Sort
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.ports.listing import Listed, Position
from semantic_memory.ledger import rules
from semantic_memory.ledger.memory.store import Part, Row


class ListingReader(Part):
    """The role `Listing`."""

    def find(
        self,
        user_id: str,
        filters: Filters,
        *,
        status: Status | None = None,
        limit: int | None = None,
        after: str | None = None,
        sort: Sort = "time",
    ) -> list[Fact]:
        """Return the user's facts that pass `filters`, sorted, behind the fact `after`."""
        behind = None if after is None else self.position(after, user_id, sort)
        return self.page(
            user_id, filters, status=status, order=sort, limit=limit, behind=behind
        ).facts

    def newest(self, user_id: str, filters: Filters, limit: int) -> list[Fact]:
        """Return the user's `limit` newest facts that pass `filters`, forgotten ones aside."""
        return self.find(user_id, filters, limit=limit)

    def page(
        self,
        user_id: str,
        filters: Filters,
        *,
        status: Status | None = None,
        order: Sort = "time",
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
        facts = [_shown(row) for _, _, row in placed]
        if limit is None or len(facts) <= limit:
            return Listed(facts, None)
        key, num, _ = placed[limit - 1]
        return Listed(facts[:limit], Position(key, num, revision, last))

    def position(self, fact_id: str, user_id: str, order: Sort) -> Position:
        """Return the present place of a fact. Raises NotFoundError if the user has none such."""
        row = self._store.snapshot().facts.get(fact_id)
        if row is None or row.fact.user_id != user_id:
            raise NotFoundError(f"no memory {fact_id!r} to continue from")
        return Position(_key(row, order), row.num)

    def tags(self, user_id: str, filters: Filters) -> dict[str, int]:
        """Return the number of the user's active facts by tag, of those that pass `filters`."""
        conditions = filters.conditions()
        facts = (row.fact for row in self._store.snapshot().of(user_id))
        return rules.tag_counts((fact.tags, 1) for fact in facts if meets(fact, conditions))

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


def _key(row: Row, order: Sort, since: int | None = None) -> float:
    """Return what a row is sorted by, now or at a revision."""
    place = rules.placing(row.fact)
    if since is not None:
        past = (own for revision, own in row.placings if revision > since)
        place = next(past, place)
    if order == "relevance":
        return place["importance"] * place["confidence"] * row.retention * row.recency
    return place[order]


def _shown(row: Row) -> Fact:
    """Return the fact of a listing; of a forgotten one, its tombstone."""
    if row.kept:
        return row.fact
    return rules.audited(row.fact, row.action, row.changed_at, row.reason, row.by)
