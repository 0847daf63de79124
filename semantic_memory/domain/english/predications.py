"""Read clauses in the third person: "The gateway listens on 9443", "Noor can't eat gluten".

A clause is read as a subject phrase and a predicate, by the dictionary's forms of each word and the
words beside it. Whatever doesn't read as a noun phrase before its verb is no clause here: a wrong
subject would make a wrong fact.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from semantic_memory.domain.english.calendar import ANY_MONTH, WEEKDAY
from semantic_memory.domain.english.notation import any_of
from semantic_memory.domain.english.tables import phrases, words
from semantic_memory.domain.english.words import (
    MODALS,
    Form,
    can_be_noun,
    forms,
    is_adverb,
    is_quality,
    is_word,
)
from semantic_memory.domain.patterns import regex

Subject = Literal["name", "definite", "plain"]

_LONGEST_SUBJECT = 9
_TOKEN = regex(r"[\w'’@/+#&.:*-]*[\w'’/+#*]|[,;:]")
_AUXILIARIES = MODALS | words("predications.auxiliaries", "negation.auxiliaries")
_DETERMINERS = words("predications.determiners")
_PREPOSITIONS = words("predications.prepositions")
_NO_SUBJECT = words("predications.no_subject")
_VAGUE = words("predications.vague")
_ORDINALS = words("predications.ordinals")
_BEHIND_VERB = words("predications.behind_verb") | _PREPOSITIONS | _DETERMINERS
_NO_PREDICATE = words("predications.no_verbs")
_TIMES_BEHIND = words("predications.times_behind")
_NO_NAMES = words("predications.no_names")
_GIVEN_NAMES = words("naming.given_names")
_STANDING_VERBS = words("predications.standing_verbs")
_PLURALS = words("fragments.plurals")
_LEADING = regex(
    rf"^(?:{phrases('predications.leading')}\b[^,]{{1,60}},|{phrases('predications.adverbs')},?)\s+",
    re.IGNORECASE,
)
_NUMBER = regex(rf"\d|\b(?:{phrases('predications.numbers')})\b", re.IGNORECASE)
_TIME = regex(
    any_of(
        rf"\b(?:{ANY_MONTH})\b(?=\s+\d|\W*$|,)",
        rf"\b(?:in|by|until|till|since|from|to)\s(?:early\s|late\s|mid-?)?(?:{ANY_MONTH})\b",
        rf"\b(?:{WEEKDAY})s?\b",
        rf"\b{phrases('predications.times')}\b",
    ),
    re.IGNORECASE,
)


class Predication(NamedTuple):
    """A clause in the third person, cut into its subject phrase and its predicate."""

    lead: str
    """An adverbial before the subject, with its comma."""
    subject: str
    predicate: str
    verb: str
    """The first verb of the predicate, in lower case."""
    kind: Subject

    @property
    def text(self) -> str:
        """Return the clause as it was said."""
        return f"{self.lead}{self.subject} {self.predicate}"


def predication(clause: str) -> Predication | None:
    """Return a clause cut into subject and predicate; None if it doesn't read as one.

    >>> found = predication("The gateway listens on 9443")
    >>> found.subject, found.predicate, found.kind
    ('The gateway', 'listens on 9443', 'definite')
    >>> predication("payments in Brazil go through Pix").predicate
    'go through Pix'
    >>> predication("solveig can't eat gluten").kind, predication("listening to jazz")
    ('name', None)
    """
    lead = _LEADING.match(clause)
    start = lead.end() if lead else 0
    tokens = [*_TOKEN.finditer(clause, start)][: _LONGEST_SUBJECT + 5]
    spoken = [token[0].replace("’", "'") for token in tokens]
    place = _verb_place([word.lower() for word in spoken])
    if place is None:
        return None
    subject = clause[start : tokens[place].start()].strip()
    kind = _kind(spoken[:place])
    if kind is None:
        return None
    predicate = clause[tokens[place].start() :].strip()
    first = spoken[place].lower()
    return Predication(clause[:start], subject, predicate, first, kind)


def has_number(text: str) -> bool:
    """Return True if a text holds a number, in figures or spelled.

    >>> has_number("takes nine seconds"), has_number("takes long")
    (True, False)
    """
    return _NUMBER.search(text) is not None


def has_time(text: str) -> bool:
    """Return True if a text names a month, a weekday or a day.

    >>> has_time("is due on Friday"), has_time("is due")
    (True, False)
    """
    return _TIME.search(text) is not None


def is_name(word: str) -> bool:
    """Return True if a word can only be a name: capitalised, and no word of the dictionary.

    >>> is_name("Solveig"), is_name("Bill"), is_name("Table")
    (True, False, False)
    """
    lowered = word.lower().removesuffix("'s")
    return (
        len(lowered) > 2
        and word[:1].isupper()
        and lowered.replace("-", "").isalpha()
        and lowered not in _NO_NAMES
        and not is_word(lowered)
    )


def is_given_name(word: str) -> bool:
    """Return True if a capitalised word is a name, though it may be a word of the dictionary.

    >>> is_given_name("Solveig"), is_given_name("Grace"), is_given_name("Table")
    (True, True, False)
    """
    return is_name(word) or (word[:1].isupper() and word.lower() in _GIVEN_NAMES)


def _verb_place(words: list[str]) -> int | None:
    """Return the place of the verb behind a subject phrase; None if there is no such phrase."""
    plural = _is_plural(words)
    later: int | None = None
    for place, word in enumerate(words[: _LONGEST_SUBJECT + 1]):
        if word in _NO_SUBJECT or word in ",;:":
            return later
        if not place or word in _NO_PREDICATE:
            continue
        if words[place - 1] in _DETERMINERS or words[place - 1] in _PREPOSITIONS:
            if word in _AUXILIARIES:
                return None
        elif _leads_to_verb(place, words, plural=plural):
            return place
        elif later is None and Form.THIRD in forms(word) and place + 1 < len(words):
            later = place
    return later


def _leads_to_verb(place: int, words: list[str], *, plural: bool) -> bool:
    """Return True if the verb stands there, or an adverb right before it."""
    word = words[place]
    if word == "only" and Form.THIRD in forms("".join(words[place + 1 : place + 2])):
        return True
    if is_adverb(word) and place + 1 < len(words) and not (plural and forms(word)):
        return _is_verb_at(place + 1, words, plural=plural)
    return _is_verb_at(place, words, plural=plural)


def _is_verb_at(place: int, words: list[str], *, plural: bool) -> bool:
    word = words[place]
    if word in _AUXILIARIES:
        return True
    known = forms(word)
    following = words[place + 1] if place + 1 < len(words) else ""
    leads_on = (
        not following
        or following in _BEHIND_VERB
        or following[:1].isdigit()
        or not is_word(following)
        or following.endswith("ly")
    )
    if known & {Form.THIRD, Form.PAST}:
        if not can_be_noun(word) and not is_quality(word):
            return True
        if following in _AUXILIARIES or (Form.BASE in forms(following) and word.endswith("s")):
            return following in _TIMES_BEHIND or not can_be_noun(word)  # "cold starts take"
        return leads_on or word in _STANDING_VERBS
    if Form.BASE not in known or not plural:
        return False
    return leads_on or (_is_plural_noun(words[place - 1]) and f"{word}s" in _STANDING_VERBS)


def _is_plural(words: list[str]) -> bool:
    """Return True if the head of the subject phrase, the word before "of" or "in", is plural."""
    for place, word in enumerate(words[:_LONGEST_SUBJECT]):
        if place and (word in _PREPOSITIONS or Form.BASE in forms(word)):
            if _is_plural_noun(words[place - 1]):
                return True
            if word in _PREPOSITIONS:
                return False
    return "and" in words[:_LONGEST_SUBJECT]


def _is_plural_noun(word: str) -> bool:
    return (word.endswith("s") and not word.endswith(("ss", "'s"))) or word in _PLURALS


def _kind(subject: list[str]) -> Subject | None:
    """Return the kind of a subject phrase; None if it names nothing."""
    lowered = [word.lower() for word in subject]
    nouns = [word for word in lowered if word not in _DETERMINERS and word not in _PREPOSITIONS]
    if not nouns or lowered[-1] in _PREPOSITIONS or lowered[-1] in _DETERMINERS:
        return None
    if nouns[0] in _ORDINALS:
        nouns = nouns[1:]  # "the next instalment"
    if set(nouns) <= _VAGUE or nouns[-1] in _NO_SUBJECT or nouns[0] in _VAGUE:
        return None
    first = subject[0]
    is_office = first.istitle() and len(subject) == 1  # "Legal signs off"
    is_deed = len(subject) == 1 and forms(first) == {Form.ING}  # "billing moved to Tomasz"
    is_thing = (
        is_deed
        or lowered[0] in _DETERMINERS
        or any(_names_something(word) or _is_plural_noun(word) for word in nouns)
    )
    if not is_office and not is_thing:
        return None
    if _is_person(subject):
        return "name"
    if lowered[0] in _DETERMINERS or first.endswith("'s"):
        return "definite"
    return "plain"


def _names_something(word: str) -> bool:
    plain = word.removesuffix("'s")
    return can_be_noun(plain) or (len(plain) > 1 and not is_word(plain))


def _is_person(subject: list[str]) -> bool:
    """Return True if a subject is one or two words of which the first is a name."""
    if len(subject) > 3 or not _unknown(subject[0]):
        return False
    return all(word[:1].isupper() or word.lower() == "and" for word in subject[1:])


def _unknown(word: str) -> bool:
    """Return True if a word is in no dictionary, whatever its case, and reads like a name."""
    lowered = word.lower()
    return (
        len(lowered) > 2
        and lowered.isalpha()
        and lowered not in _NO_NAMES
        and lowered not in _DETERMINERS
        and not is_word(lowered)
        and any(letter in "aeiouy" for letter in lowered)
        and not word.isupper()
    )
