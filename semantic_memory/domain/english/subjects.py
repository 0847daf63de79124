"""Find the subject and the verb of a clause in the first person."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from semantic_memory.domain.english.tables import words
from semantic_memory.domain.english.words import (
    MODALS,
    WORD,
    Form,
    forms,
    is_adverb,
    is_quality,
    noun,
)
from semantic_memory.domain.patterns import regex

_SUBJECT = regex(r"(I|we)('(?:m|ve|ll|d|re))?(?![\w'])", re.IGNORECASE)
_NEXT_WORD = regex(r"\s+([\w'-]+)")
_PARTICIPLE = regex(r"\s+(?:not\s+|\w+ly\s+|just\s+|also\s+)?([\w'-]+)")

_NOT = words("negation.adverbs")
_NEGATED_AUXILIARIES = words("negation.auxiliaries")
_BE = words("words.be")
_AUXILIARIES = MODALS | _BE | words("words.have")
_NOW = words("words.now")
_FINITE = MODALS | words("words.finite")

_COMPLEMENTS = words("clauses.complements")
_OUTINGS = words("clauses.outings")
_DROPPED = words("clauses.dropped_subject")
_PARTICLES = words("clauses.particles")
_DESCRIBING = words("clauses.describing")
_CLAUSE_VERBS = words("clauses.clause_verbs")
_OWN_SUBJECTS = words("clauses.own_subjects")
_OBJECTS = frozenset(("the", "my", "our", "a", "an"))
_STATES = words("clauses.states")
_OF_A_TIME = words("clauses.of_a_time")


class Head(NamedTuple):
    """The beginning of a clause in the first person."""

    subject: str
    auxiliary: str
    form: Form | None
    negated: bool
    end: int
    """End of its verb, as an offset."""


def head(clause: str) -> Head | None:
    """Return the subject and verb of a clause that begins with "I" or "we".

    >>> head("I have not lived in Oslo")
    Head(subject='I', auxiliary=' have', form=<Form.PAST: 'past'>, negated=True, end=16)
    """
    subject = _SUBJECT.match(clause)
    if subject is None:
        return None
    auxiliary = subject[2] or ""
    negated = False
    place = subject.end()
    while word := _NEXT_WORD.match(clause, place):
        lowered = word[1].lower()
        if lowered in _NOT or lowered in _NEGATED_AUXILIARIES:
            negated = True
            auxiliary += word[0] if lowered in _NEGATED_AUXILIARIES else ""
        elif lowered in _AUXILIARIES:
            if not _is_auxiliary(lowered, clause, word.end()):
                form = Form.BASE if lowered in _NOW else Form.PAST
                return Head(subject[1], auxiliary, form, negated, word.end())
            auxiliary += word[0]
        elif not is_adverb(lowered):
            return Head(subject[1], auxiliary, _form(lowered), negated, word.end())
        place = word.end()
    return None


def _is_auxiliary(verb: str, clause: str, end: int) -> bool:
    """Return whether the verb that ends there has a participle or an infinitive behind it."""
    following = _PARTICIPLE.match(clause, end)
    participle = following[1].lower() if following else ""
    if verb in _BE:
        wanted = {Form.ING}
    elif verb in MODALS:
        wanted = {Form.PAST, Form.BASE}
    else:
        wanted = {Form.PAST}
    return bool(forms(participle) & wanted) or participle == "been"


def _form(verb: str) -> Form | None:
    known = forms(verb)
    return next((form for form in (Form.ING, Form.PAST, Form.BASE) if form in known), None)


def with_subject(sentence: str) -> str:
    """Return a sentence with the "I" that its writer left out.

    >>> with_subject("Just got a dog"), with_subject("Working on my thesis")
    ('I just got a dog', 'I am working on my thesis')
    >>> with_subject("Married with two kids"), with_subject("Made by hand")
    ('I am married with two kids', 'Made by hand')
    """
    spoken = WORD.findall(sentence)
    place = 0
    while place < len(spoken) and spoken[place].lower() in _PARTICLES:
        place += 1
    if len(spoken) < place + 2 or not sentence[:1].isalpha():
        return sentence
    if [word.lower() for word in spoken[place + 1 : place + 3]] == ["for", "now"]:
        return sentence  # "Tiered for now" says what something is
    left_out = _left_out(spoken, place)
    return f"{left_out} {sentence[:1].lower()}{sentence[1:]}" if left_out else sentence


def _left_out(spoken: list[str], place: int) -> str:
    """Return what is missing before the word at `place`: "I", "I am", "I have" or nothing."""
    first, second = spoken[place].lower(), spoken[place + 1].lower()
    known = forms(first)
    if is_quality(first) and known == {Form.ING} and second == "to":
        return ""  # "exciting to see" is said of what is seen
    if first in _CLAUSE_VERBS and second in _OWN_SUBJECTS:
        return "I"
    if first == "was" and any(Form.ING in forms(word) for word in spoken[1:3]):
        return "I"
    if first == "been":
        return "" if second in _OF_A_TIME else "I have"
    if first in _STATES and second in _COMPLEMENTS:
        return "I am"
    past = known == {Form.PAST} and not _describes(first, second)
    behind = [word for before, word in pairwise(spoken[place:]) if before.lower() not in _OBJECTS]
    finite = has_finite_verb(behind)
    names = noun(second) is not None or (is_quality(second) and not is_adverb(second))
    if past and not finite and names and not is_quality(first) and not first.endswith("n"):
        return "I"  # "started therapy last month"
    if past and (place or (first not in MODALS and second in _COMPLEMENTS | _OUTINGS)):
        return "I"
    if first in _DROPPED and second not in ("the", "your", "every", "it"):
        return "I"
    own = place or second in _COMPLEMENTS or "my" in spoken or (second == "the" and len(spoken) > 3)
    finite = not place and finite
    if known == {Form.ING} and first != "being" and own and "I" not in spoken and not finite:
        return "I am"
    return ""


def _describes(first: str, second: str) -> bool:
    """Return whether the words rather begin a description: "Based on", "Made by"."""
    return second == "by" or first in _DESCRIBING


def has_finite_verb(spoken: list[str]) -> bool:
    """Return whether one of the words is a verb that can only be finite.

    >>> has_finite_verb(["my", "dog", "barks"]), has_finite_verb(["my", "old", "dog"])
    (True, False)
    """
    return any(
        word.lower() in _FINITE or forms(word) in ({Form.THIRD}, {Form.PAST}) for word in spoken
    )
