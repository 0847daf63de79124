"""Read the states of a person in a clause, and the events that end them: "the cast came off"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from semantic_memory.domain.english.arguments import person, subject
from semantic_memory.domain.english.renewals import KIN
from semantic_memory.domain.english.tables import keys, mapping, phrases, words
from semantic_memory.domain.english.tellers import as_own
from semantic_memory.domain.english.words import can_be_noun, is_quality, is_word
from semantic_memory.domain.patterns import regex

_PARTS = words("outlived.parts.of_the_body")
_INJURED = {
    word: part for part, told in mapping("outlived.parts.injuries").items() for word in told.split()
}
_USER = "user"
_NO_STATES = frozenset(("parts", "around"))
# what may follow an event: nothing, a time, another clause
_BEHIND = regex(rf"(?:\W|$|{phrases('outlived.around.behind')}(?![\w'-]))")
_PLACED = regex(
    r"(?:in|at|from|near|outside|to|with) (?:(?:my|our|the|an?) )?(?P<name>[a-z][\w-]*)"
)
_OF_SOMETHING = regex(r"(?:in|at|for|on|of|from)\b")
_MANNER = regex(rf"(?:{phrases('outlived.around.manner')}(?: |$))*")
_BEFORE_NAMES = frozenset("with from named called".split())
_NAMED = regex(r"(?:(?:my|our) )?(?P<name>[\w-]+)")
_AUXILIARIES = regex(rf"(?:(?:^| ){phrases('outlived.around.auxiliaries')})+$")
_NEWBORN = words("outlived.around.newborn")
_PEOPLE = KIN | _NEWBORN
# "gave the crutches back" names no part of the body
_BACKWARDS = regex(r"(?<!my )(?<!the )(?<!bad )(?<!his )(?<!her )(?<!sore )\bback\b")


class Outcome(NamedTuple):
    """An event that ends a state."""

    state: str
    who: str
    """The person whose state it was; of the user's own, the subject of the event."""
    said: str
    """The words of the event."""
    rest: str
    """The words behind it that tell of a thing: "the wall" of "the plaster came off the wall"."""


class _State(NamedTuple):
    name: str
    state: re.Pattern[str]
    ended: re.Pattern[str]


def _states() -> Iterator[_State]:
    for name in keys("outlived"):
        if name not in _NO_STATES:
            yield _State(name, *(_pattern(f"outlived.{name}.{way}") for way in ("state", "ended")))


def _pattern(entry: str) -> re.Pattern[str]:
    return regex(rf"(?<![\w'-])(?:{phrases(entry)})(?![\w'-])")


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
    others = {
        name: who for name, who, _ in _of_others(plain, [(one.name, one.state) for one in _STATES])
    }
    return MappingProxyType(others | own)


@lru_cache(maxsize=16_384)
def outcomes(plain: str) -> tuple[Outcome, ...]:
    """Return the events in a clause of a folded text that end states, each with its subject.

    >>> outcomes("the cast came off on monday")
    (Outcome(state='injured', who='user', said='cast came off', rest=''),)
    >>> [one.rest for one in outcomes("the plaster came off the wall")]
    ['the wall']
    """
    return tuple(
        Outcome(one.name, _acting(plain[: found.start()]), found[0], _rest(found))
        for one in _STATES
        if (found := one.ended.search(plain)) and not _is_of_a_thing(found)
    )


@lru_cache(maxsize=16_384)
def outcomes_of_others(plain: str) -> tuple[Outcome, ...]:
    """Return the events in a clause of a folded text that end states, each with whose it was.

    >>> [one[:2] for one in outcomes_of_others("my sister ada is off the crutches")]
    [('injured', 'ada')]
    >>> outcomes_of_others("i had a boy")
    ()
    """
    found = _of_others(plain, [(one.name, one.ended) for one in _STATES])
    return tuple(
        Outcome(name, who, event[0], _rest(event))
        for name, who, event in found
        if not _is_of_a_thing(event)
    )


def _of_others(
    plain: str, wordings: Sequence[tuple[str, re.Pattern[str]]]
) -> Iterator[tuple[str, str, re.Match[str]]]:
    """Yield the wordings that a clause has of third persons, each with the person."""
    for who, told in as_own(plain):
        for name, pattern in wordings:
            if (found := pattern.search(told)) and _is_own(subject(told[: found.start()])):
                yield name, person(who), found


def _acting(before: str) -> str:
    """Return whom or what the words before an event speak of: "files" of "the files were"."""
    told = _AUXILIARIES.sub("", before.rstrip())
    last = told.split()[-1:]
    return last[0].removesuffix("'s") if last and last[0].endswith("'s") else subject(told)


def _rest(found: re.Match[str]) -> str:
    return said_besides(found.string, found.end())


def said_besides(plain: str, end: int) -> str:
    """Return what stands behind an event unless that is a time, a named place, or a clause.

    >>> said_besides("the cast came off on monday", 17), said_besides("it came off the wall", 11)
    ('', 'the wall')
    """
    rest = plain[end:].lstrip()
    rest = _MANNER.sub("", rest, count=1)
    last = plain[:end].split()[-1]
    if _BEHIND.match(rest):
        return ""
    first = rest.split()[0]
    if last in KIN and not (_OF_SOMETHING.match(rest) or (can_be_noun(first) and is_word(first))):
        return ""  # "my wife anna", "my girlfriend hates it"
    named = (_NAMED if last in _BEFORE_NAMES else _PLACED).match(rest)
    known = named and (not is_word(named["name"]) or (last == "with" and named["name"] in KIN))
    return "" if known else rest


def _is_thing(word: str) -> bool:
    return is_word(word) and can_be_noun(word) and not is_quality(word)


def _is_of_a_thing(found: re.Match[str]) -> bool:
    """Return whether a word for a child only tells whose a thing is: "baby clothes arrived"."""
    spoken = found[0].split()
    return any(
        one in _NEWBORN and other not in _PEOPLE and _is_thing(other)
        for one, other in pairwise(spoken)
    )


def _is_own(who: str) -> bool:
    first, *of = who.split()
    return first == _USER and KIN.isdisjoint(of)


def body_parts(plain: str) -> frozenset[str]:
    """Return the parts of the body that a folded text names, or the injuries that it names are in.

    >>> sorted(body_parts("my wrist and ankles")), sorted(body_parts("they gave it back"))
    (['ankle', 'wrist'], [])
    >>> sorted(body_parts("i have a slipped disc"))
    ['back']
    """
    spoken = _BACKWARDS.sub(" ", plain).replace("'s", "").split()
    told = [word.strip(",.") for word in spoken]
    named = {part for word in told if (part := word.removesuffix("s")) in _PARTS}
    return frozenset(named | {_INJURED[word] for word in told if word in _INJURED})
