"""Find the subject and the verb of a clause in the first person."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from semantic_memory.domain.english.predications import is_name
from semantic_memory.domain.english.tables import words
from semantic_memory.domain.english.words import (
    MODALS,
    WORD,
    Form,
    can_be_noun,
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
_NOT_TOLD = words("clauses.not_told")
_PLACING = words("clauses.placing")
_ACTS = words("clauses.acts")
_DOINGS = words("clauses.doings")
_UNDERGONE = words("clauses.undergone")
_NO_OBJECTS = words("clauses.no_objects")
_PREPOSITIONS = words("predications.prepositions")
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
    >>> with_subject("Hired Sunniva, two days a week"), with_subject("Not eating meat")
    ('I hired Sunniva, two days a week', 'I am not eating meat')
    >>> with_subject("Ditched Linear for plain issues"), with_subject("Diagnosed in 2009")
    ('I ditched Linear for plain issues', 'I was diagnosed in 2009')
    """
    spoken = WORD.findall(sentence)
    place = 0
    while place < len(spoken) and spoken[place].lower() in _PARTICLES:
        place += 1
    if len(spoken) < place + 2 or not sentence[:1].isalpha():
        return sentence
    if spoken[place].lower() == "provided" and "," in sentence:
        return sentence  # a condition
    if [word.lower() for word in spoken[place + 1 : place + 3]] == ["for", "now"]:
        return sentence  # "Tiered for now" says what something is
    opening = _Opening(spoken, place, len(WORD.findall(sentence.partition(",")[0])))
    left_out = opening.left_out()
    return f"{left_out} {sentence[:1].lower()}{sentence[1:]}" if left_out else sentence


class _Opening:
    """The words of a sentence, whose first verb may stand at `place`.

    `comma` is the number of words before the first comma.
    """

    def __init__(self, spoken: list[str], place: int, comma: int) -> None:
        self._spoken = spoken
        self._place = place
        self._comma = comma
        self._first, self._second = spoken[place].lower(), spoken[place + 1].lower()
        self._forms = forms(self._first)

    def left_out(self) -> str:
        """Return what is missing before the verb: "I", "I am", "I have" or nothing."""
        first, second = self._first, self._second
        if first == "been":
            return "" if second in _OF_A_TIME else "I have"
        if self._is_remark():
            return ""
        if first in _UNDERGONE and second in _PREPOSITIONS:
            return "I was"
        if first in _STATES and second in _COMPLEMENTS:
            return "I am"
        if first in _ACTS and self._is_done_to():
            return "I"
        if self._is_finite():
            return "I"
        return "I am" if self._is_going_on() else ""

    def _is_remark(self) -> bool:
        if self._spoken[0].lower() == "not":
            return self._forms != {Form.ING} or self._first in _NOT_TOLD
        # "exciting to see" is said of what is seen
        return is_quality(self._first) and self._forms == {Form.ING} and self._second == "to"

    def _is_finite(self) -> bool:
        first, second = self._first, self._second
        if first in _CLAUSE_VERBS and second in _OWN_SUBJECTS:
            return True
        if first == "was" and any(Form.ING in forms(word) for word in self._spoken[1:3]):
            return True
        if first in _DROPPED and second not in ("the", "your", "every", "it"):
            return True
        if self._forms != {Form.PAST} or second == "by" or first in _DESCRIBING:
            return False  # "Made by hand", "Based on"
        if self._place or (first not in MODALS and second in _COMPLEMENTS | _OUTINGS):
            return True
        may_describe = is_quality(first) or first.endswith("n")
        return self._has_object() and not may_describe and not self._has_another_verb()

    def _is_done_to(self) -> bool:
        """Return True for an object behind a verb that hardly describes one: "ditched Linear"."""
        named, second = self._spoken[self._place + 1], self._second
        if second in _NO_OBJECTS:
            return False
        is_object = second in _COMPLEMENTS or can_be_noun(second) or named[:1].isupper()
        return (is_object or second.isdigit() or named[:1].isdigit()) and not has_finite_verb(
            word
            for word in self._spoken[self._place + 2 : self._comma]
            if word.islower() and word not in _DESCRIBING and not can_be_noun(word)
        )

    def _has_object(self) -> bool:
        """Return True for "started therapy", "hired Sunniva", "upgraded prod to 16"."""
        named, second = self._spoken[self._place + 1], self._second
        behind = self._spoken[self._place + 2 : self._place + 3]
        return (
            noun(second) is not None
            or (is_quality(second) and not is_adverb(second))
            or is_name(named)
            or (named[-1:].isdigit() and not named.isdigit())
            or (can_be_noun(second) and not _PLACING.isdisjoint(behind))
        )

    def _is_going_on(self) -> bool:
        """Return True for "Working on my thesis"."""
        if self._forms != {Form.ING} or self._first == "being":
            return False
        if "I" in self._spoken[: self._comma]:
            return False
        if self._first in _DOINGS and can_be_noun(self._second):
            return self._is_done_to()
        if "I" in self._spoken:
            return False
        if self._place:
            return True
        second = self._second
        has_object = (
            second in _COMPLEMENTS
            or second.isdigit()
            or "my" in self._spoken
            or (second == "the" and len(self._spoken) > 3)
        )
        return has_object and not self._has_another_verb()

    def _has_another_verb(self) -> bool:
        """Return True if a verb behind the first one is finite.

        Behind a comma, a word that can be a noun isn't taken for a verb.
        """
        return has_finite_verb(
            word
            for at, word in enumerate(self._spoken)
            if at > self._place
            and self._spoken[at - 1].lower() not in _OBJECTS
            and (at < self._comma or not can_be_noun(word))
        )


def has_finite_verb(spoken: Iterable[str]) -> bool:
    """Return whether one of the words is a verb that can only be finite.

    >>> has_finite_verb(["my", "dog", "barks"]), has_finite_verb(["my", "old", "dog"])
    (True, False)
    """
    return any(
        word.lower() in _FINITE or forms(word) in ({Form.THIRD}, {Form.PAST}) for word in spoken
    )
