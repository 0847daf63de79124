"""Read how often, when, where, with whom and how something is done: "every other day"."""

from __future__ import annotations

import re
from typing import NamedTuple

from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.renewals import KIN
from semantic_memory.domain.english.tables import phrase_of, phrases, words
from semantic_memory.domain.english.words import is_word
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import stem

_FREQUENCY = regex(rf"(?<![\w'])(?:{phrases('circumstances.frequencies')})(?![\w'])")
_COUNTED = tuple(
    regex(rf"(?<![\w']){one}(?![\w'])")
    for one in phrase_of("circumstances.counted", amount=r"\d+", unit="(?P<thing>[a-z]+)")
)
_DETERMINED = r"(?:the |my |our |a )?"
_TIME = regex(
    rf"\b(?P<said>{one_of(words('circumstances.times.ways'))} {_DETERMINED}(?:early |late )?"
    rf"{one_of(words('circumstances.times.words'))})(?![\w'])"
)
_ALONE = regex(rf"\b(?:{phrases('circumstances.company.alone')})(?![\w'])")
_WITH = regex(r"\bwith (?:my )?(?P<who>[a-z][\w-]*)(?= now| these| instead|$)")
_PLACES = words("circumstances.places.words") | words("homes.venues") | words("homes.places")
_PLACE = regex(
    rf"\b(?P<said>{one_of(words('circumstances.places.ways'))} {_DETERMINED}(?:[\w-]+ )?"
    rf"{one_of(_PLACES)})(?![\w'])"
)
_SERVED = regex(rf"\b(?P<said>{phrases('circumstances.served.ways')})(?![\w'])")
HAD = frozenset(map(stem, words("circumstances.served.had")))
"""Stems of verbs for having a drink."""


class Circumstance(NamedTuple):
    """A circumstance of what somebody does, and what is told without it."""

    kind: str
    """One of often, time, place, company and served."""
    said: str
    rest: str


def frequency(plain: str) -> Circumstance | None:
    """Read how often a folded clause says something is done.

    >>> frequency("i swim every other day")
    Circumstance(kind='often', said='every other day', rest='i swim  ')
    >>> frequency("1 swim a week now").rest.split()
    ['swim', 'now']
    """
    if found := _FREQUENCY.search(plain):
        return _of("often", plain, found)
    for pattern in _COUNTED:
        if found := pattern.search(plain):
            said = found[0].replace(found["thing"], "times")
            rest = f"{plain[: found.start()]} {found['thing']} {plain[found.end() :]}"
            return Circumstance("often", said, rest)
    return None


def circumstances(plain: str) -> tuple[Circumstance, ...]:
    """Read when, where, with whom and how a folded clause says something is done.

    >>> [one[:2] for one in circumstances("i walk the dog before work")]
    [('time', 'before work')]
    >>> [one[:2] for one in circumstances("i run with sven")]
    [('company', 'with sven')]
    """
    told = (
        ("time", _TIME.search(plain)),
        ("company", _ALONE.search(plain) or _company(plain)),
        ("place", _PLACE.search(plain)),
        ("served", _SERVED.search(plain)),
    )
    return tuple(_of(kind, plain, found) for kind, found in told if found)


def _company(plain: str) -> re.Match[str] | None:
    """Find with whom something is done: a name or a relative, no thing."""
    found = _WITH.search(plain)
    return found if found and (found["who"] in KIN or not is_word(found["who"])) else None


def _of(kind: str, plain: str, found: re.Match[str]) -> Circumstance:
    return Circumstance(kind, found[0], f"{plain[: found.start()]} {plain[found.end() :]}")
