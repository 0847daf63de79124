"""Facts that contradict each other, of which none may end the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from semantic_memory.domain.facts import Category, Fact, Status, prevailing
from semantic_memory.domain.ports import Facts
from semantic_memory.domain.recall import Hit


def standing_rivals(facts: Sequence[Fact], ledger: Facts, user_id: str) -> list[Fact]:
    """Return the facts without the marks of rivals that are no longer believed."""
    rivals = {one for fact in facts for one in fact.contested_by}
    if not rivals:
        return [*facts]
    found = ledger.get(sorted(rivals), user_id)
    active = {fact.id for fact in found if fact.status is Status.ACTIVE}
    return [_contested_by(fact, active) if fact.contested_by else fact for fact in facts]


def trusted_first(hits: Iterable[Hit]) -> list[Hit]:
    """Return hits in their order, but of facts that contest each other the most trusted first."""
    by_id = {hit.fact.id: hit for hit in hits}
    if not any(hit.fact.contested_by for hit in by_id.values()):
        return [*by_id.values()]
    ordered: dict[str, Hit] = {}
    for hit in by_id.values():
        rivals = [by_id[one].fact for one in hit.fact.contested_by if one in by_id]
        before = prevailing([hit.fact, *rivals])
        for fact in before[: before.index(hit.fact) + 1]:
            ordered.setdefault(fact.id, by_id[fact.id])
    return [*ordered.values()]


def material_last(hits: Sequence[Hit]) -> list[Hit]:
    """Return hits in their order, but messages of tools behind the facts of the user."""
    after = len(hits)
    while after and not _is_users(hits[after - 1].fact):
        after -= 1
    late = [hit for hit in hits[:after] if _is_of_tool(hit.fact)]
    if not late:
        return [*hits]
    head = [hit for hit in hits[:after] if not _is_of_tool(hit.fact)]
    return [*head, *late, *hits[after:]]


def _is_users(fact: Fact) -> bool:
    return fact.category is not Category.CONVERSATION and fact.trust.is_vetted


def _is_of_tool(fact: Fact) -> bool:
    return fact.category is Category.CONVERSATION and fact.source.role == "tool"


def _contested_by(fact: Fact, rivals: set[str]) -> Fact:
    left = tuple(one for one in fact.contested_by if one in rivals)
    return fact.model_copy(update={"contested_by": left})
