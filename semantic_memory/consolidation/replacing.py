"""Find another value for what two statements are about: "the rent went up to 950"."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, takewhile
from typing import NamedTuple

from semantic_memory.consolidation.passing import gives_another_aspect, measures_only
from semantic_memory.consolidation.subjects import (
    is_former,
    is_of_another_owner,
    is_of_its_owner,
    is_turned_round,
    kin_of,
    other_kind,
    other_number,
    other_person,
    other_subject,
    owners_of,
    same_frame,
)
from semantic_memory.consolidation.telling import (
    Telling,
    is_cued,
    is_held_back,
    is_question,
    is_surely_cued,
)
from semantic_memory.domain.english import renewals
from semantic_memory.domain.english.arguments import subject
from semantic_memory.domain.english.lexicon import opposites
from semantic_memory.domain.english.numbers import kinds
from semantic_memory.domain.english.renewals import KIN, Clause
from semantic_memory.domain.english.tables import keys, words
from semantic_memory.domain.english.words import Form, forms, is_quality
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import STOP_WORDS, stem

LEAST_SHARED = 0.30
_LEAST_ALIKE = 0.42
_BRIEF = 3  # words besides function words that say no more than a figure of a name
_OWNED = regex(r"\b(?:my|our) ([\w-]+)(?: ([\w-]+))?")
_OWN_LEADS = regex(
    r"(?:(?:and|so|but|well|also|finally|actually|turns out|i have|we have|got) )*"
    r"(?:my|our|the) ([\w-]+)(?: ([\w-]+))?(?: ([\w-]+))?"
)
_PRONOUN = regex(r"(?:it|its|it is|that|that is|they|they are|make that|make it|this)\b")
_PART = regex(r"(?:the |my |our )?([\w-]+) of (?:the|my|our) ")
_FUNCTION = frozenset(map(stem, STOP_WORDS)) | STOP_WORDS | {"i", "now"}
_TIMES = frozenset(map(stem, "morning evening day night early late before after".split()))
# prepositions, which oppose each other in passing: "from the top", "to the flat"
_PLACES = frozenset("from to in into on onto over under above below within toward".split())
_PARTICLES = frozenset("up down out off on in home back away over through around".split())
_FAVOURITE = stem("favourite")
_MOVES = frozenset({stem("move")})
_DOES = regex(r"^(?:and |so |but )?(?:i|we) (?!am|are|have|had|will)")
# "is the 12th now", but not "is the 12th floor"
_DAY_OF_MONTH = regex(
    r"\b(?:on|is|are|to|for|until|till|by) (?:the )?\d{1,2}(?:st|nd|rd|th)"
    r"(?= (?:now|instead|at|this|of|because|after|as|then|not)\b|[,;.]|$)"
)
_OF_KIND = regex(r"(?:the|our|my) ([a-z]+)$")
_DETERMINERS = frozenset("the a an my our his her its their this that new".split())
_SELF = frozenset({"i", "we"})
_SENDS = regex(r"\b(?:my|our) ([a-z]+) (?:to|onto|into|up to|down to)\b")
_THE_THING = regex(r"\b(?:the|my|our) ([\w-]+)")
_RATE = regex(r" (?:a|an|per|each|every) [a-z]+")
_BEGUN = regex(r"(?:the )?([\w-]+) (?:is|are|=) ")
UNITS = frozenset(
    found
    for name in keys("numbers.dimensions")
    for word in words(f"numbers.dimensions.{name}")
    for found in (word, stem(word))
)
"""Units of measures, and their stems."""
_SPANS = frozenset(map(stem, words("numbers.dimensions.time"))) | {"time"}


class Reason(NamedTuple):
    """A reason for which a statement may no longer hold."""

    reason: str
    least: float
    """Cosine of the two statements from which the reason counts."""


def replaced(clause: Clause, new: Telling) -> Reason | None:
    """Find another value for what both statements are about, with a cue of change."""
    if renewals.is_of_the_past(clause.plain):
        return None
    for number, sentence in enumerate(new.sentences):
        if renewals.is_small(sentence.plain):
            continue
        parts = [one for one in new.clauses if one.plain in sentence.plain] or [sentence]
        cued = [one for one in parts if is_cued(one.plain) and not is_question(one.plain)]
        if not cued and is_surely_cued(sentence.plain):  # "so there are 26 of them"
            cued = [sentence]
        if cued and not all(is_held_back(one.plain) for one in cued):
            before = new.sentences[number - 1] if number and _refers_back(sentence) else None
            for told in dict.fromkeys((sentence, *cued)):
                surely = any(is_surely_cued(one.plain) for one in cued)
                pair = _Pair(clause, told, before, surely)
                if _moves_another(clause, told, cued):
                    continue
                if pair.concerns_one_thing(new.names) and (reason := pair.reason()):
                    return reason
    return None


def _moves_another(clause: Clause, told: Clause, cued: Iterable[Clause]) -> bool:
    """Return whether they share a move alone: "I moved to Oslo", "the class moved to Friday"."""
    shared = clause.content & told.content
    things = [thing for one in (told, *cued) for thing in renewals.changed(one)]
    return bool(things) and shared == _MOVES and all(map(clause.content.isdisjoint, things))


def listed(values: Iterable[str]) -> str:
    """Return words in order, as a reason gives them."""
    return " ".join(sorted(values))


@dataclass(frozen=True)
class _Pair:
    """A clause and a newer sentence, which may give another value for the same thing."""

    clause: Clause
    sentence: Clause
    before: Clause | None
    """The sentence that the newer one refers back to with "it"."""
    surely: bool
    """True if the newer one says by itself that something changed."""

    @cached_property
    def topic(self) -> frozenset[str]:
        """Stems that both share."""
        content = self.sentence.content
        both = self.clause.content & (content | self.before.content if self.before else content)
        return both - UNITS if self.typed else both

    @cached_property
    def turned(self) -> bool:
        """True if one says the opposite of the other about something."""
        own, others = _stems(self.clause) - _PLACES, _stems(self.sentence) - _PLACES
        apart = any(opposites(one) & others and not opposites(one) & own for one in own - _TIMES)
        shared = (own & others) - _FUNCTION
        # a verb alone is shared by statements on anything: "make an impact", "making games"
        brief = len(self.clause.content) <= _BRIEF
        return apart and bool(self.topic & shared or (shared and brief))

    @cached_property
    def typed(self) -> bool:
        """True if the newer one gives other figures of the same kind."""
        return retyped(self.clause, self.sentence)

    @property
    def _half(self) -> bool:
        """True if both share half of what the older one is about, or a favourite."""
        return _FAVOURITE in self.topic or 2 * len(self.topic) >= len(self.clause.content)

    def concerns_one_thing(self, names: frozenset[str]) -> bool:
        """Return whether both are about one thing of one person, and differ in what they say.

        `names` are the proper names of the newer statement: one that both share isn't enough.
        """
        clause, sentence, topic = self.clause, self.sentence, self.topic
        if same_frame(clause.plain, sentence.plain):
            return self.surely and not other_person(clause, sentence)
        if (
            other_person(clause, sentence)
            or other_subject(clause, sentence)
            or other_kind(clause, sentence, topic)
            or other_number(clause, sentence, topic)
            or is_turned_round(clause, sentence, topic)
            or is_turned_round(sentence, clause, topic)
            or measures_only(clause, sentence)
            or _is_of_kin(clause, sentence)
            or is_of_another_owner(sentence, clause, topic)
            or is_of_its_owner(sentence, topic)
            or is_former(sentence.plain, clause, topic)
        ):
            return False
        spoken = clause.words - STOP_WORDS
        brief = self.typed and len(spoken) <= _BRIEF
        if topic and topic <= names - _determined(clause) and not (self.turned or brief):
            return False
        if self.typed:
            return not self._does_another_thing()
        left = spoken - sentence.words
        differ = self.turned or any(stem(word) not in topic for word in left)
        return differ and not _of_another_part(clause, sentence)

    def _does_another_thing(self) -> bool:
        """Return whether both share a verb alone: "I play tennis", "I play chess"."""
        if len(self.topic) == 1 and _is_done_by_a_thing(self.clause, self.sentence, self.topic):
            return True
        spoken = {word for word in self.clause.words if stem(word) in self.topic}
        if len(self.topic) != 1 or not any(Form.BASE in forms(word) for word in spoken):
            return False
        return _DOES.search(self.clause.plain) is not None and all(
            one.content - self.topic for one in (self.clause, self.sentence)
        )

    def reason(self) -> Reason | None:
        """Return the reason for which the older one may not hold.

        Without a sure cue the two must differ in figures, say opposites, or be about something of
        the user's own.
        """
        if same_frame(self.clause.plain, self.sentence.plain):
            return Reason(f"replaced: {listed(self.topic)}", LEAST_SHARED)
        if not (self.topic or self.turned):
            return self._aged() or self._measured() if self.typed else None
        spoken = _owned(self.sentence) | _begun(self.sentence)
        owned = bool(self.topic & _owned(self.clause) & spoken)
        if owned and not self.surely:  # "my passion", "our community" may stand in any statement
            owned = bool(self.topic & (_leading(self.clause) | _leading(self.sentence)))
        figured = self.typed and (self.surely or self._half)
        if not (figured or self.turned) and gives_another_aspect(self.clause, self.sentence):
            return None
        found = f"replaced: {listed(self.topic)}"
        if figured or self.turned or (owned and self._half):
            near = len(self.topic) >= 2 or (self.topic and (figured or owned))
            return Reason(found, LEAST_SHARED if near else _LEAST_ALIKE)
        if len(self.topic) >= 2 and (owned or (self.surely and self._half)):
            return Reason(found, LEAST_SHARED)
        return None

    def _measured(self) -> Reason | None:
        """Find another figure for a common verb: "I run 20 km", then "I run 30 km now"."""
        same = _stems(self.clause) & _stems(self.sentence)
        same -= _FUNCTION | UNITS | _SPANS | self.clause.numbers | self.clause.dates
        same = frozenset(one for one in same if not one[0].isdigit())
        if not (same and self.surely and self.clause.numbers and self.sentence.numbers):
            return None
        if _is_done_by_a_thing(self.clause, self.sentence, same):
            return None
        if is_of_another_owner(self.sentence, self.clause, same):
            return None
        ways = [_behind(one, same) for one in (self.clause, self.sentence)]
        if all(ways) and ways[0] != ways[1]:
            return None  # "I get home at 6", "I get up at 7 now"
        return Reason(f"replaced: {listed(same)}", _LEAST_ALIKE)

    def _aged(self) -> Reason | None:
        """Find another figure for someone: "my son has just turned eight"."""
        same = kin_of(self.clause) & kin_of(self.sentence)
        if not same or owners_of(self.clause) | owners_of(self.sentence):
            return None
        return Reason(f"replaced: {listed(same)}", _LEAST_ALIKE)


def _is_done_by_a_thing(clause: Clause, sentence: Clause, topic: frozenset[str]) -> bool:
    """Return whether another thing does what the user does: "I'm moving", "the class moved"."""
    told = _before(sentence, topic)
    spoken = told.split()
    if not spoken or told == sentence.plain or not _SELF.isdisjoint(spoken):
        return False
    if _SELF.isdisjoint(_before(clause, topic).split()):  # "the design standup" is another
        kind = _OF_KIND.match(told)
        return kind is not None and not is_quality(kind[1]) and stem(kind[1]) not in clause.content
    opening = forms(spoken[0])
    if Form.BASE in opening or opening == {Form.PAST}:  # "use my new address", "upgraded postgres"
        return False
    after = subject(told).split()[-1]
    return after != "user" and stem(after) not in clause.content


def _before(clause: Clause, topic: frozenset[str]) -> str:
    """Return the words before the first one of a topic."""
    spoken = clause.plain.split()
    return " ".join(takewhile(lambda word: stem(word) not in topic, spoken))


def _behind(clause: Clause, topic: frozenset[str]) -> str:
    """Return the particle right behind the verb of a topic; empty for none."""
    spoken = clause.plain.split()
    behind = (two for one, two in pairwise(spoken) if stem(one) in topic)
    found = next(behind, "")
    return found if found in _PARTICLES else ""


def _refers_back(sentence: Clause) -> bool:
    return _PRONOUN.match(sentence.plain) is not None


def _of_another_part(clause: Clause, sentence: Clause) -> bool:
    """Return whether the newer one is about a part of the older one's subject: "the lid of it"."""
    found = _PART.match(sentence.plain)
    return found is not None and stem(found[1]) not in clause.content


def _is_of_kin(clause: Clause, sentence: Clause) -> bool:
    """Return whether the newer one tells of somebody else: "transferred my gran to ward 3"."""
    moved = set(_SENDS.findall(sentence.plain))
    return not moved.isdisjoint(KIN - clause.words - kin_of(clause))


def _determined(clause: Clause) -> frozenset[str]:
    """Return the stems right behind an article or "our": "the api" is a thing, and no name."""
    return frozenset(map(stem, _THE_THING.findall(clause.plain)))


def _begun(sentence: Clause) -> frozenset[str]:
    """Return the stem of a thing with which a sentence begins: "database is postgres"."""
    found = _BEGUN.match(sentence.plain)
    return frozenset({stem(found[1])}) if found else frozenset()


def retyped(clause: Clause, sentence: Clause) -> bool:
    """Return whether the newer one gives figures that the older one, which has some, lacks."""
    figures = clause.numbers | clause.dates
    if not figures or sentence.numbers | sentence.dates <= figures:
        return False
    if _is_dated(clause) and _is_dated(sentence):
        return True
    before, after = (kinds(_RATE.sub("", one.plain)) - STOP_WORDS for one in (clause, sentence))
    if after and not before and kin_of(clause) and after.isdisjoint(_SPANS):
        return False  # a bare figure of a person is an age
    return not before or not after or not before.isdisjoint(after)


def _is_dated(clause: Clause) -> bool:
    return bool(clause.dates) or _DAY_OF_MONTH.search(clause.plain) is not None


def _stems(clause: Clause) -> frozenset[str]:
    return frozenset(map(stem, clause.words))


def _leading(clause: Clause) -> frozenset[str]:
    """Return the stems of the user's own thing with which a clause begins or that the user has."""
    found = _OWN_LEADS.match(clause.plain)
    return frozenset(stem(word) for word in found.groups() if word) if found else frozenset()


def _owned(clause: Clause) -> frozenset[str]:
    """Return the stems of what the user calls their own: "our landlord"."""
    return frozenset(stem(word) for found in _OWNED.findall(clause.plain) for word in found)
