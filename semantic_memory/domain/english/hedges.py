"""Recognise how firmly something is said: hedges, opinions, conditions, change."""

from __future__ import annotations

import re

from semantic_memory.domain.english.notation import whole
from semantic_memory.domain.english.tables import phrases
from semantic_memory.domain.patterns import regex

_HEDGE = regex(rf"\b{phrases('hedges.doubt', 'hedges.unsure')}\b", re.IGNORECASE)
# "my doctor thinks I should stop" tells what was advised
_ADVISED = regex(
    r"\b(?:says?|said|thinks?|thought|told me|tells me|advised|recommends?|insists?|suggested)"
    r"(?: that)? (?:I|we) should\b",
    re.IGNORECASE,
)
_OPINION = regex(whole(phrases("hedges.opinion")), re.IGNORECASE)
_EXPLICIT = regex(rf"\b{phrases('hedges.explicit')}\b", re.IGNORECASE)
_CONDITIONAL = regex(rf"\b{phrases('hedges.conditional')}\b", re.IGNORECASE)
_NOT_YET = regex(rf"\b{phrases('hedges.doubt', 'hedges.intended', 'hedges.not_yet')}\b")
# "may" is a month as well: "20 may", "in may"
_MAY = r"(?<!\d )may(?= [a-z])"
_UNREAL = regex(rf"\b(?:{phrases('hedges.doubt', 'hedges.intended', 'hedges.unreal')}|{_MAY})\b")
_CHANGE = regex(rf"\b{phrases('hedges.change')}\b")
_DATE_MOVED = regex(rf"\b{phrases('hedges.date_moved')}\b")


def is_hedged(statement: str) -> bool:
    """Return whether the speaker left a statement open.

    >>> is_hedged("I might move to Oslo"), is_hedged("I moved to Oslo")
    (True, False)
    """
    return _HEDGE.search(_ADVISED.sub(" ", statement)) is not None


def is_opinion(statement: str) -> bool:
    """Return whether a statement is what its speaker thinks or hopes, or is softened.

    >>> is_opinion("I really think the lake is cold"), is_opinion("The lake is cold")
    (True, False)
    """
    return _OPINION.search(statement) is not None


def is_explicit(sentence: str) -> bool:
    """Return whether a sentence asks to be remembered.

    >>> is_explicit("Please note that I'm vegan")
    True
    """
    return _EXPLICIT.search(sentence) is not None


def holds_condition(text: str) -> bool:
    """Return whether a text has a word behind which nothing is stated.

    >>> holds_condition("I wonder whether"), holds_condition("I know")
    (True, False)
    """
    return _CONDITIONAL.search(text) is not None


def is_open(folded: str) -> bool:
    """Return whether a folded text says less than that something is so.

    >>> is_open("i want to move"), is_open("i will move"), is_open("i moved")
    (True, True, False)
    """
    return _NOT_YET.search(folded) is not None


def is_unreal(clause: str) -> bool:
    """Return whether a clause of a folded text is no claim: a wish, a condition, a question.

    >>> is_unreal("i would move"), is_unreal("she may come"), is_unreal("on 20 may it rained")
    (True, True, False)
    """
    return _UNREAL.search(clause) is not None


def tells_change(folded: str) -> bool:
    """Return whether a folded text says that something changed.

    >>> tells_change("i no longer drink tea"), tells_change("i drink tea")
    (True, False)
    """
    return _CHANGE.search(folded) is not None


def moves_a_date(folded: str) -> bool:
    """Return whether a folded text says that a date was moved.

    >>> moves_a_date("the launch was postponed to friday")
    True
    """
    return _DATE_MOVED.search(folded) is not None
