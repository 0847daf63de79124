"""Read a statement as it is compared with others: its clauses, and its cues of a change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, takewhile

from semantic_memory.domain.english import incidents, renewals
from semantic_memory.domain.english.concluded import settled
from semantic_memory.domain.english.facets import facets
from semantic_memory.domain.english.mending import corrections
from semantic_memory.domain.english.names import names
from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.outlived import outcomes, outcomes_of_others
from semantic_memory.domain.english.renewals import (
    ORDINALS,
    Clause,
    Ending,
    bare_endings,
    endings,
    sentences,
)
from semantic_memory.domain.english.restatements import denies_plan, moving
from semantic_memory.domain.english.setters import settings_of, tolerates
from semantic_memory.domain.language import is_english
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import stem

_QUESTION = regex(
    r"(?:(?:how|what|which|where|when|who|why|any|should|have you|how's)\b"
    r"|(?:can|could|do|does|did|will|would|is|are)\b(?! not))"
)
_ASKS_THE_OTHER = regex(r"\b(?:have|had|did|do|are|were|will|would|can|could) you\b.*\?$")
ORDINAL = regex(rf"\b(?:(\d+)(?:st|nd|rd|th)|({one_of(ORDINALS)})) (\w+)")
"""A thing that is counted among its like: "a fourth cat"."""
COUNT = regex(r"(?:(?:and|so|now|i|we|have|own|got|are|keep|up|to) )*\d+ (?P<noun>[a-z]{3,})\b")
"""Things of the speaker's that are counted: "two cats"."""
DENIED = regex(
    r"(?:and |so |but )?"
    r"(?:not(?! (?:just|only|merely|simply|a new)\b)|no longer|instead of|rather than) "
    r"(?:the |a |an |my |at |in |on |by |to |as )*(?P<value>\S+(?: \S+){0,3})$"
)
"""A clause that denies a value: "not reykjavik"."""


@dataclass(frozen=True, slots=True)
class Telling:
    """A statement as it is compared: its clauses, its sentences, and what it says has ended."""

    text: str
    clauses: tuple[Clause, ...]
    sentences: tuple[Clause, ...]
    endings: tuple[Ending, ...]
    played: bool
    names: frozenset[str]
    """Stems of the proper names in it."""

    @property
    def renews(self) -> bool:
        """True if it carries any cue of change, so that older statements are to be looked up."""
        return not self.played and bool(
            self.endings
            or any(
                is_cued(one.plain)
                or renewals.corrects(one.plain)
                or renewals.opens_correction(one.plain)
                or renewals.spells(one.plain)
                or renewals.recants(one.plain)
                or renewals.owns_slip(one.plain)
                or renewals.misnamed(one.plain)
                for one in self.sentences
            )
            or corrections(self.text)
            or any(DENIED.match(one.plain) or renewals.changed(one) for one in self.clauses)
            or any(outcomes(plain) or outcomes_of_others(plain) for plain, _ in self.passages)
            or any(settings_of(one.plain) or tolerates(one.plain) for one in self.sentences)
            or any(settled(one.plain) for one in self.clauses)
            or any(
                any(incidents.disproved(one.plain)) or incidents.resumed(one.plain)
                for one in self.clauses
            )
            or any(facet.moved for one in self.clauses for facet in facets(one))
            or any(ORDINAL.search(one.plain) for one in self.clauses)
            or any(
                renewals.turns_round(one.plain) or denies_plan(one.plain) or moving(one.plain)
                for one in self.clauses
            )
        )

    @property
    def passages(self) -> Iterator[tuple[str, Clause]]:
        """Each clause, and each two sentences in a row, with the clause that begins them."""
        yield from ((one.plain, one) for one in self.clauses)
        yield from ((f"{a.plain} {b.plain}", a) for a, b in pairwise(self.sentences))

    @property
    def kinds(self) -> frozenset[tuple[str, str]]:
        """Facets that it gives a value of, as (facet, subject)."""
        return frozenset(
            (facet.name, facet.subject) for one in self.clauses for facet in facets(one, newly=True)
        )

    def is_repaired(self, clause: Clause) -> bool:
        """Return whether the sentence of a clause says that all is as it was: "..., back now"."""
        return any(
            incidents.is_repaired(tuple(renewals.parts(one)))
            for one in self.sentences
            if clause.plain in one.plain
        )

    def ends_beside(self, clause: Clause) -> bool:
        """Return whether the sentence of a clause tells of an end: "sold the car so I cycle"."""
        return any(
            clause.plain in one.plain and ending.clause.plain in one.plain
            for one in self.sentences
            for ending in self.endings
        )

    @property
    def topics(self) -> list[str]:
        """The words by which older statements on the same are looked up."""
        return [
            word
            for one in self.sentences
            for word in one.plain.split()
            if stem(word) in one.content
        ]


@lru_cache(maxsize=16_384)
def told(text: str) -> Telling:
    """Read a statement up to where it asks for a text to be written.

    One that isn't English has no clause to compare.
    """
    if not is_english(text):
        return Telling(text, (), (), (), played=False, names=frozenset())
    whole = tuple(takewhile(lambda one: not renewals.is_composed(one.plain), sentences(text)))
    told_in = tuple(part for sentence in whole for part in renewals.parts(sentence))
    return Telling(
        text,
        told_in,
        whole,
        tuple(
            one
            for clause in told_in
            if not (
                renewals.claims_nothing(clause.plain)
                or renewals.is_of_the_past(clause.plain)
                or is_question(clause.plain)
            )
            for one in endings(clause)
        )
        + tuple(
            one
            for sentence in whole
            if not (renewals.claims_nothing(sentence.plain) or is_question(sentence.plain))
            for one in bare_endings(sentence)
        ),
        any(renewals.is_played(one.plain) for one in whole),
        frozenset(map(stem, names(text))),
    )


def is_question(plain: str) -> bool:
    """Return whether a folded text asks something.

    >>> is_question("where is it"), is_question("wow have you gone?"), is_question("i sold it?")
    (True, True, False)
    """
    return _QUESTION.match(plain) is not None or _ASKS_THE_OTHER.search(plain) is not None


def makes_claim(plain: str) -> bool:
    """Return whether a folded text says what is so now: no wish, past, plan or question.

    >>> makes_claim("i sold it"), makes_claim("i might sell it"), makes_claim("sold it?")
    (True, False, False)
    """
    return not (
        renewals.claims_nothing(plain)
        or renewals.is_of_the_past(plain)
        or renewals.is_to_come(plain)
        or is_question(plain)
        or plain.endswith("?")
    )


def is_surely_cued(plain: str) -> bool:
    """Return whether a folded text has a cue that says by itself that something changed."""
    return renewals.is_now(plain) or renewals.replaces(plain)


def is_cued(plain: str) -> bool:
    """Return whether a folded text has any cue of a change."""
    return is_surely_cued(plain) or renewals.may_have_changed(plain)


def is_held_back(plain: str) -> bool:
    """Return whether a folded text, cued or not, replaces nothing: a wish, an event, the past."""
    return (
        incidents.is_remedied(plain)
        or incidents.is_failure(plain)
        or renewals.claims_nothing(plain)
        or renewals.is_besides(plain)
        or renewals.is_of_the_past(plain)
        or renewals.is_one_event(plain)
        or renewals.is_to_come(plain)
    )
