"""Tell if a message takes back one that came shortly before: "sorry, I meant the 21st"."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from semantic_memory.consolidation.replacing import LEAST_SHARED, UNITS, Reason, listed, retyped
from semantic_memory.consolidation.subjects import kin_of, other_kind, other_person, other_subject
from semantic_memory.consolidation.telling import DENIED, Telling
from semantic_memory.domain.english import renewals
from semantic_memory.domain.english.calendar import MONTHS, SHORT_MONTHS, WEEKDAYS
from semantic_memory.domain.english.mending import corrections, mended
from semantic_memory.domain.english.numbers import kinds
from semantic_memory.domain.english.renewals import Clause, clause_of
from semantic_memory.domain.english.tables import phrase_list, phrases, words
from semantic_memory.domain.english.words import can_be_noun, is_word
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import STOP_WORDS, stem

_SHORT = 10  # words of a message that only corrects the one before
_LEAST_SPELLED = 0.15
_LEAST_RECANTED = 0.1
_TELLING = 3  # digits of a figure that is hardly another one by chance
_IN_PASSING = frozenset(map(stem, words("mending.in_passing")))
_MEANT = regex(
    rf"(?:(?:and|so|but) )*(?:{phrases('mending.meant')} )+(?P<name>\S+(?: \S+)?)(?: with .+)?$"
)
_OF_THING = regex(
    r"(?:(?:and|so|but|sorry|wait) )*(?:the|my|our) (?P<thing>[a-z][\w-]*(?: [a-z][\w-]*){0,2}?) "
    r"(?:is|are|was|were) \W*\d"
)
_SUMS = words("restatements.grants.sums")
_GIVEN = words("restatements.grants.given")
_CALENDAR = frozenset(stem(one.lower()) for one in (*MONTHS, *SHORT_MONTHS, *WEEKDAYS))
_MEASURED = regex(r"\d[^\s,]* (?P<unit>[a-z]+)")
_FIGURE_FIRST = regex(rf"(?:{phrases('mending.before_figure')},? )*[^\s\w]*\d")
_PARTED = regex(r"\s*[,;:.!?–—]+\s+|\s+(?:and|but|so)\s+")
_HAS_DIGIT = regex(r".*\d").match
# words of which a correction may be made before the value that it gives
_POINTS_BACK = frozenset(words("mending.points_back"))
_ONLY_CORRECT = {
    word
    for name in ("before_figure", "opening", "meant", "in_passing")
    for phrase in phrase_list(f"mending.{name}")
    for word in phrase.split()
} - _POINTS_BACK
_OF_ANOTHER_BEHIND = regex(
    rf"(?:is|are|was|were) (?!{phrases('mending.is_meant')})"
    rf"|{phrases('mending.of_another_behind')}(?![\w'])"
)
_HOURS = frozenset({"am", "pm"})
_AN_HOUR = frozenset({"at", *_HOURS})
_MONEY = frozenset(map(stem, words("mending.money")))
_SPANS = frozenset(one for word in words("numbers.dimensions.time") for one in (word, stem(word)))
_SPELLING = 5  # of one that only spells a word of it anew


def corrected(clause: Clause, new: Telling) -> bool:
    """Return whether the newer statement takes a clause of the older one back."""
    if any(mended(one, [clause.plain]) for one in corrections(new.text)):
        return True
    if any(renewals.corrects(one.plain) for one in new.sentences):
        return any(
            (_typed(clause, one) and _restates(clause, one))
            or (clause.content & one.content)
            or _respelled(clause, one)
            for one in new.sentences
        )
    if not new.sentences:  # "*Leeds"
        return False
    first = new.sentences[0]
    number = len(first.plain.split())
    if number > _SHORT or not renewals.opens_correction(first.plain):
        return False
    anew = number <= _SPELLING or renewals.spells(first.plain)
    retold = _typed(clause, first) and _restates(clause, first)
    retold = retold and not _of_another_topic(clause, first)
    return retold or (anew and _respelled(clause, first)) or _denied(clause, new)


def _restates(clause: Clause, sentence: Clause) -> bool:
    """Return whether a figure or day of a sentence stands for one of the clause.

    It stands alone, behind words that only correct, or what is said of it is said of the clause
    too, or of what a pronoun points back to: "sorry, it starts at 9", not "give me 9 minutes".
    """
    return any(_stands_for_one(clause, part.split()) for part in _PARTED.split(sentence.plain))


def _stands_for_one(clause: Clause, spoken: Sequence[str]) -> bool:
    values = (n for n, word in enumerate(spoken) if _HAS_DIGIT(word) or stem(word) in _CALENDAR)
    place = next(values, None)
    if place is None:
        return False
    told = [word for word in spoken[:place] if word not in _ONLY_CORRECT]
    if told and told[0] not in _POINTS_BACK and not clause.words.issuperset(told):
        return False
    behind = spoken[place + 1 :]
    if _OF_ANOTHER_BEHIND.match(" ".join(behind)):
        return False
    figure = spoken[place]
    return not (behind and _HAS_DIGIT(figure) and _of_another_unit(clause, figure, behind[0]))


def _of_another_topic(clause: Clause, sentence: Clause) -> bool:
    """Return whether a sentence is about something else: "well, I fly on the 4th".

    A figure that comes first is the one that was meant, unless it is that of another thing.
    """
    if kin_of(sentence) and other_person(clause, sentence):
        return True
    if _FIGURE_FIRST.match(sentence.plain):
        return False
    told = sentence.content - _CALENDAR - UNITS - _IN_PASSING
    return bool(told) and told.isdisjoint(clause.content)


def _of_another_unit(clause: Clause, figure: str, unit: str) -> bool:
    """Return whether a figure measures or counts something else: "2 questions", "30 minutes"."""
    if unit in _HOURS:
        return _AN_HOUR.isdisjoint(clause.words)
    if not _is_unit(unit):  # "8:40 from platform 2"
        return False
    measured = _MEASURED.search(clause.plain)
    if measured and _is_unit(measured["unit"]):
        return kinds(measured[0]).isdisjoint(kinds(f"{figure} {unit}"))
    return stem(unit) in _SPANS or stem(unit) not in UNITS | _MONEY | clause.content


def _is_unit(word: str | None) -> bool:
    """Return whether a word behind a figure may say of what it is."""
    if not word or word in STOP_WORDS or stem(word) in _IN_PASSING:
        return False
    return word in _SPANS or can_be_noun(word)


def _denied(clause: Clause, new: Telling) -> bool:
    """Return whether a message begins with "not" and a value, and goes on with another one."""
    found = DENIED.match(new.clauses[0].plain)
    if found is None or len(new.clauses) < 2:
        return False
    values = clause_of(found["value"])
    return bool(values.content) and values.content <= clause.content


def respelled(clause: Clause, new: Telling) -> Reason | None:
    """Find a name spelled anew: "it's Katherine with a K"."""
    for number, part in enumerate(new.clauses):
        if not renewals.spells(part.plain):
            continue
        if renewals.claims_nothing(part.plain) or other_person(clause, part):
            continue
        near = new.clauses[max(0, number - 1) : number + 1]
        spelt = [one for part in near for one in part.stems if not is_word(one)]
        for one in clause.stems:
            if one not in spelt and not is_word(one) and any(_near(one, two) for two in spelt):
                return Reason(f"spelled: {one}", _LEAST_SPELLED)
    return None


def recanted(clause: Clause, new: Telling) -> Reason | None:
    """Find a value that is named and taken back: "I said 12, it's 21", "it's 241, not 214"."""
    for sentence in new.sentences:
        values_told = renewals.recants(sentence.plain)
        names_told = renewals.misnamed(sentence.plain)
        if not (values_told or names_told):
            continue
        if other_person(clause, sentence) or renewals.claims_nothing(sentence.plain):
            continue
        for old in values_told:
            value = clause_of(old)
            values = _figures(value)
            named = values and values <= _figures(clause) and value.content <= clause.content
            if (
                named
                and _typed(clause, sentence)
                and _of_one_sum(clause, sentence, values)
                and not any(_of_another(clause, part) for part in new.clauses)
            ):
                return Reason(f"recanted: {old}", _LEAST_RECANTED)
        for old in names_told:
            content = clause_of(old).content
            if content and content <= clause.content and _gives_another(clause, new, content):
                return Reason(f"recanted: {old}", _LEAST_RECANTED)
    return None


def _figures(clause: Clause) -> frozenset[str]:
    return clause.numbers | clause.dates


def _of_one_sum(clause: Clause, sentence: Clause, values: frozenset[str]) -> bool:
    """Return whether a figure is told apart by its length, its topic, or as a sum that is given."""
    if clause.content & sentence.content:
        return True
    if not _GIVEN.isdisjoint(sentence.words):
        return not _SUMS.isdisjoint(clause.words)
    # "I paid 300 instead of 200" may be of anything
    told = renewals.owns_slip(sentence.plain) or sentence.content <= _IN_PASSING
    return told and any(len(one) >= _TELLING for one in values)


def _of_another(clause: Clause, part: Clause) -> bool:
    """Return whether a figure is that of a thing which a clause doesn't name: "the pin is 4321"."""
    found = _OF_THING.match(part.plain)
    return found is not None and not clause_of(found["thing"]).content <= clause.content


def _gives_another(clause: Clause, new: Telling, wrong: frozenset[str]) -> bool:
    """Return whether a message gives another figure, or another name for one that was wrong.

    "I was wrong about Karen, Tom says" gives none.
    """
    if wrong <= new.names:
        meant = (_MEANT.match(part.plain) for part in new.clauses)
        told = {stem(word) for found in meant if found for word in found["name"].split()}
        return bool(told & new.names - wrong - clause.content)
    return any(retyped(clause, one) for one in new.sentences)


def amended(clause: Clause, new: Telling) -> Reason | None:
    """Find another figure for the same thing in a correction: "my bad, the port is 1195"."""
    if not any(renewals.owns_slip(one.plain) for one in new.sentences):
        return None
    if any(_transposed(clause, one) and not _of_another(clause, one) for one in new.clauses):
        return Reason(f"transposed: {listed(clause.numbers)}", _LEAST_RECANTED)
    for part in new.clauses:
        shared = (clause.content & part.content) - UNITS
        if (
            shared
            and retyped(clause, part)
            and not renewals.claims_nothing(part.plain)
            and not other_person(clause, part)
            and not other_kind(clause, part, shared)
            and not other_subject(clause, part)
            and not _of_another(clause, part)
        ):
            return Reason(f"amended: {listed(shared)}", LEAST_SHARED)
    return None


def _transposed(clause: Clause, sentence: Clause) -> bool:
    """Return whether a sentence gives the digits of a clause's number in another order."""
    return any(
        len(one) >= _TELLING and one != other and sorted(one) == sorted(other)
        for one in clause.numbers
        for other in sentence.numbers
    )


def _near(one: str, other: str) -> bool:
    return min(len(one), len(other)) >= 3 and SequenceMatcher(None, one, other).ratio() >= 0.7


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
