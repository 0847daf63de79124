"""Read claims of one value at a time: home, employer, occupation, age, looks, "the deadline is"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from semantic_memory.consolidation.statements import read
from semantic_memory.domain.english.arguments import (
    content,
    object_of,
    ordered,
    owner,
    possessor,
    subject,
    verb,
)
from semantic_memory.domain.english.employers import joins_no_employer
from semantic_memory.domain.english.facets import is_said_of_somebody
from semantic_memory.domain.english.homes import moves_elsewhere
from semantic_memory.domain.english.lexicon import COLOURS, DIETS, HAIR_OF, SINGLE_VALUED
from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.numbers import kinds
from semantic_memory.domain.english.renewals import is_to_come
from semantic_memory.domain.english.tables import keys, listed, phrase_lists, phrases, words
from semantic_memory.domain.patterns import regex


class Attribute(NamedTuple):
    """A subject, an attribute, its value, and whether the value is affirmed."""

    subject: str
    name: str
    value: frozenset[str]
    positive: bool


class _Wording(NamedTuple):
    """Phrases of a folded text behind which the value of an attribute stands."""

    attribute: str
    pattern: re.Pattern[str]
    positive: bool


def _wordings() -> Iterator[_Wording]:
    for name in keys("attributes"):
        for way in ("begins", "ends"):
            if way in keys(f"attributes.{name}"):
                for source in phrase_lists(f"attributes.{name}.{way}"):
                    yield _Wording(name, verb(source), way == "begins")


NAMED = frozenset(
    name for name in keys("attributes") if listed(f"attributes.{name}.value") == ("name",)
)
"""Attributes whose values are proper names."""

_WORDINGS = tuple(_wordings())
_INDEFINITE = regex(r"^(?:a|an|my|his|her|their|our|some|this|that|one)\s")
_FAVOURITE = regex(
    r"fav(?:ou?rite)? (?P<kind>(?:[\w'-]+ ){0,2}?[\w'-]+?)s? (?:is|are|was|:) (?P<value>.+)"
)
# "the deadline of the project has been moved to May 20"
_OWNER = r"(?P<who>my|our|the|his|her|their|[\w-]+(?: [\w-]+)?'s)"
_IS = rf"{phrases('noun_values.verbs')}(?: {phrases('noun_values.adverbs')})?"
_SET_TO = rf"(?: {phrases('noun_values.changes')})?(?: (?:to|at|for|on))?"
_NOUN_IS = regex(rf"^{_OWNER} (?P<noun>[\w' -]{{2,60}}?) {_IS}{_SET_TO} (?P<value>.+)")
_AGE = regex(
    r"(?:am|is|are|turned|turning) (?:now )?(?P<age>\d{1,3})"
    r"(?: (?:years?|yrs?) old| years? of age|$)"
)
_MARRIED = regex(
    r"\b(?:am|is|are|got|getting|get|now|still)\b[\w ]*"
    rf"\b(?P<state>{one_of(words('lexicon.marital'))})\b"
)
_DIET = regex(
    rf"(?P<denied>\b(?:not|no longer|never)\b(?: \w+){{0,2}} )?\b(?P<diet>{one_of(DIETS)})\b"
)
_MEAT = regex(rf"\b(?:eats?|eating|loves?|likes?) (?:\w+ )?{phrases('lexicon.meats')}\b")
_HAIR = regex(r"\bhair\b")
_EYES = regex(r"\beyes?\b")
_FEATURES = (("hair colour", _HAIR, _EYES), ("eye colour", _EYES, _HAIR))


def attributes(clause: str, negated: bool) -> Iterator[Attribute]:
    """Yield the attributes that a clause of a folded text gives a value, or denies it."""
    for name, pattern, positive in _WORDINGS if not is_to_come(clause) else ():
        if (found := pattern.search(clause)) and not (
            (name in NAMED and _INDEFINITE.match(found["rest"]))
            or (name == "home" and moves_elsewhere(found[0]))
            or (name == "employer" and joins_no_employer(clause))
        ):
            value = content(object_of(found["rest"].removeprefix("the ")))
            who = subject(clause[: found.start("verb")])
            yield Attribute(who, name, value, positive is not negated)
    if found := _FAVOURITE.search(clause):
        name = " ".join(["favourite", *sorted(content(found["kind"]))])
        who = subject(clause[: found.start()])
        yield Attribute(who, name, content(object_of(found["value"])), not negated)
    elif (found := _NOUN_IS.search(clause)) and not _HAIR.search(clause):
        yield from _named(found, negated)
    yield from _personal(clause, negated)
    yield from _looks(clause, negated)


def _named(found: re.Match[str], negated: bool) -> Iterator[Attribute]:
    """Read "the deadline of the project is May 20": nouns with one value, or any with a figure."""
    noun = ordered(found["noun"].split(" of ")[0].split(" for ")[0])
    if not noun:
        return
    value = read(found["value"])
    measured = value.numbers | value.dates
    single = noun[-1] in SINGLE_VALUED
    if single or (measured and len(value.content) <= 4):
        name = " ".join(sorted(content(found["noun"])))
        if not single:
            name = " ".join([name, "measured", *sorted(kinds(found["value"]))])
        which = measured or content(object_of(found["value"]))
        yield Attribute(owner(found["who"]), name, which, not negated)


def _personal(clause: str, negated: bool) -> Iterator[Attribute]:
    if found := _AGE.search(clause):
        who = subject(clause[: found.start()])
        yield Attribute(who, "age", frozenset({found["age"]}), not negated)
    if found := _MARRIED.search(clause):
        who = subject(clause[: found.start("state")])
        yield Attribute(who, "marital status", frozenset({found["state"]}), not negated)
    if (found := _DIET.search(clause)) and is_said_of_somebody(clause[: found.start()]):
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
    """Return the colour before a feature, unless it is the other one's; else the one behind it."""
    near = [word for word in before.split() if word in COLOURS]
    if near and not other.search(before.rsplit(near[-1], 1)[-1]):
        return HAIR_OF.get(near[-1], near[-1])
    following = [word for word in after.split()[:4] if word in COLOURS]
    return HAIR_OF.get(following[0], following[0]) if following else None
