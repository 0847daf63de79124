"""Read how someone wants to be called: "people call me Kit", "it's Catriona with a C"."""

from __future__ import annotations

import re

from semantic_memory.domain.english.predications import is_name
from semantic_memory.domain.english.tables import phrases, words
from semantic_memory.domain.english.words import is_word
from semantic_memory.domain.text import STOP_WORDS

_NAME = r"(?P<name>(?:(?:dr|mr|mrs|ms|prof)\.?\s)?[^\W\d_][\w'’.-]*(?:\s[A-Z][\w'’-]*){0,3})"
_REST = r"(?P<rest>(?:,?\s(?:not|instead of|rather than|with|at|in|for|when|by)\b.{1,60})?)"
_CALLS = re.compile(rf"^{phrases('naming.callers')} {_NAME}{_REST}$", re.IGNORECASE)
_ORDER = re.compile(rf"^{phrases('naming.orders')} {_NAME}{_REST}$", re.IGNORECASE)
_SPELLED = re.compile(
    rf"^(?:it'?s|that's|my name is|i'm|it is) {_NAME}"
    r"(?P<rest>,? (?:with|without|spelled|spelt) .{1,40})$",
    re.IGNORECASE,
)
_SPELLING_ALONE = re.compile(r"^(?:with|without) an? (?P<how>[A-Z]\b.{0,30})$", re.IGNORECASE)
_PRESENTED = re.compile(
    rf"^(?:(?:hi|hey|hello|yo|hiya)\b[\s,!]*)?(?P<by>{phrases('naming.presenting')}),? {_NAME}"
    r"(?:,? (?:here|by the way|btw))?$",
    re.IGNORECASE,
)
_LONGEST = 90
_STATES = words("worth.lasting_states")
_ADJECTIVE_ENDINGS = ("ic", "ed", "an", "ish", "al", "ive", "ous", "able", "less", "ful", "ing")
_ORDINARY = STOP_WORDS | words("numbers.small", "numbers.large", "predications.prepositions")
_NO_NAMES = words("naming.no_names")


def named(sentence: str, *, alone: bool) -> str | None:
    """Return what a sentence tells of its speaker's name, in the first person; or None.

    `alone` admits introductions such as "I'm Yara", whose name might else be anything.

    >>> named("You can call me Theo", alone=True)
    'I want to be called Theo'
    >>> named("people call me Lou, not Louise", alone=True)
    'people call me Lou, not Louise'
    >>> named("it's Catriona with a C, not a K", alone=True)
    'my name is Catriona with a C, not a K'
    >>> named("I'm Yara", alone=True), named("call me later", alone=True)
    ('I am Yara', None)
    """
    text = sentence.strip(" .!,")
    if len(text) > _LONGEST:
        return None
    if (called := _CALLS.match(text)) and _can_be_name(called["name"]):
        name, start = called["name"], called.start("name")
        return text[:start] + _capital(name) + called["rest"]
    if (order := _ORDER.match(text)) and _can_be_name(order["name"]):
        return f"I want to be called {_capital(order['name'])}{order['rest']}"
    if (spelled := _SPELLED.match(text)) and _can_be_name(spelled["name"]):
        return f"my name is {_capital(spelled['name'])}{spelled['rest']}"
    if spelling := _SPELLING_ALONE.match(text):
        return f"my name is spelled with {spelling['how']}"
    if alone and (presented := _PRESENTED.match(text)):
        first = presented["name"].split()[0]
        if first.lower() in _STATES or (first.islower() and first.endswith(_ADJECTIVE_ENDINGS)):
            return None
        if (
            first.lower() not in _ORDINARY
            and _can_be_name(presented["name"])
            and is_name(first[:1].upper() + first[1:])
        ):
            own = presented["by"].lower().startswith("i")
            return f"{'I am' if own else 'my name is'} {_capital(presented['name'])}"
    return None


def _can_be_name(name: str) -> bool:
    spoken = name.lower().replace(".", "").split()
    if any(word in _NO_NAMES for word in spoken):
        return False
    return name[:1].isupper() or not is_word(spoken[-1])


def _capital(name: str) -> str:
    return " ".join(word[:1].upper() + word[1:] for word in name.split())
