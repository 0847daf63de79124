"""Read a sentence for the people, things and places that it names: what pronouns stand for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.predications import is_given_name, is_name
from semantic_memory.domain.english.tables import phrases, words
from semantic_memory.domain.english.words import (
    Form,
    can_be_noun,
    forms,
    is_adverb,
    is_quality,
    is_word,
)
from semantic_memory.domain.patterns import regex

_MALE = words("antecedents.male")
_FEMALE = words("antecedents.female")
_PEOPLE = words("antecedents.people", "spelling.roles")
_PEOPLE_ENDINGS = ("ist", "eer", "ician", "ologist")
_NO_THINGS = words("antecedents.no_things", "predications.vague")
_ANIMALS = words("possessions.animals")
_CALENDAR = words("calendar.months", "calendar.weekdays")
_PREPOSITIONS = words("predications.prepositions")
_LEADS = words("antecedents.leads")
_NUMBERS = words("numbers.small") - {"one"}
_ARTICLES = frozenset(("the", "a", "an", "my", "our")) | _NUMBERS
_ENDS_PHRASE = (
    _PREPOSITIONS
    | words(
        "antecedents.ends_phrase", "predications.auxiliaries", "words.modals",
        "predications.determiners", "predications.no_subject",
    )
)  # fmt: skip
_MOST_IN_PHRASE = 5

_KIN = regex(
    rf"\b(?:my|our)\s(?:[a-z-]+\s)?(?P<kin>{one_of(_MALE | _FEMALE | _PEOPLE)})"
    r"(?P<name>,?\s(?:named\s|called\s)?(?-i:[A-Z])[\w-]+)?(?![\w']|\s(?-i:[a-z]+)'s)",
    re.IGNORECASE,
)
_ANIMAL = regex(
    rf"\b(?:an?|my|our|the)\s(?:[a-z-]+\s)?(?P<animal>{one_of(_ANIMALS)})\b"
    r"(?:,?\s(?:called|named)?\s?(?P<name>[A-Z][\w'-]+))?"
)
_IS_NAMED = regex(
    r"^(?P<thing>(?:the|our|my)\s(?:[\w-]+\s){1,3}?)(?:is|are)\s(?P<called>called\s|named\s)?"
    r"(?P<name>(?:(?-i:Mr|Mrs|Ms|Dr|Prof)\.?\s)?(?-i:[A-Z])[\w'-]+(?:\s(?-i:[A-Z])\w+)?)$",
    re.IGNORECASE,
)
_IS_ONE = regex(r"\b(?:I'm|I am|we're|we are|I've been|I was)\s(?:\w+ly\s|also\s|now\s)?$", re.I)
_APPOSED = regex(
    r"\b(?:the|an?|my|our)\s(?:[\w-]+\s){0,2}[\w-]+,\s(?P<name>[A-Z][\w'-]+)(?=$|[,.;])"
)
_GOT = regex(
    r"\b(?:I|we)(?:'ve| have)?\s(?:\w+\s)?"
    r"(?:have|got|own|bought|adopted|keep|use|drive|inherited|rent)\b",
    re.IGNORECASE,
)
_BRED = regex(
    rf"^(?:I|we)\s(?:\w+ly\s|also\s)?{phrases('antecedents.keeping')}\s"
    r"(?P<things>(?:[a-z-]+\s)?[a-z]+s)\b",
    re.IGNORECASE,
)
_PERSON_NAME = regex(r"(?<![\w'])(?P<before>[\w'-]+\s)?(?P<name>[A-Z][a-z'-]+)(?![\w'-])")
_MADE = regex(
    rf"\b{phrases('antecedents.making')}\s(?P<name>[A-Z][\w-]+)(?:\sand\s(?P<other>[A-Z][\w-]+))?"
    rf"(?=$|[,.;:!]|\s{phrases('antecedents.behind_made')}\b)"
)
_PLACE = regex(r"\b(?:in|to|at|from|near)\s(?P<place>[A-Z][\w'-]+(?:\s[A-Z][\w'-]+)?)")
_PLACE_WORDS = words("antecedents.before_places")
_FIRM = regex(
    r"\b(?:with|by|at|for) (?P<name>[A-Z][\w-]+)(?=$|[,.]| (?:about|on|for|last|this|to)\b)"
)
_SPOKEN_TO = regex(
    r"\b(?:(?:talk|speak|talking|talked|spoke|wrote|listened|married|engaged) to|with) "
    r"(?P<name>[A-Z][a-z'-]+)"
    r"(?![\w-])"
)
_TOKEN = regex(r"[\w'’-]+|[^\w\s]")


class Referent(NamedTuple):
    """A person, thing or place that was named."""

    text: str
    pronouns: frozenset[str]
    is_named: bool
    place: int
    """Offset of its beginning in its sentence."""
    is_new: bool = False
    """True if "a" or "an" brings it into the talk."""


def rank(referent: Referent, sentence: str) -> int:
    """Return 0 for what a sentence begins with, 2 for what stands behind a preposition, else 1."""
    before = sentence[: referent.place].lower().split()
    if set(before) <= _LEADS:
        return 0
    return 2 if before[-1] in _PREPOSITIONS else 1


class _Reading:
    """Reads a sentence for referents; what one rule has taken, the later ones leave alone."""

    def __init__(self, sentence: str) -> None:
        self._sentence = sentence
        self._taken: list[tuple[int, int]] = []

    def found(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """Yield the matches of a pattern that overlap with no earlier one, and take them."""
        for found in pattern.finditer(self._sentence):
            if self.is_free(*found.span()):
                yield found

    def take(self, found: re.Match[str]) -> None:
        """Keep the later rules from a match."""
        self._taken.append(found.span())

    def is_free(self, start: int, end: int) -> bool:
        """Return True if no rule has taken a part of a stretch."""
        return not any(first < end and start < last for first, last in self._taken)

    def take_stretch(self, start: int, end: int) -> None:
        """Keep the later rules from a stretch."""
        self._taken.append((start, end))

    @property
    def sentence(self) -> str:
        """Return the sentence that is read."""
        return self._sentence


def referents(sentence: str) -> Iterator[Referent]:
    """Yield what a sentence names.

    >>> [one.text for one in referents("the payroll job failed again in Oslo")]
    ['Oslo', 'the payroll job']
    >>> [one.text for one in referents("our landlord is called Mr Petrescu")]
    ['our landlord Mr Petrescu']
    """
    reading = _Reading(sentence)
    for found in reading.found(_IS_NAMED):
        name = found["name"].split()[-1]
        if found["called"] or is_given_name(name) or " " in found["name"] or not is_word(name):
            reading.take(found)
            text = f"{found['thing']}{found['name']}"
            text = text[:1].lower() + text[1:]
            yield Referent(text, frozenset(("they", "it", "he", "she")), True, found.start())
    for found in reading.found(_KIN):
        reading.take(found)
        yield _kin(found)
    for found in reading.found(_APPOSED):
        if is_name(found["name"]):
            reading.take(found)
            yield Referent(found["name"], frozenset(("he", "she")), True, found.start())
    own = _GOT.match(sentence) is not None
    for found in reading.found(_ANIMAL):
        reading.take(found)
        text = f"the {found['animal']} {found['name']}" if found["name"] else _mine(found[0], own)
        pronouns = frozenset(("he", "she", "it"))
        yield Referent(text, pronouns, found["name"] is not None, found.start())
    yield from _work(reading)
    for found in reading.found(_FIRM):
        if found["name"] not in _CALENDAR:
            yield Referent(found["name"], frozenset(("they",)), True, found.start("name"))
    yield from _places(sentence)
    yield from _things(reading, own=own)
    yield from _people(reading)


def _work(reading: _Reading) -> Iterator[Referent]:
    """Yield the pieces of work that are named by what is done to them: "we're building Heron"."""
    for found in reading.found(_MADE):
        reading.take(found)
        for name in filter(None, (found["name"], found["other"])):
            if name not in _CALENDAR:
                yield Referent(name, frozenset(("it", "they")), True, found.start("name"))


def _places(sentence: str) -> Iterator[Referent]:
    for found in _PLACE.finditer(sentence):
        if found["place"].split()[0] not in _CALENDAR:
            yield Referent(found["place"], frozenset(("there",)), True, found.start("place"))


def _people(reading: _Reading) -> Iterator[Referent]:
    for found in reading.found(_SPOKEN_TO):
        if is_name(found["name"]):
            yield Referent(found["name"], frozenset(("he", "she")), True, found.start("name"))
    for found in reading.found(_PERSON_NAME):
        before = (found["before"] or "").strip().lower()
        if before not in _PLACE_WORDS and is_name(found["name"]):
            name = found["name"].removesuffix("'s")
            yield Referent(name, frozenset(("he", "she")), True, found.start("name"))


def _kin(found: re.Match[str]) -> Referent:
    kin = found["kin"].lower()
    pronouns = {"they"} if kin not in _MALE | _FEMALE else set()
    pronouns |= {"he"} if kin not in _FEMALE else set()
    pronouns |= {"she"} if kin not in _MALE else set()
    return Referent(found[0], frozenset(pronouns), found["name"] is not None, found.start())


def _mine(thing: str, own: bool) -> str:
    """Return what its speaker has got as theirs: "a parrot" is "my parrot" from then on."""
    return re.sub(r"^an?\s", "my " if own else "the ", thing, flags=re.IGNORECASE)


def _things(reading: _Reading, *, own: bool) -> Iterator[Referent]:
    """Yield what stands behind an article, "my" or a number: "our old printer", "two hens"."""
    tokens = [*_TOKEN.finditer(reading.sentence)]
    for place, token in enumerate(tokens):
        if token[0].lower() not in _ARTICLES:
            continue
        phrase = _phrase(tokens[place + 1 :])
        if not phrase or not reading.is_free(token.start(), phrase[-1].end()):
            continue
        if _IS_ONE.search(reading.sentence, 0, token.start()):  # "I'm an aunt": nobody else
            continue
        if thing := _thing(token, [word[0] for word in phrase], own=own):
            reading.take_stretch(token.start(), phrase[-1].end())
            yield thing
    if (bred := _BRED.match(reading.sentence)) and reading.is_free(*bred.span("things")):
        things = bred["things"].lower()
        if can_be_noun(things.split()[-1]):
            yield Referent(f"my {things}", frozenset(("they",)), False, bred.start("things"))


def _phrase(tokens: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """Return the words of a noun phrase behind its article."""
    found: list[re.Match[str]] = []
    for place, token in enumerate(tokens[:_MOST_IN_PHRASE]):
        following = tokens[place + 1][0].lower() if place + 1 < len(tokens) else ""
        if not _goes_on(token[0], found[-1][0] if found else "", following):
            break
        found.append(token)
    while found and not _is_noun(found[-1][0]):
        found.pop()
    return found


def _goes_on(word: str, before: str, following: str) -> bool:
    """Return True if a word behind `before` still belongs to the phrase."""
    lowered = word.lower()
    if not word[:1].isalnum() or lowered in _ENDS_PHRASE or is_adverb(lowered):
        return False
    known = forms(lowered)
    if not known or not before or not _is_noun(before):
        return True
    if known & {Form.PAST, Form.ING}:
        return False
    if Form.THIRD in known and not is_quality(before):
        leads_on = following in _ENDS_PHRASE or not following[:1].isalpha() or is_adverb(following)
        return not leads_on
    return not (before.islower() and before.endswith("s") and Form.BASE in known)


def _is_noun(word: str) -> bool:
    return can_be_noun(word.lower()) or not is_word(word) or word[-1:].isdigit()


def _thing(article: re.Match[str], spoken: Sequence[str], *, own: bool) -> Referent | None:
    head = spoken[-1].lower()
    if head in _NO_THINGS:
        return None
    first = article[0].lower()
    text = _mine(" ".join([first, *spoken]), own)
    if first in _NUMBERS:
        text = " ".join(["my" if own else "the", *spoken])
    is_new = first in ("a", "an")
    if _is_person(head):
        pronouns = {"he", "she", "they"} - ({"she"} if head in _MALE else set())
        pronouns -= {"he"} if head in _FEMALE else set()
        return Referent(text, frozenset(pronouns), False, article.start(), is_new)
    plural = head.endswith("s") and not head.endswith("ss")
    named = any(word[:1].isupper() for word in spoken)
    return Referent(
        text, frozenset(("they",) if plural else ("it",)), named, article.start(), is_new
    )


def _is_person(word: str) -> bool:
    return word in _PEOPLE | _MALE | _FEMALE or word.endswith(_PEOPLE_ENDINGS)
