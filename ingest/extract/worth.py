"""Decide whether a statement is worth keeping, and how firmly it was made."""

from __future__ import annotations

from semantic_memory.domain.english import hedges
from semantic_memory.domain.english.fragments import is_clause
from semantic_memory.domain.english.persons import begins_with_person, mentions_speaker
from semantic_memory.domain.english.predications import is_name
from semantic_memory.domain.english.pronouns import dangles
from semantic_memory.domain.english.smalltalk import (
    addresses_the_other,
    has_chatter,
    is_small_talk,
)
from semantic_memory.domain.english.subjects import head
from semantic_memory.domain.english.tables import words
from semantic_memory.domain.english.words import Form

_LASTING_STATES = words("worth.lasting_states")

PLAIN = 0.8
CLEAR = 0.85
EXPLICIT = 0.95
IMPLIED = 0.75
OPINION = 0.7
ADDRESSED = 0.6
HEDGED = 0.5
DANGLING = 0.4


def is_about_the_speaker(statement: str) -> bool:
    """Return True if a statement says something of the person who made it: no small talk."""
    length = len(statement.split())
    own = head(statement) if length == 2 else None  # "I paint" says something, "I went" doesn't
    says_something = own is not None and own.form is Form.BASE
    long_enough = 3 <= length <= 60 or says_something or _is_what_one_is(statement)
    if not long_enough or not mentions_speaker(statement):
        return False
    return not is_small_talk(statement) and not has_chatter(statement)


def _is_what_one_is(statement: str) -> bool:
    """Return True for "I'm vegan", "I'm 34" and "I'm Solveig", which two words say."""
    subject, _, rest = statement.partition(" ")
    if subject.lower() != "i'm":
        return False
    return rest.lower() in _LASTING_STATES or rest.isdigit() or is_name(rest)


def continues(statement: str) -> bool:
    """Return True if a statement goes on about the thing named before it, and is worth it."""
    return (
        3 <= len(statement.split()) <= 25
        and (mentions_speaker(statement) or begins_with_person(statement))
        and dangles(statement)
        and is_clause(statement)
        and not is_hedged(statement)
        and not has_chatter(statement)
    )


def is_hedged(statement: str) -> bool:
    """Return True if its speaker left a statement open, or addressed it to someone."""
    return hedges.is_hedged(statement) or addresses_the_other(statement) or is_small_talk(statement)


def confidence(statement: str, sentence: str, *, clear: bool) -> float:
    """Return how firmly a statement was made, 0 to 1; `clear` if its wording shows its category."""
    if dangles(statement):
        return DANGLING
    if hedges.is_hedged(statement):
        return HEDGED
    if addresses_the_other(statement):
        return ADDRESSED
    if hedges.is_explicit(sentence):
        return EXPLICIT
    if hedges.is_opinion(statement):
        return OPINION
    return CLEAR if clear else PLAIN
