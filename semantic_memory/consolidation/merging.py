"""Merging of duplicates: the choice of the fact to keep, and the values it takes over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from pydantic import JsonValue

from semantic_memory.consolidation.beliefs import (
    CONFIRMATION_GAIN,
    OTHER_VALUES,
    confirms,
    latest,
    other_values,
    united,
    with_sides,
)
from semantic_memory.domain.facts import Fact, Status
from semantic_memory.judging.ports import said_at

T = TypeVar("T")
_TAKEN_OVER = (
    "importance",
    "created_at",
    "recorded_at",
    "valid_from",
    "confirmed_at",
    "last_used_at",
    "expires_at",
    "body",
)


def keeper(facts: Sequence[Fact]) -> Fact:
    """Return the fact to merge the others into: the most trusted, most certain, then the first."""
    return min(facts, key=lambda fact: (-fact.trust.rank, -fact.confidence, said_at(fact)))


def merged(facts: Sequence[Fact]) -> Fact:
    """Return the keeper with the highest confidence, first date, all sources, tags and metadata.

    Confidence, importance and times are taken over from facts as trusted as the keeper only. If one
    of them confirms the keeper, its confidence grows by `CONFIRMATION_GAIN`, once a merge. The
    result doesn't depend on the order of `facts`.
    """
    kept = keeper(facts)
    ids = {fact.id for fact in facts}
    peers = [fact for fact in facts if fact.trust is kept.trust]
    ordered = sorted(facts, key=said_at)
    others = [fact for fact in ordered if fact.id != kept.id]
    sources = dict.fromkeys(source for fact in (kept, *others) for source in fact.sources)
    corroborations = tuple(
        source for source in sources if source != kept.source and source.message_ids
    )
    is_confirmed = len(corroborations) > len(kept.corroborations) and any(
        confirms(kept, fact) for fact in peers if fact.id != kept.id
    )
    gain = CONFIRMATION_GAIN if is_confirmed else 0.0
    return kept.model_copy(
        update={
            "confidence": min(1.0, max(fact.confidence for fact in peers) + gain),
            "importance": max(fact.importance for fact in peers),
            "created_at": min(fact.created_at for fact in peers),
            "recorded_at": min(fact.recorded_at for fact in peers),
            "valid_from": min(fact.valid_from for fact in peers),
            "confirmed_at": max(fact.stated_at for fact in peers),
            "last_used_at": max(
                (fact.last_used_at for fact in facts if fact.last_used_at), default=None
            ),
            "expires_at": latest(fact.expires_at for fact in peers),
            "body": next((fact.body for fact in (kept, *others) if fact.body), None),
            "use_count": sum(fact.use_count for fact in facts),
            "corroborations": corroborations,
            "contested_by": tuple(
                dict.fromkeys(one for fact in facts for one in fact.contested_by if one not in ids)
            ),
            "perhaps_changed": tuple(
                {
                    link.newer: link
                    for fact in facts
                    for link in fact.perhaps_changed
                    if link.newer not in ids
                }.values()
            ),
            "follows": tuple(
                dict.fromkeys(one for fact in facts for one in fact.follows if one not in ids)
            ),
            "rests_on": tuple(
                dict.fromkeys(one for fact in facts for one in fact.rests_on if one not in ids)
            ),
            "tags": tuple(dict.fromkeys(tag for fact in (kept, *others) for tag in fact.tags)),
            "references": tuple(
                dict.fromkeys(other for fact in (kept, *others) for other in fact.references)
            ),
            "metadata": united([kept, *others]),
        }
    )


def without(kept: Fact, taken: Fact, instead: Fact) -> Fact:
    """Return `kept` as if its merge had led to `instead` rather than `taken`.

    Later changes to `kept`, such as other merges, stay.
    """
    changed = {
        name: getattr(instead, name)
        for name in _TAKEN_OVER
        if getattr(kept, name) == getattr(taken, name)
    }
    return kept.model_copy(
        update={
            **changed,
            "confidence": min(
                1.0, max(0.0, kept.confidence - taken.confidence + instead.confidence)
            ),
            "use_count": max(0, kept.use_count - taken.use_count + instead.use_count),
            "corroborations": _less(
                kept.corroborations, taken.corroborations, instead.corroborations
            ),
            "perhaps_changed": _less(
                kept.perhaps_changed, taken.perhaps_changed, instead.perhaps_changed
            ),
            "follows": _less(kept.follows, taken.follows, instead.follows),
            "rests_on": _less(kept.rests_on, taken.rests_on, instead.rests_on),
            "tags": _less(kept.tags, taken.tags, instead.tags),
            "references": _less(kept.references, taken.references, instead.references),
            "metadata": with_sides(_less_keys(kept, taken, instead), [kept]),
        }
    )


def _less(has: tuple[T, ...], taken: tuple[T, ...], instead: tuple[T, ...]) -> tuple[T, ...]:
    return tuple(one for one in has if one not in taken or one in instead)


def _less_keys(kept: Fact, taken: Fact, instead: Fact) -> dict[str, JsonValue]:
    left = {
        key: instead.metadata.get(key, value) if value == taken.metadata.get(key) else value
        for key, value in kept.metadata.items()
        if key != OTHER_VALUES and (value != taken.metadata.get(key) or key in instead.metadata)
    }
    taken_over, others_instead = other_values(taken), other_values(instead)
    others: dict[str, JsonValue] = {
        key: rest
        for key, own in other_values(kept).items()
        if (
            rest := [
                value
                for value in own
                if value not in taken_over.get(key, ()) or value in others_instead.get(key, ())
            ]
        )
    }
    return left | {OTHER_VALUES: others} if others else left


def absorbed(fact: Fact, into: Fact) -> Fact:
    """Return `fact` after its merge: archived, with `superseded_by` pointing to `into`."""
    return fact.model_copy(update={"status": Status.ARCHIVED, "superseded_by": into.id})
