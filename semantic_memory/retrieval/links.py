"""Links from facts to the newer statements that perhaps changed them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from semantic_memory.domain.facts import Fact, Status
from semantic_memory.domain.ports import Facts
from semantic_memory.domain.recall import Hit


def newer_statements(facts: Iterable[Fact], ledger: Facts, user_id: str) -> dict[str, Fact]:
    """Return the newer statements that facts are linked to, by id, as far as they still count.

    One that was itself superseded or merged since still mentions the change. One that was
    forgotten, archived or quarantined doesn't.
    """
    ids = {link.newer for fact in facts for link in fact.perhaps_changed if link.newer}
    found = ledger.get(sorted(ids), user_id) if ids else []
    return {fact.id: fact for fact in found if _counts(fact)}


def standing_links(facts: Sequence[Fact], ledger: Facts, user_id: str) -> list[Fact]:
    """Return facts without links to statements that don't count any more; the earliest first."""
    newer = newer_statements(facts, ledger, user_id)
    return [_linked(fact, newer) if fact.perhaps_changed else fact for fact in facts]


def newest_first(hits: Sequence[Hit]) -> list[Hit]:
    """Return hits in their order, but those that perhaps changed another one right before it."""
    by_id = {hit.fact.id: hit for hit in hits}
    ordered: dict[str, Hit] = {}
    for hit in hits:
        newer = _newer_than(hit, by_id)
        newer.sort(key=lambda one: one.fact.stated_at, reverse=True)
        for one in (*newer, hit):
            ordered.setdefault(one.fact.id, one)
    return [*ordered.values()]


def _newer_than(hit: Hit, by_id: Mapping[str, Hit]) -> list[Hit]:
    """Return the hits that perhaps changed a hit, and those that perhaps changed these."""
    found: dict[str, Hit] = {}
    waiting = [hit]
    while waiting:
        for link in waiting.pop().fact.perhaps_changed:
            newer = by_id.get(link.newer or "")
            if newer is not None and newer is not hit and newer.fact.id not in found:
                found[newer.fact.id] = newer
                waiting.append(newer)
    return [*found.values()]


def _linked(fact: Fact, newer: Mapping[str, Fact]) -> Fact:
    links = [link for link in fact.perhaps_changed if link.newer in newer]
    links.sort(key=lambda link: newer[link.newer or ""].stated_at)
    return fact.model_copy(update={"perhaps_changed": tuple(links)})


def _counts(fact: Fact) -> bool:
    if fact.status is Status.ARCHIVED:
        return fact.superseded_by is not None
    return fact.status in (Status.ACTIVE, Status.SUPERSEDED)
