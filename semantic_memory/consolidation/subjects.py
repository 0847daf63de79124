"""Tell by the words of two clauses if they are about different people or kinds of a thing."""

from __future__ import annotations

import re
from itertools import pairwise

from semantic_memory.domain.english import renewals
from semantic_memory.domain.english.renewals import (
    KIN,
    Clause,
    clauses,
)
from semantic_memory.domain.text import STOP_WORDS, stem

_FOR_OF = re.compile(r"\b(for|of|in) (?=(?:(?:the|my|our|a|an) )?([a-z][\w'-]*))")
_DETERMINERS = frozenset(
    "the a an my our his her their your this that these those new old i we is are was".split()
)
_OWN = frozenset({"i", "me", "my", "we", "us", "our"})
_ARTICLES = frozenset({"the", "my", "our", "his", "her", "their", "a", "an", "for"})
_VERB = re.compile(r"(?:is|are|was|has|have|can|will|=|\w+s)$")


def other_person(a: Clause, b: Clause) -> bool:
    """Return whether the clauses are about different people."""
    owners = [{word for word in one.words if word.endswith("'s")} for one in (a, b)]
    if all(owners) and owners[0].isdisjoint(owners[1]):
        return True
    left, right = kin_of(a), kin_of(b)
    if left and right:
        return left.isdisjoint(right)
    return bool(_led(a, left)) or bool(_led(b, right) and _OWN.isdisjoint(_led(b, right)))


def kin_of(clause: Clause) -> frozenset[str]:
    """Return the words for people in a clause."""
    return frozenset(word.removesuffix("'s") for word in clause.words) & KIN


def owners_of(clause: Clause) -> frozenset[str]:
    """Return the people whose things a clause speaks of: "my brother's flight"."""
    return frozenset(
        owner for word in clause.words if "'" in word and (owner := word.rstrip("'s")) in KIN
    )


def beside_kin(clause: Clause) -> frozenset[str]:
    """Return the stems right behind words for people: "my girlfriend Ines"."""
    spoken = clause.plain.split()
    return frozenset(stem(b) for a, b in pairwise(spoken) if a in KIN)


def about_others(older: str, newer: str) -> bool:
    """Return whether two statements are about different people, or one about earlier days."""
    return any(
        renewals.is_of_the_past(a.plain) or renewals.is_of_the_past(b.plain) or other_person(a, b)
        for a in clauses(older)
        for b in clauses(newer)
    )


def _led(clause: Clause, kin: frozenset[str]) -> list[str]:
    """Return the words behind one of `kin` that the clause has for its subject."""
    spoken = clause.plain.split()
    for place, word in enumerate(spoken[:4]):
        if word.removesuffix("'s") in kin:
            return spoken[place + 1 :]
    return []


def is_turned_round(clause: Clause, other: Clause, topic: frozenset[str]) -> bool:
    """Return whether one says of the user what the other says of someone: "i owe tom"."""
    spoken, others = clause.plain.split(), other.plain.split()
    return (
        spoken[0] in _OWN
        and stem(others[0]) in topic
        and not _OWN.isdisjoint(others[1:])
        and len(topic) > 1
    )


def other_kind(a: Clause, b: Clause, topic: frozenset[str]) -> bool:
    """Return whether both name kinds of a thing: "the night shift", "the day shift"."""
    left, right = _kinds(a, topic), _kinds(b, topic)
    for one in left.keys() & right.keys():
        x, y = left[one], right[one]
        if (
            x
            and y
            and x.isdisjoint(y)
            and x.isdisjoint(b.content | b.words)
            and y.isdisjoint(a.content | a.words)
        ):
            return True
    before, behind = _of(a), _of(b)
    return any(
        before[word] != behind[word]
        and stem(before[word]) not in b.content
        and stem(behind[word]) not in a.content
        for word in ("for", "of", "in")
        if word in before and word in behind
    )


def _kinds(clause: Clause, topic: frozenset[str]) -> dict[str, frozenset[str]]:
    """Return the words before each noun of the topic that say which one is meant."""
    found: dict[str, frozenset[str]] = {}
    spoken = ["", "", *clause.plain.replace("-", " ").split(), ""]
    for opening, one, word, after in zip(spoken, spoken[1:], spoken[2:], spoken[3:], strict=False):
        name = stem(word.removesuffix("'s"))
        if name not in topic or not one.isalpha() or one in _DETERMINERS or stem(one) in STOP_WORDS:
            continue
        if opening in _ARTICLES or (not opening and _VERB.match(after)):
            found[name] = found.get(name, frozenset()) | {stem(one)}
    return found


def _of(clause: Clause) -> dict[str, str]:
    return {
        word: thing
        for word, thing in _FOR_OF.findall(clause.plain)
        if stem(thing) in clause.content and thing not in clause.dates
    }
