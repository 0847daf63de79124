"""Order hits so that what replaced a statement comes before the message that made it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain

import numpy as np

from semantic_memory.domain.facts import Category, Fact, Source, Status
from semantic_memory.domain.recall import Hit
from semantic_memory.domain.text import stem_set
from semantic_memory.retrieval.ended import EndedFacts

_LONGEST_CHAIN = 16


def noted(
    hits: Sequence[Hit], ledger: EndedFacts, user_id: str, *, as_of: datetime | None, present: bool
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


def successors(messages: Sequence[Fact], ledger: EndedFacts, user_id: str) -> Mapping[str, str]:
    """Return the id of what replaced the latest ended statement of each message, by its id."""
    ended = _ended(messages, ledger, user_id, None)
    return {one: fact.id for one, fact in _current(ended, ledger, user_id).items()}


def _ended(
    facts: Sequence[Fact], ledger: EndedFacts, user_id: str, as_of: datetime | None
) -> Mapping[str, Fact]:
    """Return the latest ended fact of each message among `facts`, by the message's id."""
    messages = [fact for fact in facts if fact.category is Category.CONVERSATION]
    sessions = {message.source.session_id for message in messages} - {None}
    if not sessions:
        return {}
    said_at = [_places(message.source, message) for message in messages]
    answers = [answered(message) for message in messages]
    superseded = ledger.superseded_in(
        user_id,
        [one for one in sessions if one is not None],
        set(chain.from_iterable(said_at)),
        {place for place in answers if place},
    )
    ended = [fact for fact in superseded if _ended_by(fact, as_of)]
    if not ended:
        return {}
    by_place: dict[str, list[int]] = defaultdict(list)
    by_position: dict[tuple[str | None, int | None], list[int]] = defaultdict(list)
    for number, fact in enumerate(ended):
        by_position[fact.source.session_id, fact.source.position].append(number)
        for source in fact.sources:
            for place in _places(source, source):
                by_place[place].append(number)
    found: dict[str, Fact] = {}
    for message, places, answer_to in zip(messages, said_at, answers, strict=True):
        told = {one for place in places for one in by_place.get(place, ())}
        if answer_to:
            repeated = by_position.get(answer_to, ())
            told |= {one for one in repeated if repeats(ended[one], message)}
        if told:
            found[message.id] = max((ended[one] for one in sorted(told)), key=_end)
    return found


def _places(source: Source, told: Source | Fact) -> list[str]:
    session_id = source.session_id or ""
    return [f"{session_id}/{message_id}" for message_id in told.message_ids]


def answered(message: Fact) -> tuple[str, int] | None:
    """Return the session and position of what a reply answers; None if it is no reply."""
    source = message.source
    if source.role != "assistant" or source.session_id is None or source.position is None:
        return None
    return source.session_id, source.position - 1


def _end(fact: Fact) -> datetime:
    return fact.valid_to or fact.created_at


def _drawn_from(fact: Fact, message: Fact) -> bool:
    return any(
        source.session_id == message.source.session_id
        and not set(source.message_ids).isdisjoint(message.message_ids)
        for source in fact.sources
    )


def repeats(fact: Fact, reply: Fact) -> bool:
    """Return whether a reply repeats words of the message before it that state `fact`."""
    return not stem_set(fact.content).isdisjoint(stem_set(reply.content))


def _ended_by(fact: Fact, as_of: datetime | None) -> bool:
    return as_of is None or (fact.valid_to is not None and fact.valid_to <= as_of)


def _current(ended: Mapping[str, Fact], ledger: EndedFacts, user_id: str) -> Mapping[str, Fact]:
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
            seen = successor.id in given or any(
                _drawn_from(successor, one.fact) or one.fact.id == successor.id
                for one in hits[:place]
            )
            if not seen and raised.fact.id not in given:
                given.add(raised.fact.id)
                yield raised
        if hit.fact.id not in given:
            given.add(hit.fact.id)
            yield hit
