"""Read the states of a person in a clause, and the events that end them: "the cast came off"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from semantic_memory.domain.english.arguments import subject
from semantic_memory.domain.english.renewals import KIN
from semantic_memory.domain.english.tables import keys, phrases, words
from semantic_memory.domain.patterns import regex

_PARTS = words("outlived.parts.of_the_body")


class _State(NamedTuple):
    name: str
    state: re.Pattern[str]
    ended: re.Pattern[str]


def _states() -> Iterator[_State]:
    for name in keys("outlived"):
        if name != "parts":
            yield _State(name, *(_pattern(f"outlived.{name}.{way}") for way in ("state", "ended")))


def _pattern(entry: str) -> re.Pattern[str]:
    return regex(rf"(?<![\w'])(?:{phrases(entry)})(?![\w'])")


_STATES = tuple(_states())


@lru_cache(maxsize=16_384)
def states(plain: str) -> frozenset[str]:
    """Return the states of the user that a clause of a folded text tells of.

    >>> sorted(states("i broke my wrist")), sorted(states("my sister is pregnant"))
    (['injured'], [])
    """
    if plain.startswith("i "):  # "the user broke their wrist"
        plain = plain.replace(" their ", " my ")
    return frozenset(
        one.name
        for one in _STATES
        if (found := one.state.search(plain)) and _is_own(subject(plain[: found.start()]))
    )


@lru_cache(maxsize=16_384)
def outcomes(plain: str) -> Mapping[str, str]:
    """Return the states that a clause of a folded text says are over, each with its subject.

    >>> outcomes("the cast came off on monday")
    mappingproxy({'injured': 'user'})
    """
    return MappingProxyType(
        {
            one.name: subject(plain[: found.start()])
            for one in _STATES
            if (found := one.ended.search(plain))
        }
    )


def _is_own(who: str) -> bool:
    first, *of = who.split()
    return first == "user" and KIN.isdisjoint(of)


def body_parts(spoken: frozenset[str]) -> frozenset[str]:
    """Return the parts of the body among words.

    >>> sorted(body_parts(frozenset({"my", "wrist", "ankles"})))
    ['ankle', 'wrist']
    """
    return frozenset(part for word in spoken if (part := word.removesuffix("s")) in _PARTS)
