"""Lay out the statements about one thing in the order in which they came to hold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from semantic_memory.domain.english.names import names
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.inspection import Timeline, Timelines
from semantic_memory.domain.ports import Ledger
from semantic_memory.domain.retention import Expiry

_SURE = 0.5
"""Probability from which on a fact counts to the slot that its reading names."""
_COMMON = 0.34  # share of the facts from which on a name tells none of them apart
_FEW = 10  # facts, of which no name is too common
_BELIEVED = Filters(
    statuses=frozenset({"active", "superseded"}),
    not_categories=frozenset({Category.CONVERSATION}),
)


class TimelineReader:
    """Lay out a user's facts by slots, replacements and names. Thread-safe."""

    def __init__(self, ledger: Ledger, expiry: Expiry) -> None:
        self._ledger = ledger
        self._expiry = expiry

    def timelines(self, user_id: str, limit: int, behind: str | None = None) -> Timelines:
        """Lay out a user's latest facts, or the latest behind a fact, as `laid_out`.

        Raises NotFoundError if the user has no such fact.
        """
        filters = _BELIEVED.unexpired(self._expiry.now)
        facts = self._ledger.find(user_id, filters, limit=limit + 1, after=behind)
        shown = facts[:limit]
        return Timelines(
            items=tuple(laid_out(shown)),
            since=shown[-1].created_at if shown else None,
            earlier=shown[-1].id if len(facts) > limit else None,
        )


def laid_out(facts: Iterable[Fact]) -> list[Timeline]:
    """Return the timelines of facts: slots, then chains, then names, the latest changed first.

    A chain that a slot tells isn't told again, nor is a name that only one fact has, or most.
    """
    ordered = sorted(facts, key=lambda fact: (fact.valid_from, fact.recorded_at, fact.id))
    by_slot = _by_slot(ordered)
    told = {fact.id for group in by_slot.values() for fact in group}
    chains = [group for group in _chains(ordered) if not told.issuperset(f.id for f in group)]
    found = [
        *(Timeline(kind="slot", name=slot, facts=tuple(own)) for slot, own in by_slot.items()),
        *(Timeline(kind="chain", name=own[-1].content, facts=tuple(own)) for own in chains),
        *(Timeline(kind="entity", name=n, facts=tuple(own)) for n, own in _by_name(ordered)),
    ]
    kinds = ("slot", "chain", "entity")
    found.sort(key=lambda one: one.facts[-1].valid_from, reverse=True)
    return sorted(found, key=lambda one: kinds.index(one.kind))


def _by_slot(facts: Sequence[Fact]) -> Mapping[str, list[Fact]]:
    """Return the facts about the user by slot, with those that ended them or were ended by them."""
    found: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        reading = fact.reading
        if reading is None or reading.slot == "none" or reading.about != "self":
            continue
        if reading.slot_probability >= _SURE:
            found[reading.slot].append(fact)
    return found


def _chains(facts: Sequence[Fact]) -> list[list[Fact]]:
    """Return the facts that replaced each other, directly or through others."""
    parents = {fact.id: fact.id for fact in facts}

    def root(one: str) -> str:
        while parents[one] != one:
            parents[one] = one = parents[parents[one]]
        return one

    for fact in facts:
        if fact.superseded_by in parents:
            parents[root(fact.id)] = root(fact.superseded_by or fact.id)
    groups: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        groups[root(fact.id)].append(fact)
    return [group for group in groups.values() if len(group) > 1]


def _by_name(facts: Sequence[Fact]) -> list[tuple[str, list[Fact]]]:
    found: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        for name in dict.fromkeys(names(fact.content)):
            found[name].append(fact)
    most = len(facts) if len(facts) <= _FEW else _COMMON * len(facts)
    return [(name, own) for name, own in found.items() if 1 < len(own) <= most]
