"""Tell why a memory isn't in the answer to a question: pure functions on facts and hits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from semantic_memory.domain.conditions import meets
from semantic_memory.domain.facts import Category, Fact, Status
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.inspection import AbsenceReason
from semantic_memory.domain.recall import Hit
from semantic_memory.domain.retention import Unexpired
from semantic_memory.domain.values import normalised

_OF_ANSWERS = frozenset({"sort", "limit", "min_score", "as_of"})
_OF_SCOPE = frozenset({"agents", "not_agents", "runs", "not_runs"})
_BY_STATUS: dict[Status, AbsenceReason] = {
    Status.QUARANTINED: "quarantined",
    Status.ARCHIVED: "archived",
    Status.SUPERSEDED: "superseded",
}


class Barred(NamedTuple):
    """The reason why a memory was never ranked, and the fields that say so."""

    reason: AbsenceReason
    fields: tuple[str, ...] = ()


class Standing(NamedTuple):
    """The place of a memory among those that were ranked; places count from 1."""

    place: int
    by_meaning: int
    by_words: int | None
    """None if it shares no word with the question."""
    hit: Hit


def barred(fact: Fact, filters: Filters, unexpired: Unexpired) -> Barred | None:
    """Return why resolved filters keep a memory from being ranked; None if they don't.

    Its scope comes before its status, and that before the other filters: what doesn't belong to the
    one who asks isn't theirs to lack.
    """
    refusing = tuple(_refusing(fact, filters))
    if scope := tuple(name for name in refusing if name in _OF_SCOPE):
        return Barred("scope", scope)
    if filters.as_of is not None:
        as_of = Filters(as_of=filters.as_of)
        if not meets(fact, as_of.narrowing()):
            return Barred("not believed then", ("as_of",))
    elif not meets(fact, Filters(statuses=filters.statuses).conditions()):
        return Barred(_BY_STATUS.get(fact.status, "filtered"))
    if not unexpired.holds(fact):
        return Barred("expired")
    if refusing:
        return Barred("filtered", refusing)
    return None


def _refusing(fact: Fact, filters: Filters) -> Iterator[str]:
    """Yield the names of the filters that a memory doesn't pass."""
    for name in sorted(filters.model_fields_set - _OF_ANSWERS - {"statuses", "depth"}):
        value = getattr(filters, name)
        if value == getattr(NO_FILTERS, name):
            continue
        if not meets(fact, NO_FILTERS.model_copy(update={name: value}).narrowing()):
            yield name


def standing(fact_id: str, ranked: Sequence[Hit]) -> Standing | None:
    """Return the place of a memory among ranked hits, in all and by each arm."""
    found = next((n for n, hit in enumerate(ranked, start=1) if hit.fact.id == fact_id), None)
    if found is None:
        return None
    hit = ranked[found - 1]

    def place(score: Callable[[Hit], float]) -> int:
        return 1 + sum(score(other) > score(hit) for other in ranked)

    by_words = place(lambda one: one.parts.lexical) if hit.parts.lexical > 0 else None
    return Standing(found, place(lambda one: one.parts.dense), by_words, hit)


def unranked_reason(own: Standing, weakest: float) -> AbsenceReason:
    """Return why a ranked memory isn't among the best: no arm found it, or others match better.

    `weakest` is the match below which a memory has nothing to do with a question.
    """
    no_arm = own.by_words is None and own.hit.parts.match < weakest
    return "neither arm" if no_arm else "below rank"


def teller(fact: Fact, shown: Iterable[Fact]) -> Fact | None:
    """Return what tells a memory: the same words, its message, or a fact drawn from it."""
    words, said = normalised(fact.content), _places(fact)
    verbatim = fact.category is Category.CONVERSATION
    for one in shown:
        if one.id == fact.id:
            continue
        if normalised(one.content) == words:
            return one
        is_message = one.category is Category.CONVERSATION
        if verbatim != is_message and not said.isdisjoint(_places(one)):
            return one
    return None


def _places(fact: Fact) -> set[tuple[str, str | None, str]]:
    return {
        (fact.user_id, source.session_id, one)
        for source in fact.sources
        for one in source.message_ids
    }


def most_alike(similar: Iterable[Hit], answer: Sequence[Hit]) -> Hit | None:
    """Return the hit of an answer that is most like a memory; the last one if none is known to be.

    `similar` are the hits of a search for the memory's own words, best first.
    """
    by_id = {hit.fact.id: hit for hit in answer}
    known = (by_id[hit.fact.id] for hit in similar if hit.fact.id in by_id)
    return next(known, answer[-1] if answer else None)
