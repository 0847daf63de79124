"""Read what a person has one of at a time from loose wordings: home, employer, diet, partner."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from semantic_memory.domain.english.arguments import subject
from semantic_memory.domain.english.notation import any_of, phrase, spellings
from semantic_memory.domain.english.persons import OTHERS
from semantic_memory.domain.english.renewals import Clause
from semantic_memory.domain.english.tables import keys, phrase_list, phrase_of, words
from semantic_memory.domain.text import stems

_VALUE = r"[\w'&.-]+(?: (?:of |the )?[\w'&.-]+){0,3}"
_ENDS = re.compile(
    r"\s(?:and|or|but|with|w|for|since|because|as|now|these|by|to|from|in|on|at|after|before|til|until|so|til|where|which|who|that)\s"
)
NAMED = frozenset({"home", "employer"})
"""Facets whose values are proper names."""
_INDEFINITE = re.compile(r"(?:a|an|this|that|some|any)\s")
_LEAD = re.compile(r"^(?:(?:the|a|an|my|our|now|about)\s)+")


class Facet(NamedTuple):
    """A person's value of something they have one of."""

    name: str
    subject: str
    value: frozenset[str]
    moved: bool
    """True if the wording itself tells of a change."""


class _Wording(NamedTuple):
    name: str
    pattern: re.Pattern[str]
    moved: bool
    newly: bool = False
    words: frozenset[str] = frozenset()
    """Words one of which a clause needs for the pattern to match; none for any."""


def _wordings() -> Iterator[_Wording]:
    titles = any_of(*phrase_of("facets.roles.titles"))
    for name in keys("facets"):
        for way in keys(f"facets.{name}") if name != "roles" else ():
            for written in phrase_list(f"facets.{name}.{way}"):
                whole = "{value}" if way == "values" else written.replace("{role}", "{value}")
                slot = titles if "{role}" in written else _VALUE
                source = phrase(whole, value=phrase(written) if way == "values" else slot)
                pattern = re.compile(rf"(?<![\w']){source}(?![\w'])")
                yield _Wording(name, pattern, way == "moves", way == "newly", _needed(written))


def _needed(written: str) -> frozenset[str]:
    """Return the words with which a phrase may begin, or end where it begins with its value."""
    found = set()
    for spelling in spellings(written):
        spoken = spelling.split()
        word = spoken[-1] if spoken[0].startswith("{") else spoken[0]
        if not word[0].isalpha() or not word[-1].isalnum() or "-" in word:
            return frozenset()
        found.add(word)
    return frozenset(found)


_WORDINGS = tuple(_wordings())
_NO_PLACE = words("renewals.heads.vague") | frozenset(
    {"love", "trouble", "charge", "contact", "touch", "pain", "person", "charg"}
)


@lru_cache(maxsize=16_384)
def facets(clause: Clause, *, newly: bool = False) -> tuple[Facet, ...]:
    """Return the facets of a clause; with `newly`, of a statement that tells of a change.

    >>> from semantic_memory.domain.english.renewals import clauses
    >>> [(one.name, sorted(one.value)) for one in facets(clauses("We moved to Oslo in May")[0])]
    [('home', ['oslo'])]
    """
    found = []
    for name, pattern, moved, only_newly, needed in _WORDINGS:
        if (only_newly and not newly) or (needed and needed.isdisjoint(clause.words)):
            continue
        if match := pattern.search(clause.plain):
            named = name not in NAMED or not _INDEFINITE.match(match["value"])
            value = _value(match["value"]) if named else None
            who = subject(clause.plain[: match.start()])
            if value and who.split()[0] not in OTHERS - {"it"}:
                found.append(Facet(name, who, value, moved))
    return tuple(found)


def _value(text: str) -> frozenset[str]:
    head = _ENDS.split(_LEAD.sub("", text))[0]
    return frozenset(one for one in stems(head) if one not in _NO_PLACE and not one.isdigit())
