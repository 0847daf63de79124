"""Describe a statement in the first person by traits that a linear model can weigh.

Each trait is a number from 0 to 1, or a small count: the class of its verb, the kinds of nouns,
names, numbers and dates in it, and the words that tie it to the moment or to what was said before.
"""

from __future__ import annotations

import re
from functools import lru_cache

from semantic_memory.domain.english.calendar import WEEKDAY
from semantic_memory.domain.english.notation import whole
from semantic_memory.domain.english.predications import has_number, has_time, is_name
from semantic_memory.domain.english.subjects import head
from semantic_memory.domain.english.tables import keys, phrases, words
from semantic_memory.domain.english.words import WORD, Form, forms, is_adverb, noun
from semantic_memory.domain.patterns import regex

_CLASSES = {name: words(f"verb_classes.{name}") for name in keys("verb_classes")}
_LISTS = {
    "vague": words("traits.vague"),
    "abstract": words("traits.abstract"),
    "feelings": words("traits.feelings"),
    "moment": words("traits.moment"),
    "soft": words("traits.soft"),
    "pointing": words("traits.pointing"),
    "lasting": words("traits.lasting"),
    "joints": words("traits.joints"),
}
_TRAITS_OF: dict[str, tuple[str, ...]] = {}
for _name, _known in _LISTS.items():
    for _word in _known:
        _TRAITS_OF[_word] = (*_TRAITS_OF.get(_word, ()), _name)
_OPENINGS = regex(rf"^{phrases('traits.openings')}\b", re.IGNORECASE)
_LAST = words("traits.unfinished")
_OWNED = words("possessions.kin", "possessions.animals", "possessions.owned", "spelling.roles")
_DATED = regex(
    rf"\b(?:yesterday|last night|tomorrow|ago)\b"
    rf"|\b(?:last|next)\s(?:{WEEKDAY}|week|weekend|month|year)\b"
    rf"|\bon\s{WEEKDAY}\b",
    re.IGNORECASE,
)
_MODAL = regex(r"\b(?:will|would|could|can|might|should|may)\b|'ll\b|'d\b", re.IGNORECASE)
_NEGATED = regex(whole(r"(?:not|never|no|cannot)|\w+n't"), re.IGNORECASE)
_I = regex(r"\bI\b")
_KINDS = regex(r"^(?:(?P<mine>my|our)|(?P<own>I|I'\w+|we|we'\w+))\b", re.IGNORECASE)
_STATED = regex(
    rf"^I(?:'m| am)(?: \w+ly)? (?:an?|the|from|in|{phrases('categories.being')})\b", re.I
)


def traits(statement: str) -> dict[str, float]:
    """Return the traits of a statement in the first person by name; those that are 0 are left out.

    >>> found = traits("I moved to Porto in 2019")
    >>> found["change"], found["number"], found["name"], "feelings" in found
    (1.0, 1.0, 1.0, False)
    """
    spoken = WORD.findall(statement.replace("’", "'"))
    lowered = [word.lower() for word in spoken]
    own = head(statement)
    verb = statement[: own.end].split()[-1].lower() if own else _verb(lowered)
    found: dict[str, float] = {
        "bias": 1.0,
        "short": float(len(spoken) <= 4),
        "long": max(0.0, min(1.0, (len(spoken) - 14) / 14)),
        "number": float(has_number(statement)),
        "time": float(has_time(statement)),
        "dated": float(_DATED.search(statement) is not None),
        "name": float(_has_name(spoken)),
        "owned": float(any((noun(word) or word) in _OWNED for word in lowered)),
        "modal": float(_MODAL.search(statement) is not None),
        "negated": float(_NEGATED.search(statement) is not None),
        "opening": float(_OPENINGS.match(statement) is not None),
        "unfinished": float(lowered[-1] in _LAST or is_adverb(lowered[-1])) if lowered else 1.0,
        "identity": float(_STATED.match(statement) is not None),
        "clauses": float(min(2, len(_I.findall(statement)) - 1)) if "I" in spoken else 0.0,
    }
    for word in lowered:
        for name in _TRAITS_OF.get(word, ()):
            found[name] = min(3.0, found.get(name, 0.0) + 1)
    things = sum(_is_thing(word) for word in lowered)
    found["things"] = float(min(things, 4))
    found["nothing"] = float(things == 0)
    kind = _KINDS.match(statement)
    if kind is None:
        found["other subject"] = 1.0
    elif kind["mine"]:
        found["my"] = 1.0
    elif lowered[0].startswith("we"):
        found["we"] = 1.0
    if own is not None:
        found["ing"] = float(own.form is Form.ING)
        found["past"] = float(own.form is Form.PAST and not own.auxiliary)
    for name, known in _CLASSES.items():
        if verb in known:
            found[name] = 1.0
    return {name: value for name, value in found.items() if value}


def _verb(lowered: list[str]) -> str:
    """Return the first word that can only be a verb, for a subject other than "I"."""
    return next((word for word in lowered[1:] if forms(word) - {Form.BASE} or word == "is"), "")


def _has_name(spoken: list[str]) -> bool:
    return any(
        word[:1].isupper() and word not in ("I", "Xq") and not word.startswith("I'")
        for word in spoken[1:]
    ) or bool(spoken and is_name(spoken[0]))


@lru_cache(maxsize=65_536)
def _is_thing(word: str) -> bool:
    names_nothing = _LISTS["vague"] | _LISTS["abstract"] | _LISTS["moment"]
    return word not in names_nothing and noun(word) is not None
