"""Group memories by what they are about."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from itertools import product

from semantic_memory.context.render import place
from semantic_memory.domain.english.names import names
from semantic_memory.domain.facts import Fact

Pair = tuple[str, str]
"""Two memories, each by a key: its id, or `session/message` of a message that says it."""

_COMMON = 0.34  # share of the memories from which on a name tells none of them apart


def keys(fact: Fact) -> set[str]:
    """Return the keys of a memory: its id, and the place of each message that says it."""
    places = {
        f"{fact.user_id}/{own.session_id}/{one}" for own in fact.sources for one in own.message_ids
    }
    return {fact.id, *places}


def topics(
    facts: Sequence[Fact],
    linked: Collection[Pair],
    keys: Callable[[Fact], Collection[str]] = keys,
) -> list[list[int]]:
    """Return the places of facts by topic: the topics in the order of their first fact given.

    Within a topic they are in order of time, the latest last. Two are of one topic if they are
    linked by their `keys`, share a named entity that isn't in most of them, or were said one right
    after the other in one conversation, and so is what connects through others.
    """
    parents = list(range(len(facts)))

    def root(one: int) -> int:
        while parents[one] != one:
            parents[one] = one = parents[parents[one]]
        return one

    for one, other in _joined(facts, linked, keys):
        first, second = sorted((root(one), root(other)))
        parents[second] = first
    groups: dict[int, list[int]] = {}
    for one in range(len(facts)):
        groups.setdefault(root(one), []).append(one)
    return [sorted(group, key=lambda one: place(facts[one])) for group in groups.values()]


def _joined(
    facts: Sequence[Fact], linked: Collection[Pair], keys: Callable[[Fact], Collection[str]]
) -> Iterator[tuple[int, int]]:
    places = {key: number for number, fact in enumerate(facts) for key in keys(fact)}
    for one, other in linked:
        if one in places and other in places:
            yield places[one], places[other]
    naming: dict[str, int] = {}
    for number, entities in enumerate(_entities(facts)):
        for name in entities:
            yield naming.setdefault(name, number), number
    said: dict[tuple[str, str | None, int], list[int]] = defaultdict(list)
    for number, fact in enumerate(facts):
        if (position := fact.source.position) is not None:
            said[fact.user_id, fact.source.session_id, position].append(number)
    for (user_id, session_id, position), own in said.items():
        yield from product(own, said.get((user_id, session_id, position + 1), ()))


def _entities(facts: Sequence[Fact]) -> Iterator[frozenset[str]]:
    """Yield the names in each fact that tell it apart: no speakers', and none that many have."""
    speakers = {
        word
        for fact in facts
        for source in fact.sources
        for word in (source.speaker or "").casefold().split()
    }
    named = [_named(fact.content) - speakers for fact in facts]
    counted = Counter(name for own in named for name in own)
    most = max(2.0, _COMMON * len(facts))
    for own in named:
        yield frozenset(name for name in own if counted[name] <= most)


@lru_cache(maxsize=8_192)
def _named(text: str) -> frozenset[str]:
    return frozenset(names(text))
