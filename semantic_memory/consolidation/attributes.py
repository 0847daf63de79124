"""What has one value at a time: home, employer, occupation, age, looks, "the deadline is"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from semantic_memory.consolidation.clauses import (
    content,
    head,
    ordered,
    owner,
    possessor,
    subject,
    verb,
)
from semantic_memory.consolidation.lexicon import (
    COLOURS,
    DIETS,
    HAIR_OF,
    MARITAL,
    MEATS,
    SINGLE_VALUED,
)
from semantic_memory.consolidation.statements import read


class Attribute(NamedTuple):
    """Who, what, which value, and whether it is affirmed."""

    subject: str
    name: str
    value: frozenset[str]
    positive: bool


PLACES = frozenset({"home", "employer"})
"""Attributes whose values are proper names."""

_MOVES = "(?:lives?|living|resides?|residing|based|moved|moving|relocated|relocating|settled)"
_WORKS = "(?:works?|working|employed|joined|joining|(?:new |current )?job|started)"
_PLACES = (
    ("home", True, verb(_MOVES + r"(?: back| out| over| from [\w' ]+?)? (?:in|to|at)")),
    ("home", True, verb("(?:home|place of residence|hometown|city) is(?: in)?")),
    ("employer", True, verb(_WORKS + r"(?: as [\w' ]+?)? (?:at|for|by)")),
    ("employer", True, verb("(?:joined|joins|employer is|company is)")),
    (
        "employer",
        False,
        verb("(?:left|quit|leaving|resigned from|fired from|laid off (?:from|by))"),
    ),
)
_INDEFINITE = re.compile(r"^(?:a|an|my|his|her|their|our|some|this|that|one)\s")
_OCCUPATION = verb(
    "(?:works?|working|employed|job) as",
    "(?:job|occupation|profession|job title) is",
    "became",
    "promoted to",
)
_FAVOURITE = re.compile(
    r"fav(?:ou?rite)? (?P<kind>(?:[\w'-]+ ){0,2}?[\w'-]+?)s? (?:is|are|was|:) (?P<value>.+)"
)
_NOUN_IS = re.compile(
    r"^(?P<who>my|our|the|his|her|their|[\w-]+(?: [\w-]+)?'s) (?P<noun>[\w' -]{2,60}?) "
    r"(?:is|are|was|were|got|has been|have been|will be)(?: now| currently| actually)?"
    r"(?: (?:changed|moved|set|increased|raised|reduced|lowered|extended|postponed|rescheduled"
    r"|adjusted|updated|switched|named|called))?(?: (?:to|at|for|on))? (?P<value>.+)"
)
_AGE = re.compile(
    r"(?:am|is|are|turned|turning) (?:now )?(?P<age>\d{1,3})"
    r"(?: (?:years?|yrs?) old| years? of age|$)"
)
_MARRIED = re.compile(
    rf"\b(?:am|is|are|got|getting|get|now|still)\b[\w ]*\b(?P<state>{'|'.join(sorted(MARITAL))})\b"
)
_DIET = re.compile(
    rf"(?P<denied>\b(?:not|no longer|never)\b(?: \w+){{0,2}} )?\b(?P<diet>{'|'.join(DIETS)})\b"
)
_MEAT = re.compile(rf"\b(?:eats?|eating|loves?|likes?) (?:\w+ )?(?:{'|'.join(MEATS)})\b")
_HAIR = re.compile(r"\bhair\b")
_EYES = re.compile(r"\beyes?\b")
_FEATURES = (("hair colour", _HAIR, _EYES), ("eye colour", _EYES, _HAIR))


def attributes(clause: str, negated: bool) -> Iterator[Attribute]:
    """The attributes that a clause gives a value (or denies it)."""
    for name, positive, pattern in _PLACES:
        if (found := pattern.search(clause)) and not _INDEFINITE.match(found["rest"]):
            value = content(head(found["rest"].removeprefix("the ")))
            who = subject(clause[: found.start("verb")])
            yield Attribute(who, name, value, positive is not negated)
    if found := _OCCUPATION.search(clause):
        who = subject(clause[: found.start("verb")])
        yield Attribute(who, "occupation", content(head(found["rest"])), not negated)
    if found := _FAVOURITE.search(clause):
        name = " ".join(["favourite", *sorted(content(found["kind"]))])
        who = subject(clause[: found.start()])
        yield Attribute(who, name, content(head(found["value"])), not negated)
    elif (found := _NOUN_IS.search(clause)) and not _HAIR.search(clause):
        yield from _named(found, negated)
    yield from _personal(clause, negated)
    yield from _looks(clause, negated)


def _named(found: re.Match[str], negated: bool) -> Iterator[Attribute]:
    """As in "the deadline of the project is May 20": nouns with one value, or any with a figure."""
    noun = ordered(found["noun"].split(" of ")[0].split(" for ")[0])
    if not noun:
        return
    value = read(found["value"])
    measured = value.numbers | value.dates
    single = noun[-1] in SINGLE_VALUED
    if single or (measured and len(value.content) <= 4):
        name = " ".join(sorted(content(found["noun"]))) + ("" if single else " measured")
        which = measured or content(head(found["value"]))
        yield Attribute(owner(found["who"]), name, which, not negated)


def _personal(clause: str, negated: bool) -> Iterator[Attribute]:
    if found := _AGE.search(clause):
        who = subject(clause[: found.start()])
        yield Attribute(who, "age", frozenset({found["age"]}), not negated)
    if found := _MARRIED.search(clause):
        who = subject(clause[: found.start("state")])
        yield Attribute(who, "marital status", frozenset({found["state"]}), not negated)
    if found := _DIET.search(clause):
        diet = frozenset({DIETS[found["diet"]]})
        who = subject(clause[: found.start("diet")])
        yield Attribute(who, "diet", diet, found["denied"] is None)
    if found := _MEAT.search(clause):
        who = subject(clause[: found.start()])
        yield Attribute(who, "diet", frozenset({"meat"}), not negated)


def _looks(clause: str, negated: bool) -> Iterator[Attribute]:
    if COLOURS.isdisjoint(clause.split()):
        return
    who = possessor(clause)
    for name, feature, other in _FEATURES:
        if found := feature.search(clause):
            colour = _colour(clause[: found.start()], clause[found.end() :], other)
            if colour is not None:
                yield Attribute(who, name, frozenset({colour}), not negated)
    if not _HAIR.search(clause):
        for word in clause.split():
            if word in HAIR_OF:
                yield Attribute(who, "hair colour", frozenset({HAIR_OF[word]}), not negated)


def _colour(before: str, after: str, other: re.Pattern[str]) -> str | None:
    """The colour right before a feature, if it isn't the other feature's; else the one after it."""
    near = [word for word in before.split() if word in COLOURS]
    if near and not other.search(before.rsplit(near[-1], 1)[-1]):
        return HAIR_OF.get(near[-1], near[-1])
    following = [word for word in after.split()[:4] if word in COLOURS]
    return HAIR_OF.get(following[0], following[0]) if following else None
