"""Merge the hits of several owners, such as a user and a team, into one ranking."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence

from semantic_memory.domain.recall import Hit
from semantic_memory.domain.values import normalised


def merged(found: Mapping[str, Sequence[Hit]]) -> Iterator[Hit]:
    """Yield the hits of all owners by score, highest first; a text that two have, once.

    The first owner is the user, whose hits come first of equal ones; those of the others are marked
    with their owner. Each owner's hits stay in their order, which may differ from that of scores.
    """
    user, *others = found
    if not others:
        yield from found[user]
        return
    rankings = (
        _ranked([hit if owner == user else _of(owner, hit) for hit in hits], number)
        for number, (owner, hits) in enumerate(found.items())
    )
    said_by: dict[str, str | None] = {}
    for _, hit in heapq.merge(*rankings, key=lambda placed: placed[0]):
        if said_by.setdefault(normalised(hit.fact.content), hit.space) == hit.space:
            yield hit


def _of(owner: str, hit: Hit) -> Hit:
    return hit.model_copy(update={"space": owner})


def _ranked(hits: Sequence[Hit], owner: int) -> Iterator[tuple[tuple[float, int], Hit]]:
    """Yield hits with sort keys: the lowest score so far, negated, and the owner's number."""
    lowest = float("inf")
    for hit in hits:
        lowest = min(lowest, hit.score)
        yield (-lowest, owner), hit
