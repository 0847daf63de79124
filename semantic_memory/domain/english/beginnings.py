"""Read the event with which something began as what has held since: "I joined the choir"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from semantic_memory.domain.english.homes import moves_elsewhere
from semantic_memory.domain.english.renewals import Clause, clause_of
from semantic_memory.domain.english.tables import keys, phrase_of, phrases
from semantic_memory.domain.patterns import regex

_X = r"\S.*"
_THING = r"(?!(?:his|her|their|your|him|them|me|us|you|it|over|back)\b)[\w'-]+(?: [\w'-]+){0,3}?"
_BETWEEN = rf"(?: {phrases('beginnings.between')})*"
_WHEN = regex(rf" (?:{phrases('beginnings.when')})\b.*$")
_FOR_SOMEONE = regex(
    r"(?<!signed up)(?<!enrolled)(?<!diagnosed)(?<!moved in) (?:for|with) (?!a (?:job|place)\b).*$"
)
_MOST = 3  # states that one event may have begun


class _Beginning(NamedTuple):
    state: str
    pattern: re.Pattern[str]


@cache
def _beginnings() -> tuple[_Beginning, ...]:
    return tuple(
        _Beginning(state, regex(rf"{_BETWEEN}(?<![\w']){source}$"))
        for state in keys("beginnings.states")
        for source in phrase_of(f"beginnings.states.{state}", x=_X, thing=_THING)
    )


@lru_cache(maxsize=16_384)
def states(clause: Clause) -> tuple[Clause, ...]:
    """Return what a clause says has held since an event, as clauses; none if it tells of none.

    >>> from semantic_memory.domain.english.renewals import clauses
    >>> [one.plain for one in states(clauses("I joined the choir last week")[0])]
    ['i are in the choir']
    """
    return tuple(_states(clause.plain))[:_MOST]


def _states(plain: str) -> Iterator[Clause]:
    told = _FOR_SOMEONE.sub("", _WHEN.sub("", plain))
    for state, pattern in _beginnings():
        found = pattern.search(told)
        if found and not (state.startswith("live") and moves_elsewhere(told)):
            # of a thing, it doesn't matter who did it: "they raised my rent"
            who = "" if state.startswith("my ") else told[: found.start()].strip()
            yield clause_of(f"{who} {state.format(**found.groupdict())}".strip())
