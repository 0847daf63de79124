"""Read the states of a person in a clause, and the events that end them: "the cast came off"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from semantic_memory.domain.english.arguments import person, subject
from semantic_memory.domain.english.renewals import KIN
from semantic_memory.domain.english.tables import keys, phrases, words
from semantic_memory.domain.english.tellers import as_own
from semantic_memory.domain.patterns import regex

_PARTS = words("outlived.parts.of_the_body")
_USER = "user"
# "gave the crutches back" names no part of the body
_BACKWARDS = regex(r"(?<!my )(?<!the )(?<!bad )(?<!his )(?<!her )(?<!sore )\bback\b")


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
def states(plain: str) -> Mapping[str, str]:
    """Return the states that a clause of a folded text tells of, each with the person in it.

    >>> states("i broke my wrist"), states("my sister ada broke her wrist")
    (mappingproxy({'injured': 'user'}), mappingproxy({'injured': 'ada'}))
    """
    if plain.startswith("i "):  # "the user broke their wrist"
        plain = plain.replace(" their ", " my ")
    own = {
        one.name: _USER
        for one in _STATES
        if (found := one.state.search(plain)) and _is_own(subject(plain[: found.start()]))
    }
    others = dict(_of_others(plain, [(one.name, one.state) for one in _STATES]))
    return MappingProxyType(others | own)


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


@lru_cache(maxsize=16_384)
def outcomes_of_others(plain: str) -> frozenset[tuple[str, str]]:
    """Return the states that a clause of a folded text says are over, each with whose it was.

    >>> outcomes_of_others("my sister ada is off the crutches"), outcomes_of_others("i had a boy")
    (frozenset({('injured', 'ada')}), frozenset())
    """
    return frozenset(_of_others(plain, [(one.name, one.ended) for one in _STATES]))


def _of_others(
    plain: str, wordings: Sequence[tuple[str, re.Pattern[str]]]
) -> Iterator[tuple[str, str]]:
    """Yield the wordings that a clause has of third persons, each with the person."""
    for who, told in as_own(plain):
        for name, pattern in wordings:
            if (found := pattern.search(told)) and _is_own(subject(told[: found.start()])):
                yield name, person(who)


def _is_own(who: str) -> bool:
    first, *of = who.split()
    return first == _USER and KIN.isdisjoint(of)


def body_parts(plain: str) -> frozenset[str]:
    """Return the parts of the body that a folded text names.

    >>> sorted(body_parts("my wrist and ankles")), sorted(body_parts("they gave it back"))
    (['ankle', 'wrist'], [])
    """
    spoken = _BACKWARDS.sub(" ", plain).replace("'s", "").split()
    return frozenset(
        part for word in spoken if (part := word.strip(",.").removesuffix("s")) in _PARTS
    )
