"""Read the claim of a statement whatever its wording: "I own a Honda", "my car is a Honda"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import chain
from typing import NamedTuple

from semantic_memory.domain.english.negation import NEGATIONS
from semantic_memory.domain.english.notation import any_of, one_of, phrase, spellings
from semantic_memory.domain.english.renewals import clauses
from semantic_memory.domain.english.tables import (
    keys,
    mapping,
    phrase_list,
    phrases,
    substitution,
    words,
)
from semantic_memory.domain.english.tellers import as_own, base
from semantic_memory.domain.english.words import Form, forms, readings
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import stems

_THING = r"[\w'&./-]+(?: [\w'&./-]+){0,4}"
_ONE = r"(?!\d)[\w'-]+"
_UNIT = one_of(
    f"{unit}[s]"
    for kind in ("money", "time", "length", "weight")
    for unit in words(f"numbers.dimensions.{kind}")
)
_FIGURE = rf"[$€£]?\d[\d.,]*(?:k|%)?(?: {_UNIT})?(?: (?:a|an|per|each|every) [a-z]+)?"
_TIME = r"(?:half past |quarter (?:past|to) )?\d{1,2}(?:[:.]\d\d)?(?: ?[ap]m)?|one|midnight|noon"
_MEDICINE = any_of(
    one_of(words("restatements.medicines.others")),
    rf"[a-z]+{one_of(words('restatements.medicines.endings'))}",
)
MEANS = {word: name for name, told in mapping("normal_form.means").items() for word in told.split()}
"""Means of transport by the words for them."""
_SLOTS = {
    "x": _THING,
    "y": _THING,
    "v": _ONE,
    "w": _ONE,
    "n": _FIGURE,
    "t": f"(?:{_TIME})",
    "m": _MEDICINE,
    "k": one_of(MEANS),
    "s": one_of(words("normal_form.things.seats")),
    "g": one_of(words("normal_form.things.used")),
    "p": one_of(words("normal_form.things.provided")),
}
_VALUES = frozenset("xvntmks")

_LEAD = regex(r"^(?:(?:the|a|an|my|our|own|playing|doing|to)\s)+")
_TAIL = regex(
    r"\s(?:of an evening|a lot|most|best|the most|of the user's|originaly|originally|these days|now"
    r"|so|because|in the evenings?|please|pls|lol|btw)(?:\s.*)?$"
)
_OPEN = regex(rf"^(?:(?:and|so|but|yes|btw|fyi|{phrases('normal_form.before')})\s)+")
_DEGREE = regex(rf"\b{phrases('normal_form.degree')}\s")
# what is put first, and how it is read: "tennis i love", "in my house there is a sauna"
_IN_ORDER = (
    (
        regex(rf"^(?P<what>{_THING}) (?P<rest>i {phrases('normal_form.objects_first')})$"),
        r"\g<rest> \g<what>",
    ),
    (regex(r"^(?P<when>(?:every|each|on|in the) [a-z]+) (?P<rest>i .+)$"), r"\g<rest> \g<when>"),
    (
        regex(r"^(?P<where>in my [a-z]+) (?:there )?(?:is|are) (?P<rest>.+)$"),
        r"i have \g<rest> \g<where>",
    ),
)
_CLOSE = regex(rf"(?:\s{phrases('normal_form.behind')})+$")
_done_alike = substitution("normal_form.deeds")
_IST = regex(r"(?<=\w{4})ist$")  # a physicist's field is physics
_NTH = regex(r"\b(\d+)(?:st|nd|rd|th)(?: of)?\b")
_SHORT_IS = regex(
    r"(?<=[a-z])'s(?= (?:an?|at|in|on|called|named|set|built|hosted|kept|written|run|done|\d)\b)"
)
_FAVOURITE_IS = regex(r"\b(favourite [a-z]+)'s\b")
# "their database" of a statement about the user is "my database"
_IN_ONE_PERSON = (
    (regex(r"\b(?:i and others|we)\b"), "i"),
    (regex(r"\b(?:our|their)\b"), "my"),
    (regex(r"\b(?:ourselves|themselves)\b"), "myself"),
    (regex(r"\b(?:have|has) got\b"), "have"),
    (regex(r"\b(for|to|with|pays|gives|makes|brings|drives|relaxes) i\b"), r"\1 me"),
    (regex(r"(?<= )i$"), "me"),
    (regex(r"\bat my$"), "at mine"),
    (_NTH, r"\1"),
    (_SHORT_IS, " is"),
    (_FAVOURITE_IS, r"\1 is"),
)
# "i have started getting the train" is read "i get the train"
_TAKEN_UP = regex(
    r"\bi (?:(?:have |am )?(?:just )?(?:started|begun|been|taken to|gone back to|switched to)"
    r"|began|took to|went back to|am(?: now| only| just)?) (?P<verb>[a-z]+ing)\b"
)
_ACTS = regex(r"\bi (?P<adverb>(?:also|usually|always|mostly|just|never) )?(?P<verb>[a-z]+)\b")
_USER = "user"
_ARTICLES = frozenset({"the", "a", "an", "my", "own"})
_NOT_A_THING = words("persons.others") | NEGATIONS | {"i"}


class Paraphrase(NamedTuple):
    """A relation, the person in it, and its value and what has the value, as stems in order."""

    relation: str
    subject: str
    value: tuple[str, ...] = ()
    about: tuple[str, ...] = ()


class _Wording(NamedTuple):
    relation: str
    pattern: re.Pattern[str]
    needed: frozenset[str]
    """Words that every spelling of the phrase has."""


def _written() -> Iterator[_Wording]:
    for relation in keys("paraphrases"):
        for written in phrase_list(f"paraphrases.{relation}"):
            spelled = [
                frozenset(word for word in one.split() if word.isalpha())
                for one in spellings(written)
            ]
            source = phrase(written, **_SLOTS)
            yield _Wording(relation, regex(source), frozenset.intersection(*spelled))


@cache
def _wordings() -> tuple[_Wording, ...]:
    """Return all wordings, which are written at their first use: most starts read no statement."""
    return tuple(_written())


@lru_cache(maxsize=16_384)
def paraphrases(text: str) -> frozenset[Paraphrase]:
    """Return the claims of the first clause of a statement.

    >>> paraphrases("I own a Honda.") & paraphrases("My car's a Honda.")
    frozenset({Paraphrase(relation='has', subject='user', value=('honda',), about=())})
    >>> paraphrases("I own a Honda.") & paraphrases("I own a Ford.")
    frozenset()
    >>> paraphrases("Malik works nights.") & paraphrases("Malik does night shifts.")
    frozenset({Paraphrase(relation='nights', subject='malik', value=(), about=())})
    """
    first = next(iter(clauses(text)), None)
    if first is None:
        return frozenset()
    plain = _normal(first.plain)
    readings_of = [(_USER, plain), *as_own(plain)]
    habits = [(who, habit) for who, told in readings_of if (habit := _habitual(told)) != told]
    return frozenset(one for who, told in (*readings_of, *habits) for one in _claims(who, told))


def is_one_claim(text: str) -> bool:
    """Return whether a statement has one clause, so that its claim is all that it says.

    >>> is_one_claim("I own a Honda."), is_one_claim("I own a Honda, but I sold the Ford.")
    (True, False)
    """
    return len(clauses(text)) == 1


def _normal(plain: str) -> str:
    """Return a folded clause in one person, with verbs that agree: "i have", not "i has"."""
    told = _CLOSE.sub("", _TAIL.sub("", _OPEN.sub("", _DEGREE.sub("", plain))))
    for pattern, wording in _IN_ONE_PERSON:
        told = pattern.sub(wording, told)
    told = _ACTS.sub(lambda found: f"i {found['adverb'] or ''}{base(found['verb'])}", told)
    for pattern, wording in _IN_ORDER:
        told = pattern.sub(wording, told)
    return told


def _habitual(plain: str) -> str:
    """Return a clause with what the user has taken up as what the user does."""
    return _TAKEN_UP.sub(lambda found: f"i {_present(found['verb'])}", plain)


def _present(verb: str) -> str:
    read = readings(verb).get("VERB", ())
    return read[0] if read else verb


def _claims(who: str, plain: str) -> Iterator[Paraphrase]:
    spoken = frozenset(plain.split())
    for relation, pattern, needed in _wordings():
        if needed <= spoken and (found := pattern.fullmatch(plain)):
            slots = sorted(found.groupdict().items())
            if all(_is_thing(slot, text) for slot, text in slots):
                value = (_value(slot, text) for slot, text in slots if slot in _VALUES)
                about = (_thing(text) for slot, text in slots if slot not in _VALUES)
                yield Paraphrase(relation, who, (*chain(*value),), (*chain(*about),))


def _is_thing(slot: str, text: str) -> bool:
    """Return whether a text may fill a slot: no denial, nobody unnamed, no deed of the past."""
    return (
        _NOT_A_THING.isdisjoint(text.split())
        and not (slot == "w" and forms(text) == {Form.PAST})
        and any(_thing(text))
    )


def _value(slot: str, text: str) -> tuple[str, ...]:
    """Return the words of a value, of which some mean one thing: "cycle", "bike"."""
    return (MEANS[text],) if slot == "k" else _thing(_done_alike(text))


def _thing(text: str) -> tuple[str, ...]:
    """Return the words of a thing, as stems where they have one, without articles."""
    words_of = (one for one in _LEAD.sub("", text).split() if one not in _ARTICLES)
    found = (tuple(filter(None, stems(one))) or (one,) for one in words_of)
    return tuple(_IST.sub("", one) for one in chain.from_iterable(found))
