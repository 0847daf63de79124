"""Duplicates become one fact: which one is kept, and what it takes over from the others."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from semantic_memory.beliefs import CONFIRMATION_GAIN
from semantic_memory.maintenance.relations import said_at
from semantic_memory.models import Fact, Source, Status


def keeper(facts: Sequence[Fact]) -> Fact:
    """The fact that the others are merged into: the surest, then the first that was said."""
    return min(facts, key=lambda fact: (-fact.confidence, said_at(fact)))


def merged(facts: Sequence[Fact]) -> Fact:
    """The keeper with the highest confidence, the first date, and all sources and tags of `facts`.

    Being said in more than one place adds `CONFIRMATION_GAIN` to the confidence, once a merge.
    The result doesn't depend on the order of `facts`.
    """
    kept = keeper(facts)
    ordered = sorted(facts, key=said_at)
    others = [fact for fact in ordered if fact.id != kept.id]
    sources = dict.fromkeys(source for fact in (kept, *others) for source in fact.sources)
    corroborations = tuple(
        source for source in sources if source != kept.source and _is_known(source)
    )
    gain = CONFIRMATION_GAIN if len(corroborations) > len(kept.corroborations) else 0.0
    return kept.model_copy(
        update={
            "confidence": min(1.0, max(fact.confidence for fact in facts) + gain),
            "importance": max(fact.importance for fact in facts),
            "created_at": min(fact.created_at for fact in facts),
            "recorded_at": min(fact.recorded_at for fact in facts),
            "valid_from": min(fact.valid_from for fact in facts),
            "confirmed_at": max(stated_at(fact) for fact in facts),
            "last_used_at": max(
                (fact.last_used_at for fact in facts if fact.last_used_at), default=None
            ),
            "use_count": sum(fact.use_count for fact in facts),
            "corroborations": corroborations,
            "tags": tuple(dict.fromkeys(tag for fact in (kept, *others) for tag in fact.tags)),
            "references": tuple(
                dict.fromkeys(other for fact in (kept, *others) for other in fact.references)
            ),
            "metadata": {
                key: value for fact in (*others, kept) for key, value in fact.metadata.items()
            },
        }
    )


def absorbed(fact: Fact, into: Fact) -> Fact:
    """`fact` after its merge: archived, so that no answer has it twice, and pointing to `into`."""
    return fact.model_copy(update={"status": Status.ARCHIVED, "superseded_by": into.id})


def stated_at(fact: Fact) -> datetime:
    """When it was said last."""
    return max(fact.created_at, fact.confirmed_at or fact.created_at)


def _is_known(source: Source) -> bool:
    return bool(source.message_ids)
