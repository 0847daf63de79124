"""What becomes of a fact when the same is said again: pure rules."""

from __future__ import annotations

from semantic_memory.models import Fact, Source

CONFIRMATION_GAIN = 0.02
"""What being said once more adds to the confidence."""


def confirmed(fact: Fact, again: Fact) -> Fact:
    """`fact`, said once more as `again`: the higher confidence and a little, all sources and tags.

    Unchanged if the source of `again` is known already, so that replaying confirms nothing twice.
    """
    if again.source.message_ids and again.source in fact.sources:
        return fact
    return fact.model_copy(
        update={
            "confidence": min(1.0, max(fact.confidence, again.confidence) + CONFIRMATION_GAIN),
            "confirmed_at": max(fact.confirmed_at or fact.created_at, again.created_at),
            "corroborations": _joined(fact, again),
            "tags": tuple(dict.fromkeys((*fact.tags, *again.tags))),
        }
    )


def _joined(fact: Fact, again: Fact) -> tuple[Source, ...]:
    sources = dict.fromkeys((*fact.corroborations, *again.sources))
    return tuple(source for source in sources if source.message_ids)
