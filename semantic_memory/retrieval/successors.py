"""Order hits so that what replaced a statement comes before the message that made it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

import numpy as np

from semantic_memory.domain.facts import Category, Fact, Status
from semantic_memory.domain.ports import Facts
from semantic_memory.domain.recall import Hit

_LONGEST_CHAIN = 16


def noted(hits: Sequence[Hit], ledger: Facts, user_id: str, as_of: datetime | None) -> list[Hit]:
    """Return `hits`, each message of which a statement no longer holds with the time of the change.

    A message whose score already suffers from it (`ScoreParts.outdated`) comes right behind the
    memory that replaced its statement, which is added if it isn't among the hits.
    """
    ended = _ended(hits, ledger, user_id, as_of)
    if not ended:
        return list(hits)
    hits = [
        hit.model_copy(update={"changed": ended[hit.fact.id].valid_to})
        if hit.fact.id in ended
        else hit
        for hit in hits
    ]
    current = _current(
        {hit.fact.id: ended[hit.fact.id] for hit in hits if hit.changed and hit.parts.outdated > 0},
        ledger,
        user_id,
    )
    return list(_reordered(hits, current))


def _ended(
    hits: Sequence[Hit], ledger: Facts, user_id: str, as_of: datetime | None
) -> Mapping[str, Fact]:
    """Return the latest ended fact of each message among the hits, by the message's id."""
    messages = [hit.fact for hit in hits if hit.fact.category is Category.CONVERSATION]
    if not messages:
        return {}
    facts = ledger.superseded_from(user_id, [message.created_at for message in messages])
    found: dict[str, Fact] = {}
    for message in messages:
        for fact in facts:
            if _drawn_from(fact, message) and _ended_by(fact, as_of):
                known = found.get(message.id)
                if known is None or (known.valid_to or fact.created_at) < (
                    fact.valid_to or fact.created_at
                ):
                    found[message.id] = fact
    return found


def _drawn_from(fact: Fact, message: Fact) -> bool:
    return any(
        source.session_id == message.source.session_id
        and not set(source.message_ids).isdisjoint(message.message_ids)
        for source in fact.sources
    )


def _ended_by(fact: Fact, as_of: datetime | None) -> bool:
    return as_of is None or (fact.valid_to is not None and fact.valid_to <= as_of)


def _current(ended: Mapping[str, Fact], ledger: Facts, user_id: str) -> Mapping[str, Fact]:
    """Return the active fact at the end of each chain of successors."""
    found: dict[str, Fact] = {}
    waiting = {one: fact.superseded_by for one, fact in ended.items() if fact.superseded_by}
    for _ in range(_LONGEST_CHAIN):
        known = {fact.id: fact for fact in ledger.get(sorted(set(waiting.values())), user_id)}
        following: dict[str, str] = {}
        for one, next_id in waiting.items():
            fact = known.get(next_id)
            if fact is not None and fact.status is Status.ACTIVE:
                found[one] = fact
            elif fact is not None and fact.superseded_by:
                following[one] = fact.superseded_by
        if not following:
            return found
        waiting = following
    return found


def _reordered(hits: Sequence[Hit], current: Mapping[str, Fact]) -> Iterator[Hit]:
    """Yield the hits, each successor right before the first message that it replaces."""
    given: set[str] = set()
    for place, hit in enumerate(hits):
        successor = current.get(hit.fact.id)
        if successor is not None:
            score = float(np.nextafter(hit.score, np.inf))
            told = [
                one
                for one in hits[place + 1 :]
                if one.fact.id == successor.id or _drawn_from(successor, one.fact)
            ]
            if told:
                raised = told[0].model_copy(update={"score": score})
            else:
                raised = Hit(fact=successor, score=score, parts=hit.parts)
            seen = any(one == successor.id for one in given) or any(
                _drawn_from(successor, one.fact) or one.fact.id == successor.id
                for one in hits[:place]
            )
            if not seen and raised.fact.id not in given:
                given.add(raised.fact.id)
                yield raised
        if hit.fact.id not in given:
            given.add(hit.fact.id)
            yield hit
