"""Resolve pronouns from what was said just before: "He lives in Kyoto" after "my brother Aurel".

Only a pronoun that begins a statement, or a "there" in it, is resolved, and only if the nearest
sentence that names anything of its kind names one thing. In doubt the statement stays as it is, and
the caller drops it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.persons import third_person
from semantic_memory.domain.english.predications import is_name
from semantic_memory.domain.english.spelling import short_for_has
from semantic_memory.domain.english.tables import phrases, words
from semantic_memory.domain.english.words import can_be_noun
from semantic_memory.domain.patterns import regex

_MALE = words("antecedents.male")
_FEMALE = words("antecedents.female")
_PEOPLE = words("antecedents.people", "spelling.roles")
_PEOPLE_ENDINGS = ("ist", "eer", "ician", "ologist")
_NO_THINGS = words("antecedents.no_things", "predications.vague")
_ANIMALS = words("possessions.animals")
_SENTENCES = 6
"""Sentences before a pronoun that are looked at."""

_KIN = regex(
    rf"\b(?:my|our)\s(?:[a-z-]+\s)?(?P<kin>{one_of(_MALE | _FEMALE | _PEOPLE)})"
    r"(?P<name>,?\s(?:named\s|called\s)?(?-i:[A-Z])[\w-]+)?(?!\w)",
    re.IGNORECASE,
)
_ANIMAL = regex(
    rf"\b(?:an?|my|our|the)\s(?:[a-z-]+\s)?(?P<animal>{one_of(_ANIMALS)})\b"
    r"(?:,?\s(?:called|named)?\s?(?P<name>[A-Z][\w'-]+))?"
)
_IS_NAMED = regex(
    r"^(?P<thing>(?:the|our|my)\s(?:[\w-]+\s){1,3})(?:is|are)\s(?:called\s|named\s)?"
    r"(?P<name>[A-Z][\w'-]+(?:\s[A-Z]\w+)?)$",
)
_THING = regex(
    r"\b(?P<article>the|an?|my|our|The|A|An|My|Our)\s(?P<words>(?:[\w'-]+\s){0,3}?[\w'-]+)"
    r"(?=$|[,.;:!]|\s(?:in|on|at|of|for|with|to|from|about|by|has|have|had|is|are|was|were|got|runs|and|"
    r"that|which|yesterday|today|last|this|now|because|but|called|named)\b)"
)
_IS_ONE = regex(r"\b(?:I'm|I am|we're|we are|I've been|I was)\s(?:\w+ly\s|also\s|now\s)?$", re.I)
_APPOSED = regex(
    r"\b(?:the|an?|my|our)\s(?:[\w-]+\s){0,2}[\w-]+,\s(?P<name>[A-Z][\w'-]+)(?=$|[,.;])"
)
_GOT = regex(r"\b(?:I|we)(?:'ve| have)?\s(?:\w+\s)?(?:have|got|own|bought|adopted|keep)\b", re.I)
_PERSON_NAME = regex(r"(?<![\w'])(?P<before>[\w'-]+\s)?(?P<name>[A-Z][a-z'-]+)(?![\w'-])")
_MADE = regex(
    rf"\b{phrases('antecedents.making')}\s(?P<name>[A-Z][\w-]+)(?:\sand\s(?P<other>[A-Z][\w-]+))?"
    rf"(?=$|[,.;:!]|\s{phrases('antecedents.behind_made')}\b)"
)
_PLACE = regex(r"\b(?:in|to|at|from|near)\s(?P<place>[A-Z][\w'-]+(?:\s[A-Z][\w'-]+)?)")
_PLACE_WORDS = words("antecedents.before_places")
_BEGINS = regex(
    r"^(?P<pronoun>he|she|it|they|his|her|its|their)(?P<short>'s|'re|'ll|'ve|'d)?(?=\s)", re.I
)
_THERE = regex(r"(?<=[a-z])\sthere(?=$|[,.;]|\s(?:is|are|was|were|has|have|runs?|use|on|and)\b)")
# "whatever there is", unlike "the food there is good"
_EXISTS = regex(rf"\b{phrases('antecedents.before_existential')}\sthere$", re.I)
_BARE = regex(
    rf"^(?P<noun>(?:the\s)?(?:new\s)?{phrases('antecedents.relational')})\b(?!\s(?:of|for)\b)", re.I
)
_NEXT_ONE = regex(
    rf"^(?P<which>the {one_of(words('predications.ordinals'))}|(?:the )?next) one\b", re.I
)
_RECURRING = regex(
    r"^(?:(?:the|our|my) )?(?P<kind>(?:[\w-]+ )?[\w-]+?)s? (?:is|are|goes|go|comes|come|happens?)"
    rf" (?:\w+ )?{phrases('antecedents.recurring')}\b",
    re.IGNORECASE,
)
_NUMBERED = regex(
    rf"\b(?P<kind>[a-z]{{3,}}) (?:number |no\. )?(?:\d{{1,3}}|{one_of(words('numbers.small'))})\b"
    rf"|\bthe {one_of(words('predications.ordinals'))} (?P<other>[a-z]{{3,}})\b",
    re.IGNORECASE,
)
_MOTION = words("antecedents.motion")
_OWNING = frozenset(("his", "her", "its", "their"))
_SHORT = {"'s": " is", "'re": " are", "'ll": " will", "'ve": " have", "'d": " would"}


class Referent(NamedTuple):
    """A person, thing or place that was named."""

    text: str
    pronouns: frozenset[str]
    is_named: bool


class Antecedents:
    """The people, things and places named in the last sentences of a conversation."""

    def __init__(self, *, of_people_only: bool = False) -> None:
        self._people_only = of_people_only
        self._said: deque[tuple[str, str]] = deque(maxlen=_SENTENCES)

    def note(self, sentence: str, speaker: str) -> None:
        """Remember what a sentence of `speaker`, their name or "The user", names."""
        self._said.append((speaker, sentence))

    def resolved(self, statement: str, speaker: str) -> str | None:
        """Return a statement with its pronoun replaced; None if nothing was named for it.

        >>> before = Antecedents()
        >>> before.note("my brother Aurel just got back from Japan", "The user")
        >>> before.resolved("he lives in Kyoto half the year", "The user")
        'my brother Aurel lives in Kyoto half the year'
        >>> before.resolved("it lasts nine hours", "The user")
        >>> before.note("I moved to Lund", "The user")
        >>> before.resolved("I eat whatever there is at work", "The user")
        >>> before.resolved("the food there is good", "The user")
        'the food in Lund is good'
        >>> before.note("I'm an aunt", "The user")
        >>> before.resolved("she is off until April", "The user")
        """
        if found := _BEGINS.match(statement):
            return self._begun(found, statement, speaker)
        if self._people_only:
            return None
        if (found := _THERE.search(statement)) and not _EXISTS.search(statement, 0, found.end()):
            place = self._nearest("there", speaker)
            if place:
                before = statement[: found.start()]
                to = "to" if _MOTION & {word.lower() for word in before.split()} else "in"
                return f"{before} {to} {place}{statement[found.end() :]}"
        if found := _NEXT_ONE.match(statement):
            kind = self._kind_named(speaker)
            which = found["which"].lower().removeprefix("the ")
            return f"the {which} {kind}{statement[found.end() :]}" if kind else None
        if found := _BARE.match(statement):
            named = self._nearest("it", speaker, named=True)
            if named:
                article = "" if found["noun"].lower().startswith("the ") else "the "
                return f"{article}{found['noun']} of {named}{statement[found.end() :]}"
        return None

    def _kind_named(self, speaker: str) -> str | None:
        """Return the last numbered or recurring thing that the speaker named: "chapter two"."""
        for teller, sentence in reversed(self._said):
            if teller == speaker and (recurring := _RECURRING.match(sentence)):
                return str(recurring["kind"]).lower()
            nouns = [found["kind"] or found["other"] for found in _NUMBERED.finditer(sentence)]
            if teller == speaker and nouns and can_be_noun(nouns[-1].lower()):
                return str(nouns[-1]).lower()
        return None

    def _begun(self, found: re.Match[str], statement: str, speaker: str) -> str | None:
        pronoun = found["pronoun"].lower()
        standing = {"his": "he", "her": "she", "its": "it", "their": "they"}.get(pronoun, pronoun)
        if self._people_only and standing not in ("he", "she"):
            return None
        who = self._nearest(standing, speaker)
        if who is None:
            return None
        if pronoun in _OWNING:
            return f"{who}'s{statement[found.end('pronoun') :]}"
        rest = statement[found.end() :]
        if found["short"]:
            has = found["short"] == "'s" and short_for_has(rest)
            return f"{who}{' has' if has else _SHORT[found['short']]}{rest}"
        if pronoun == "they" and not who.endswith("s"):
            return third_person(f"I{rest}", who)  # made to agree with one
        return f"{who}{rest}"

    def _nearest(self, pronoun: str, speaker: str, *, named: bool = False) -> str | None:
        """Return the one referent of `pronoun` in the nearest sentence that has any."""
        for said_by, sentence in reversed(self._said):
            known = {one.text: one for one in _referents(sentence) if pronoun in one.pronouns}
            if named:
                known = {text: one for text, one in known.items() if one.is_named}
            if len(known) > 1:
                return None
            if known:
                (text,) = known
                if said_by == speaker:
                    return text
                told = third_person(text, said_by)
                return told[:1].lower() + told[1:] if told.startswith("The ") else told
        return None


class _Reading:
    """Reads a sentence for referents; what one rule has taken, the later ones leave alone."""

    def __init__(self, sentence: str) -> None:
        self._sentence = sentence
        self._taken: list[tuple[int, int]] = []

    def found(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """Yield the matches of a pattern that overlap with no earlier one, and take them."""
        for found in pattern.finditer(self._sentence):
            if not any(start < found.end() and found.start() < end for start, end in self._taken):
                yield found

    def take(self, found: re.Match[str]) -> None:
        """Keep the later rules from a match."""
        self._taken.append(found.span())


def _referents(sentence: str) -> Iterator[Referent]:
    reading = _Reading(sentence)
    for found in reading.found(_KIN):
        reading.take(found)
        yield _kin(found)
    for found in reading.found(_APPOSED):
        if is_name(found["name"]):
            reading.take(found)
            yield Referent(found["name"], frozenset(("he", "she")), is_named=True)
    own = _GOT.match(sentence) is not None
    for found in reading.found(_ANIMAL):
        reading.take(found)
        text = f"the {found['animal']} {found['name']}" if found["name"] else _mine(found[0], own)
        yield Referent(text, frozenset(("he", "she", "it")), found["name"] is not None)
    for found in reading.found(_IS_NAMED):
        reading.take(found)
        text = f"{found['thing']}{found['name']}"
        yield Referent(text, frozenset(("they", "it", "he", "she")), is_named=True)
    yield from _work(reading)
    yield from _places(sentence)
    for found in reading.found(_THING):
        if thing := _thing(found, own):
            reading.take(found)
            yield thing
    yield from _people(reading)


def _work(reading: _Reading) -> Iterator[Referent]:
    """Yield the pieces of work that are named by what is done to them: "we're building Heron"."""
    for found in reading.found(_MADE):
        reading.take(found)
        for name in filter(None, (found["name"], found["other"])):
            if name not in _CALENDAR:
                yield Referent(name, frozenset(("it",)), is_named=True)


def _places(sentence: str) -> Iterator[Referent]:
    for found in _PLACE.finditer(sentence):
        if found["place"].split()[0] not in _CALENDAR:
            yield Referent(found["place"], frozenset(("there",)), is_named=True)


def _people(reading: _Reading) -> Iterator[Referent]:
    for found in reading.found(_PERSON_NAME):
        before = (found["before"] or "").strip().lower()
        if before not in _PLACE_WORDS and is_name(found["name"]):
            name = found["name"].removesuffix("'s")
            yield Referent(name, frozenset(("he", "she")), is_named=True)


def _kin(found: re.Match[str]) -> Referent:
    kin = found["kin"].lower()
    pronouns = {"they"} if kin not in _MALE | _FEMALE else set()
    pronouns |= {"he"} if kin not in _FEMALE else set()
    pronouns |= {"she"} if kin not in _MALE else set()
    return Referent(found[0], frozenset(pronouns), found["name"] is not None)


def _mine(thing: str, own: bool) -> str:
    """Return what its speaker has got as theirs: "a parrot" is "my parrot" from then on."""
    return re.sub(r"^an?\s", "my " if own else "the ", thing, flags=re.IGNORECASE)


def _thing(found: re.Match[str], own: bool) -> Referent | None:
    spoken = found["words"].split()
    head = spoken[-1].lower()
    if head in _NO_THINGS or not can_be_noun(head):
        return None
    if _IS_ONE.search(found.string, 0, found.start()):  # "I'm an aunt": nobody else
        return None
    article = found["article"].lower()
    text = _mine(" ".join([article, *spoken]), own)
    if _is_person(head):
        return Referent(text, frozenset(("he", "she", "they")), is_named=False)
    plural = head.endswith("s") and not head.endswith("ss")
    named = any(word[:1].isupper() for word in spoken)
    return Referent(text, frozenset(("they",) if plural else ("it",)), named)


def _is_person(word: str) -> bool:
    return word in _PEOPLE | _MALE | _FEMALE or word.endswith(_PEOPLE_ENDINGS)


_CALENDAR = words("calendar.months", "calendar.weekdays")
