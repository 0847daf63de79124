"""Read what a person has one of at a time from loose wordings: home, employer, diet, partner."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from semantic_memory.domain.english.arguments import subject
from semantic_memory.domain.english.calendar import WEEKDAYS
from semantic_memory.domain.english.employers import joins_no_employer
from semantic_memory.domain.english.homes import moves_elsewhere
from semantic_memory.domain.english.notation import any_of, one_of, phrase, spellings
from semantic_memory.domain.english.persons import OTHERS
from semantic_memory.domain.english.renewals import KIN, Clause
from semantic_memory.domain.english.tables import keys, phrase_list, phrase_of, phrases, words
from semantic_memory.domain.english.words import can_be_noun, is_adverb, is_quality, is_word
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import STOP_WORDS, stem, stems

_VALUE = r"[\w'&.-]+(?: (?:of |the )?[\w'&.-]+){0,3}"
_ENDS = regex(
    r"\s(?:and|or|but|with|w|for|since|because|as|now|these|by|to|from|in|on|at|after|before|til|until|so|til|where|which|who|that)\s"
)
_OF_PEOPLE = frozenset({"owner", "holder"})
"""Facets whose values are people."""
_SPEAKER = dict.fromkeys(("i", "me", "mine", "my", "ours", "myself"), "i")
_NO_PERSON = words("facets.roles.no_person")
NAMED = frozenset({"home", "employer", "school"})
"""Facets whose values are proper names."""
_COUNTED = frozenset({"age", "weight", "headcount", "workload"})
"""Facets whose values are numbers."""
_ONE_WORD = frozenset({"diet", "partner", "shift"})
"""Facets of which two values with a word in common are one: "eat meat", "eat meat again"."""
_SOMEONE_NEW = frozenset({"new"})
_RANKED = frozenset({"role"})
"""Facets of which a word for a rank makes another value: "head", "deputy head"."""
_RANKS = frozenset(map(stem, words("facets.roles.ranks")))
_OFFICES = frozenset(map(stem, words("facets.roles.offices")))
_LIVINGS = frozenset(map(stem, words("facets.roles.livings")))
_NO_EMPLOYER = regex(rf".*?\b{phrases('facets.roles.no_employer')}\b")
_LINKS, _BETWEEN = words("facets.roles.links"), words("facets.roles.between")
_STATUSES = frozenset({"single", "engaged", "married", "divorced", "separated", "widowed"})
_OWN_VERB = frozenset({"eat", "eats", "eating", "no"})
_SHIFTS = frozenset(map(stem, words("facets.roles.shifts")))
_GROUPS = words("facets.roles.groups")
_HOUSEHOLDS = words("facets.roles.households")
_PERSON = r"[a-z][\w'.-]*(?: [a-z][\w'.-]*)?"
_OF = r"[\w'&.-]+(?: [\w'&.-]+){0,3}?"
_KIND = one_of(phrase_list("facets.roles.kinds"))
_TITLED = frozenset({"diet", "partner", "role"})
_SIZES = words("facets.roles.no_ages")
_OBJECT_OPENS = frozenset(("my", "the", "our", "his", "her", "their"))
_OF_OTHER_THINGS = frozenset({("split", "to"), ("broke", "to")})
_TITLES_GO_ON = words("facets.roles.behind_titles")
_SLOT = regex(r"\{(value|role|person|number|own|phone)\}")
_SLOTS = {
    "value": _VALUE,
    "person": _PERSON,
    "own": "mine|ours",
    "phone": one_of(words("facets.roles.phones")),
    "number": r"\d{1,3}",
}
_ME = regex(r"\b(?:me|us)\b")
_SHORT_IS = regex(r"'s(?: just| only| already)?$")
_APPOINTED = regex(
    r"^(?:(?:so|and|but|now|btw) )*$|\b(?:am|are|is|as|be|been|me)(?: (?:the|a|an|your))? $"
)
_DWELLING = regex(rf"{phrases('facets.roles.dwellings')}\b")
_NOT_OWN = KIN | OTHERS | {"'s"}
_THEIRS = frozenset({"his", "her", "their", "your"})
_WE = frozenset({"i", "we", "us", "me", "our"})
# an age is followed by nothing that would make it a measure: "is 12 metres"
_AGE_ENDS = rf"(?= {phrases('facets.roles.behind_age')}\b|$)"
_OBJECTS = frozenset({"me", "us", "you", "him", "her", "them"})
_INDEFINITE = regex(r"(?:a|an|this|that|some|any)\s")
_FOR_SOMEONE = regex(r" for (?!myself|me\b|work)")
_LEAD = regex(r"^(?:(?:the|a|an|my|our|now|about)\s)+")


class Facet(NamedTuple):
    """A person's value of something they have one of."""

    name: str
    subject: str
    value: frozenset[str]
    moved: bool
    """True if the wording itself tells of a change."""
    about: frozenset[str] = frozenset()
    """Stems of the thing of which it is a value: "rota" of "kit does the rota"."""

    def differs(self, older: Facet) -> bool:
        """Return whether this is another value of the same thing."""
        if (self.name, self.subject) != (older.name, older.subject):
            return False
        if not (self.about <= older.about or older.about <= self.about):
            return False
        own, others = self.value - older.value, older.value - self.value
        if self.name in _ONE_WORD:
            return own == self.value and others == older.value
        if self.name in _RANKED and self._is_office() and not older._is_office():
            return False  # a nurse who is the treasurer of a club
        if self.name in _RANKED and older._is_living() and not self._is_living():
            return not self._is_office()  # so may a baker be
        if self.name in _RANKED:
            return (own == self.value and others == older.value) or not _RANKS.isdisjoint(
                own | others
            )
        return bool(own and others)

    def _is_office(self) -> bool:
        title = self.value - _RANKS or self.value  # "captain" alone is no rank
        return bool(title) and title <= _OFFICES

    def _is_living(self) -> bool:
        return self._is_office() and not self.value.isdisjoint(_LIVINGS)


class _Wording(NamedTuple):
    name: str
    pattern: re.Pattern[str]
    way: str
    words: frozenset[str] = frozenset()
    """Words one of which a clause needs for the pattern to match; none for any."""


def _written() -> Iterator[_Wording]:
    titles = any_of(*phrase_of("facets.roles.titles"))
    for name in keys("facets"):
        for way in keys(f"facets.{name}") if name != "roles" else ():
            for written in phrase_list(f"facets.{name}.{way}"):
                whole = "{value}" if way == "values" else _SLOT.sub("{value}", written)
                kind = found[1] if (found := _SLOT.search(written)) else "value"
                slot = titles if kind == "role" else _SLOTS[kind]
                value = phrase(written) if way == "values" else slot
                source = phrase(whole, value=value, of=_OF, kind=_KIND)
                ends = _AGE_ENDS if name == "age" else ""
                pattern = regex(rf"(?<![\w']){source}(?![\w']){ends}")
                yield _Wording(name, pattern, way, _needed(written))


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


@cache
def _wordings() -> tuple[_Wording, ...]:
    """Return all wordings, which are written at their first use: most starts read no statement."""
    return tuple(_written())


_DAYS = frozenset(stem(day.lower() + plural) for day in WEEKDAYS for plural in ("", "s"))
_DAYS |= frozenset(map(stem, ("today", "tonight", "tomorrow", "yesterday")))
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
    for name, pattern, way, needed in _wordings():
        if way == ("held" if newly else "newly") or (needed and needed.isdisjoint(clause.words)):
            continue
        match = pattern.search(clause.plain)
        if match and _is_of_another(name, match):
            continue
        before = clause.plain[: match.start()] if match else ""
        if match and (facet := _facet(name, match, before, moved=way == "moves")):
            found.append(facet)
    return tuple(found)


def _is_of_another(name: str, match: re.Match[str]) -> bool:
    """Return whether a wording tells of another kind of move or of whoever works with the user."""
    if name == "home":
        return moves_elsewhere(match[0])
    if name == "role" and match[0].startswith("new "):  # "our new head nurse is strict"
        return _APPOINTED.search(match.string[: match.start()]) is None
    return False


def _facet(name: str, match: re.Match[str], before: str, *, moved: bool) -> Facet | None:
    """Return what a wording gives a value of; None if it doesn't say of which person or thing."""
    parts = match.groupdict()
    about = _about(parts.get("kind") or parts.get("of") or "")
    who = about[-1] if about else _subject(name, match[0], before)
    if {"kind", "of"} & parts.keys() and not about:
        return None
    if name == "holder" and not _NOT_OWN.isdisjoint(before.replace("'s", " 's").split()):
        return None
    if "value" not in parts:  # "we have a new landlord", but not "a new bike for my son"
        other = _FOR_SOMEONE.match(match.string, match.end())
        value = frozenset() if other else _SOMEONE_NEW
    elif name == "shift":
        value = _SHIFTS.intersection(stems(parts["value"]))
    elif name == "station":  # "the second floor"
        value = frozenset(filter(None, stems(_ENDS.split(parts["value"])[0])))
    elif name in _COUNTED:
        value = frozenset({parts["value"]})
    elif name in _OF_PEOPLE:
        value = frozenset(map(_person, parts["value"].split())) - _NO_PERSON
    elif _is_none(name, match):
        return None
    else:
        value = _value(parts["value"])
    if not value or who.split()[0] in OTHERS - {"it"} or (name == "age" and who in _SIZES):
        return None
    return Facet(name, who, value, moved, frozenset(about))


def _is_none(name: str, match: re.Match[str]) -> bool:
    """Return whether a wording names no employer, home or school, or only describes a thing."""
    value = match["value"]
    if name in NAMED and _INDEFINITE.match(value):
        return True
    if name == "employer":
        return joins_no_employer(match.string) or bool(
            _NO_EMPLOYER.match(value + match.string[match.end() :])
        )
    return name in _TITLED and _is_described(name, match)


def _is_described(name: str, match: re.Match[str]) -> bool:
    """Return whether a value only describes a thing: "vegan cheese", "design mode".

    A diet or a status is said of somebody: "went vegan", not "met a vegan friend".
    """
    behind = next(iter(match.string[match.end() :].split()), "")
    if _is_kind_of(behind) or behind in _OBJECT_OPENS:
        return True
    value = match["value"].split()[0]
    if name == "role" or value in _OWN_VERB or not (name == "diet" or value in _STATUSES):
        return name == "partner" and (value, behind) in _OF_OTHER_THINGS
    if behind == "in" and value == "engaged":
        return True
    before = match.string[: match.start()]
    return before.split()[-1:] in (["the"], ["my"], ["our"]) or not is_said_of_somebody(before)


def is_said_of_somebody(before: str) -> bool:
    """Return whether a diet or a status behind these words is said of their subject.

    >>> is_said_of_somebody("i have gone fully "), is_said_of_somebody("i am dating a ")
    (True, False)
    """
    spoken = before.replace(":", "").split()
    while spoken and (
        spoken[-1] in _BETWEEN or is_adverb(spoken[-1]) or (is_quality(spoken[-1]) and spoken[1:])
    ):
        spoken.pop()
    return not spoken or spoken[-1] in _LINKS


def _is_kind_of(word: str) -> bool:
    told = word.strip(",.'")
    return (
        can_be_noun(told) and is_word(told) and not is_quality(told) and told not in _TITLES_GO_ON
    )


def _about(text: str) -> list[str]:
    if text.split(" ")[0] in _OBJECTS:  # "gave me the strength to go on"
        return []
    found = stems(_ENDS.split(_LEAD.sub("", text))[0])
    return [one for one in found if one and one not in _NO_PLACE]


def _subject(name: str, wording: str, before: str) -> str:
    """Return whom a wording speaks of, which stands behind `before` in its clause."""
    if _ME.search(wording):
        return "user"
    if name == "age":  # "my daughter's just turned 12"
        return subject(_SHORT_IS.sub("", before.rstrip())).removeprefix("user ")
    who = subject(before).removeprefix("user ")
    if name in _ONE_WORD:
        spoken = before.split()
        while spoken and spoken[-1] in _LINKS | _BETWEEN - {"my", "our"}:
            spoken.pop()
        return subject(" ".join(spoken)).removeprefix("user ")
    spoken = before.replace("'s", " 's").split()
    # "our team sits on the third floor"; a class that moved is no home of its members
    if who in _GROUPS and (name != "home" or who in _HOUSEHOLDS) and _THEIRS.isdisjoint(spoken):
        return "user"
    if name != "home":  # "my daughter's first payslip from siemens"
        return spoken[-2] if spoken[-1:] == ["'s"] and len(spoken) > 1 else who
    if _DWELLING.match(wording) and _NOT_OWN.isdisjoint(spoken):
        return "user"
    owners = [one for one, mark in pairwise(spoken) if mark == "'s" and one not in STOP_WORDS]
    owners += [one for one in spoken if one in KIN]
    if who == "user" and owners and _WE.isdisjoint(spoken):  # "mia's boxes are at the new flat"
        return owners[0]
    return who


def _person(word: str) -> str:
    return _SPEAKER.get(word, word.removesuffix("'s"))


def _value(text: str) -> frozenset[str]:
    head = _ENDS.split(_LEAD.sub("", text))[0]
    found = (one for one in stems(head) if one not in _NO_PLACE and not one.isdigit())
    return frozenset(found) - _DAYS
