"""Order hits so that what replaced a statement comes before the message that made it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

import numpy as np

from semantic_memory.domain.facts import Category, Fact, Status
from semantic_memory.domain.ports import Facts
from semantic_memory.domain.recall import Hit
from semantic_memory.domain.text import stems

_LONGEST_CHAIN = 16


def noted(
    hits: Sequence[Hit], ledger: Facts, user_id: str, *, as_of: datetime | None, present: bool
) -> list[Hit]:
    """Return `hits`, each message of which a statement no longer holds with the time of the change.

    So is a reply that repeats the statement. If the question is about the `present`, the memory
    that replaced the statement comes right before the message, also if no other hit is that memory.
    """
    ended = _ended([hit.fact for hit in hits], ledger, user_id, as_of)
    if not ended:
        return list(hits)
    hits = [
        hit.model_copy(update={"changed": ended[hit.fact.id].valid_to})
        if hit.fact.id in ended
        else hit
        for hit in hits
    ]
    return list(_reordered(hits, _current(ended, ledger, user_id))) if present else hits


def successors(messages: Sequence[Fact], ledger: Facts, user_id: str) -> Mapping[str, str]:
    """Return the id of what replaced the latest ended statement of each message, by its id."""
    ended = _ended(messages, ledger, user_id, None)
    return {one: fact.id for one, fact in _current(ended, ledger, user_id).items()}


def _ended(
    facts: Sequence[Fact], ledger: Facts, user_id: str, as_of: datetime | None
) -> Mapping[str, Fact]:
    """Return the latest ended fact of each message among `facts`, by the message's id."""
    messages = [fact for fact in facts if fact.category is Category.CONVERSATION]
    if not messages:
        return {}
    sessions = {message.source.session_id for message in messages}
    superseded = ledger.superseded_in(user_id, [one for one in sessions if one is not None])
    found: dict[str, Fact] = {}
    for message in messages:
        for fact in superseded:
            told = _drawn_from(fact, message) or _repeated(fact, message)
            if told and _ended_by(fact, as_of):
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


def _repeated(fact: Fact, reply: Fact) -> bool:
    """Return whether a reply repeats words of the message before it that state `fact`."""
    if reply.source.role != "assistant" or not _follows(reply, fact):
        return False
    return not set(stems(fact.content)).isdisjoint(stems(reply.content))


def _follows(reply: Fact, fact: Fact) -> bool:
    """Return whether a message comes right behind the one in which `fact` was said."""
    one, other = fact.source, reply.source
    return (
        one.position is not None
        and other.position == one.position + 1
        and one.session_id == other.session_id
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
