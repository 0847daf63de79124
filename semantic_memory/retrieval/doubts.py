"""Find the statements of a block that a later one likely made untrue, to mark them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.ports.feeds import TraitRow
from semantic_memory.domain.recall import Hit
from semantic_memory.language.own_speech import stated
from semantic_memory.retrieval import pairs
from semantic_memory.retrieval.succession import DOUBTED, Model, is_of_person, judged
from semantic_memory.retrieval.successors import answered, repeats

_PART = DOUBTED - 3.0
"""Score from which a part of a doubted message is taken to be what is doubted."""


def doubted(facts: Sequence[Fact], rows: Sequence[TraitRow], model: Model) -> dict[str, Fact]:
    """Return the statements that likely made some of `facts` untrue, by the ids of these.

    Both are among `facts`, by one person, and from different sessions, and the later one has a cue
    that something of the earlier one's matter changed. A fact is judged by its
    message too, if that is among them, and a reply that repeats a doubted statement is doubted with
    it. `rows` have the facts' vectors.
    """
    vectors = {row.trait.id: row.vectors.windows[0] for row in rows if row.vectors is not None}
    known = [fact for fact in facts if fact.id in vectors and is_of_person(fact)]
    if len(known) < 2:
        return {}
    likely = judged(known, np.stack([vectors[fact.id] for fact in known]), model, _PART)
    messages = {
        told_in(fact): place
        for place, fact in enumerate(known)
        if fact.category is Category.CONVERSATION
    }
    whole = [messages.get(told_in(fact), place) for place, fact in enumerate(known)]
    scores = {
        (older, newer): max(score, likely.get((whole[older], whole[newer]), score))
        for (older, newer), score in likely.items()
    }
    found: dict[str, Fact] = {}
    for older, newer in sorted(scores, key=scores.__getitem__):  # the likeliest stays
        before, after = ({stated(known[one]), stated(known[whole[one]])} for one in (older, newer))
        if (
            scores[older, newer] >= DOUBTED
            and _may_doubt(known[older], known[newer])
            and any(_tells_change(one, other) for one in before for other in after)
        ):
            for one in {older, whole[older]}:
                found[known[one].id] = known[newer]
    return found | _repeating(facts, found)


def lifted(hits: Sequence[Hit], later: Mapping[str, Fact]) -> list[Hit]:
    """Return the hits, best first, none of which ranks below the best of those that it doubts."""
    least: dict[Hashable, float] = {}
    for hit in hits:
        if (newer := later.get(hit.fact.id)) is not None:
            place = told_in(newer)
            least[place] = max(hit.score, least.get(place, hit.score))
    if least:
        hits = [_at_least(hit, least.get(told_in(hit.fact), hit.score)) for hit in hits]
    return sorted(hits, key=lambda hit: -hit.score)


def told_in(fact: Fact) -> Hashable:
    """Return what tells the message of a memory apart, or the memory if it has none."""
    source = fact.source
    if not source.message_ids:
        return fact.id
    return fact.user_id, source.session_id, source.message_ids[0]


def _tells_change(older: str, newer: str) -> bool:
    """Return whether one says that something changed of what the other one is about."""
    before, after = pairs.read(older), pairs.read(newer)
    matter = before.stems - before.kinds["names"]
    return not matter.isdisjoint(after.cued | after.ended)


def _may_doubt(older: Fact, newer: Fact) -> bool:
    return (
        older.valid_to is None
        and older.user_id == newer.user_id
        and older.sessions.isdisjoint(newer.sessions)
    )


def _repeating(facts: Sequence[Fact], found: Mapping[str, Fact]) -> dict[str, Fact]:
    """Return what doubts the statements that replies repeat, by the ids of the replies."""
    said = {
        (fact.source.session_id, fact.source.position): fact for fact in facts if fact.id in found
    }
    answers = [(reply, said.get(place)) for reply in facts if (place := answered(reply))]
    return {
        reply.id: found[fact.id]
        for reply, fact in answers
        if fact is not None and repeats(fact, reply)
    }


def _at_least(hit: Hit, score: float) -> Hit:
    return hit if hit.score >= score else hit.model_copy(update={"score": score})
