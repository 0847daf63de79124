"""Decide whether a newer statement ends, replaces or corrects an older one, by what both say.

Guards come first: play, quotes, wishes, other people, other times and other kinds of the same thing
renew nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from semantic_memory.consolidation.subjects import (
    beside_kin,
    is_turned_round,
    kin_of,
    other_kind,
    other_person,
    owners_of,
)
from semantic_memory.domain.english import renewals
from semantic_memory.domain.english.facets import NAMED, facets
from semantic_memory.domain.english.lexicon import opposites
from semantic_memory.domain.english.names import names
from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.numbers import kinds
from semantic_memory.domain.english.paraphrases import paraphrases
from semantic_memory.domain.english.renewals import (
    ORDINALS,
    Clause,
    Ending,
    clauses,
    endings,
    sentences,
)
from semantic_memory.domain.language import is_english
from semantic_memory.domain.text import STOP_WORDS, stem

_OWNED = re.compile(r"\b(?:my|our) ([\w-]+)(?: ([\w-]+))?")
_MOST_APART = 3
_BRIEF = 3  # words besides function words that say no more than a figure of a name
_SHORT = 10  # words of a message that only corrects the one before
_SPELLING = 5  # of one that only spells a word of it anew
_LEAST_ENDED = 0.25
_LEAST_SHARED = 0.30
_LEAST_ALIKE = 0.42
_QUESTION = re.compile(
    r"(?:(?:how|what|which|where|when|who|why|any|should|have you|did|will|would|how's)\b"
    r"|(?:can|could|do|does|is|are)\b(?! not))"
)
_NOT = re.compile(
    r"(?:and |so |but )?"
    r"(?:not(?! (?:just|only|merely|simply|a new|an)\b)|no longer|instead of|rather than) "
    r"(?:the |a |an |my |at |in |on |by |to |as )*(?P<value>\S+(?: \S+){0,3})$"
)
_PRONOUN = re.compile(r"(?:it|its|it is|that|that is|they|they are|make that|make it|this)\b")
_PART = re.compile(r"(?:the |my |our )?([\w-]+) of (?:the|my|our) ")
_ORDINAL = re.compile(rf"\b(?:(\d+)(?:st|nd|rd|th)|({one_of(ORDINALS)})) (\w+)")
_FUNCTION = frozenset(map(stem, STOP_WORDS)) | STOP_WORDS | {"i", "now"}
_TIMES = frozenset(map(stem, "morning evening day night early late before after".split()))
# prepositions, which oppose each other in passing: "from the top", "to the flat"
_PLACES = frozenset("from to in into on onto over under above below within toward".split())
_FAVOURITE = stem("favourite")
_NOTHING = Clause("", frozenset(), (), frozenset(), frozenset())


class Renewal(NamedTuple):
    """A clause of a statement that no longer holds, and why."""

    clause: str
    """As it reads folded."""
    reason: str


class Reason(NamedTuple):
    """A reason for which a statement may no longer hold."""

    reason: str
    least: float
    """Cosine of the two statements from which the reason counts."""


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
                _is_cued(one.plain)
                or renewals.corrects(one.plain)
                or renewals.opens_correction(one.plain)
                for one in self.sentences
            )
            or any(
                _NOT.match(one.plain) or next(renewals.changed(one), None) for one in self.clauses
            )
            or any(facet.moved for one in self.clauses for facet in facets(one))
        )

    @property
    def kinds(self) -> frozenset[tuple[str, str]]:
        """Facets that it gives a value of, as (facet, subject)."""
        return frozenset(
            (facet.name, facet.subject) for one in self.clauses for facet in facets(one, newly=True)
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
    """Read a statement. One that isn't English has no clause to compare."""
    if not is_english(text):
        return Telling(text, (), (), (), played=False, names=frozenset())
    parts = clauses(text)
    whole = sentences(text)
    return Telling(
        text,
        parts,
        whole,
        tuple(
            one
            for clause in parts
            if not (renewals.claims_nothing(clause.plain) or _is_question(clause.plain))
            for one in endings(clause)
        ),
        any(renewals.is_played(one.plain) for one in whole),
        frozenset(map(stem, names(text))),
    )


def renewal(
    older: str, newer: str, apart: int | None = None, similarity: float = 1.0
) -> Renewal | None:
    """Return why `newer` makes a clause of `older` untrue; None if it doesn't.

    `apart` is the number of the user's messages from one to the other within a session, if they
    are in one. `similarity` is the cosine of their nearest sentences.
    """
    old, new = told(older), told(newer)
    if old.played or new.played or not new.renews:
        return None
    if not paraphrases(older).isdisjoint(paraphrases(newer)):
        return None
    close = apart is not None and apart <= _MOST_APART
    for clause in dict.fromkeys((*old.clauses, *old.sentences)):
        if not (clause.stems or clause.numbers) or _is_question(clause.plain):
            continue
        lasting = renewals.is_lasting(clause.plain) and not clause.plain.endswith("?")
        for rule in _RULES if lasting else ():
            if (found := rule(clause, new)) and similarity >= found.least:
                return Renewal(clause.plain, found.reason)
        if close and not renewals.is_small(clause.plain) and _corrected(clause, new):
            return Renewal(clause.plain, "corrected")
    return None


def _is_question(plain: str) -> bool:
    return _QUESTION.match(plain) is not None


def _ended(clause: Clause, new: Telling) -> Reason | None:
    if renewals.is_of_the_past(clause.plain):
        return None
    for ending in new.endings:
        shared = ending.stems & clause.content
        if not shared or len(shared) * 2 < len(ending.stems):
            continue
        if ending.head.isdisjoint(shared) and not ending.stems <= clause.content:
            continue
        if ending.whole and not ending.stems <= clause.content:
            continue
        if len(ending.stems) <= 3 and ending.predicate and not ending.stems <= clause.content:
            continue
        if owners_of(ending.clause) - owners_of(clause) - clause.words:
            continue
        named = shared & beside_kin(clause)
        if not (ending.first or named) and other_person(clause, ending.clause):
            continue
        if ending.first and other_kind(clause, ending.clause, shared):
            continue
        return Reason(f"ended: {_list(shared)}", _LEAST_ENDED)
    return None


def _contrasted(clause: Clause, new: Telling) -> Reason | None:
    """Find "selfoss, not reykjavik": a value of the older statement is denied for another."""
    for before, part in pairwise(new.clauses):
        found = _NOT.match(part.plain)
        if found is None or renewals.claims_nothing(part.plain) or renewals.is_small(before.plain):
            continue
        denied = _clause_of(found["value"])
        values = denied.content | denied.numbers | denied.dates
        if (
            values
            and denied.content <= clause.content
            and denied.numbers <= clause.numbers
            and denied.dates <= clause.dates
            and not any(
                other_person(clause, one) for one in new.sentences if part.plain in one.plain
            )
        ):
            return Reason(f"not {_list(values)}", _LEAST_ENDED)
    return None


def _changed(clause: Clause, new: Telling) -> Reason | None:
    """Find "moved the kick-off to friday": something in the older statement has a new value."""
    for part in new.clauses:
        if (
            renewals.claims_nothing(part.plain)
            or renewals.is_besides(part.plain)
            or renewals.is_of_the_past(clause.plain)
        ):
            continue
        for thing in renewals.changed(part):
            if (
                thing <= clause.content
                and not (thing <= new.names and not _retyped(clause, part))
                and clause.content | clause.numbers | clause.dates != thing
                and not other_person(clause, part)
                and not other_kind(clause, part, thing)
            ):
                return Reason(f"changed: {_list(thing)}", _LEAST_SHARED)
    return None


def _replaced(clause: Clause, new: Telling) -> Reason | None:
    """Find another value for what both statements are about, with a cue of change."""
    if renewals.is_of_the_past(clause.plain):
        return None
    for number, sentence in enumerate(new.sentences):
        if renewals.is_small(sentence.plain):
            continue
        parts = [one for one in new.clauses if one.plain in sentence.plain] or [sentence]
        cued = [one for one in parts if _is_cued(one.plain) and not _is_question(one.plain)]
        if cued and not all(_is_held_back(one.plain) for one in cued):
            before = new.sentences[number - 1] if number and _refers_back(sentence) else None
            surely = any(_is_surely_cued(one.plain) for one in cued)
            if reason := _revalued(clause, sentence, before, new.names, surely=surely):
                return reason
    return None


def _refers_back(sentence: Clause) -> bool:
    return _PRONOUN.match(sentence.plain) is not None


def _revalued(
    clause: Clause,
    sentence: Clause,
    before: Clause | None,
    names: frozenset[str],
    *,
    surely: bool,
) -> Reason | None:
    """Return a reason if both are about one thing, and differ in what they say of it.

    `before` is the sentence that the newer one refers back to with "it". Without a sure cue the
    two must differ in figures, say opposites, or be about something of the user's own.
    """
    topic = clause.content & (sentence.content | (before.content if before else frozenset()))
    turned = _turns(clause, sentence)
    typed = _retyped(clause, sentence)
    if not _comparable(clause, sentence, topic):
        return None
    half = _FAVOURITE in topic or 2 * len(topic) >= len(clause.content)
    brief = typed and len(clause.words - STOP_WORDS) <= _BRIEF
    if topic and topic <= names and not (turned or brief):
        return None
    if not typed and _of_another_part(clause, sentence):
        return None
    left = clause.words - sentence.words - STOP_WORDS
    if not (typed or turned or any(stem(word) not in topic for word in left)):
        return None
    if not (topic or turned):
        return _aged(clause, sentence) if typed else None
    owned = topic & _owned(clause) & _owned(sentence)
    reason = f"replaced: {_list(topic)}"
    typed = typed and (surely or half)
    if ((surely and half) or typed or turned or owned) and len(topic) >= 2:
        return Reason(reason, _LEAST_SHARED)
    if typed or turned or (owned and half):
        return Reason(reason, _LEAST_SHARED if topic and (typed or owned) else _LEAST_ALIKE)
    return None


def _comparable(clause: Clause, sentence: Clause, topic: frozenset[str]) -> bool:
    """Return whether both may be about one thing of one person."""
    return not (
        other_person(clause, sentence)
        or other_kind(clause, sentence, topic)
        or is_turned_round(clause, sentence, topic)
        or is_turned_round(sentence, clause, topic)
    )


def _of_another_part(clause: Clause, sentence: Clause) -> bool:
    """Return whether the newer one is about a part of the older one's subject: "the lid of it"."""
    found = _PART.match(sentence.plain)
    return found is not None and stem(found[1]) not in clause.content


def _retyped(clause: Clause, sentence: Clause) -> bool:
    """Return whether the newer one gives figures that the older one, which has some, lacks."""
    figures = clause.numbers | clause.dates
    if not figures or sentence.numbers | sentence.dates <= figures:
        return False
    if clause.dates and sentence.dates:
        return True
    before, after = kinds(clause.plain), kinds(sentence.plain)
    return not before or not after or not before.isdisjoint(after)


def _aged(clause: Clause, sentence: Clause) -> Reason | None:
    """Find another figure for someone: "my son has just turned eight"."""
    same = kin_of(clause) & kin_of(sentence)
    if not same or owners_of(clause) | owners_of(sentence):
        return None
    return Reason(f"replaced: {_list(same)}", _LEAST_ALIKE)


def _turns(clause: Clause, sentence: Clause) -> bool:
    """Return whether one says the opposite of the other about something."""
    own, others = _stems(clause) - _PLACES, _stems(sentence) - _PLACES
    apart = any(opposites(one) & others and not opposites(one) & own for one in own - _TIMES)
    return apart and bool((own & others) - _FUNCTION)


def _owned(clause: Clause) -> frozenset[str]:
    """Return the stems of what the user calls their own: "our landlord"."""
    return frozenset(stem(word) for found in _OWNED.findall(clause.plain) for word in found)


def _is_surely_cued(plain: str) -> bool:
    return renewals.is_now(plain) or renewals.replaces(plain)


def _is_cued(plain: str) -> bool:
    return _is_surely_cued(plain) or renewals.may_have_changed(plain)


def _is_held_back(plain: str) -> bool:
    return (
        renewals.claims_nothing(plain)
        or renewals.is_besides(plain)
        or renewals.is_of_the_past(plain)
        or renewals.is_one_event(plain)
    )


def _counted(clause: Clause, new: Telling) -> Reason | None:
    """Find "a fourth cat" where there were three."""
    for part in new.clauses:
        if renewals.claims_nothing(part.plain):
            continue
        for digits, word, noun in _ORDINAL.findall(part.plain):
            number = digits or ORDINALS[word]
            if str(int(number) - 1) in clause.numbers and stem(noun) in clause.content:
                return Reason(f"counted: {number} {noun}", _LEAST_SHARED)
    return None


def _stems(clause: Clause) -> frozenset[str]:
    return frozenset(map(stem, clause.words))


def _clause_of(text: str) -> Clause:
    return next(iter(clauses(text)), _NOTHING)


def _refaceted(clause: Clause, new: Telling) -> Reason | None:
    """Find another home, employer, role, diet, partner or vehicle of the same person."""
    before = facets(clause)
    if not before or renewals.is_of_the_past(clause.plain) or renewals.claims_nothing(clause.plain):
        return None
    cued = any(_is_cued(one.plain) for one in new.clauses) or bool(new.endings)
    for part in new.clauses:
        if _is_held_back(part.plain) or _is_question(part.plain) or part.plain.endswith("?"):
            continue
        for one in facets(part, newly=True):
            for other in before:
                if (
                    one.name == other.name
                    and one.subject == other.subject
                    and (one.name not in NAMED or _may_be_name(one.value, new))
                    and (cued or one.moved)
                    and one.value.isdisjoint(other.value)
                ):
                    return Reason(
                        f"{one.name}: {_list(other.value)}, then {_list(one.value)}", 0.15
                    )
    return None


def _may_be_name(value: frozenset[str], new: Telling) -> bool:
    """Return whether a value has a capital, or nothing in the statement has."""
    return not value.isdisjoint(new.names) or new.text == new.text.lower()


_RULES = (_ended, _contrasted, _changed, _replaced, _counted, _refaceted)


def _list(values: Iterable[str]) -> str:
    return " ".join(sorted(values))


def _corrected(clause: Clause, new: Telling) -> bool:
    """Find "sorry, I meant the 21st": the newer statement takes the older one back."""
    if any(renewals.corrects(one.plain) for one in new.sentences):
        return any(
            _typed(clause, one) or (clause.content & one.content) or _respelled(clause, one)
            for one in new.sentences
        )
    first = new.sentences[0]
    number = len(first.plain.split())
    if number > _SHORT or not renewals.opens_correction(first.plain):
        return False
    return _typed(clause, first) or (number <= _SPELLING and _respelled(clause, first))


def _typed(clause: Clause, other: Clause) -> bool:
    return bool(
        (clause.numbers and other.numbers and clause.numbers != other.numbers)
        or (clause.dates and other.dates and clause.dates != other.dates)
    )


def _respelled(clause: Clause, sentence: Clause) -> bool:
    """Return whether a word of one is a word of the other in another spelling."""
    return any(
        len(one) >= 4
        and len(other) >= 4
        and one != other
        and SequenceMatcher(None, one, other).ratio() >= 0.75
        for one in clause.stems
        for other in sentence.stems
    )
