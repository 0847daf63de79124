"""Tell what lasts about the user from what happens, is wanted, or is done just now."""

from __future__ import annotations

import re

from semantic_memory.domain.english.core import mentions_others
from semantic_memory.domain.english.tables import phrases
from semantic_memory.domain.english.words import Form, forms
from semantic_memory.domain.patterns import regex

_OF_USER = regex(
    r"^(?:the user(?: and others)?|user)"
    r"(?: (?:also|still|now|always|only|both|just|\w+ly))* (?P<verb>[\w']+)(?P<rest> .+)",
    re.IGNORECASE,
)
_OF_THEIRS = regex(
    r"^the user's (?:[\w'-]+ ){1,5}?(?P<verb>is|are|has|have|isn't|aren't)(?P<rest> .+)", re.I
)
_STATES = frozenset("is are has have isn't aren't can't cannot doesn't don't am".split())
_IS = r"(?:is|are|am)(?: (?:so|very|really|a bit|just|not|still|now|also|too|pretty|quite))*"
_PASSING = regex(
    rf"^(?:{phrases('lasting.verbs')}|{_IS} {phrases('lasting.states')}"
    rf"|{_IS} (?!{phrases('lasting.doings')}\b)\w+ing|ha(?:s|ve) {phrases('lasting.not_had')})\b",
    re.IGNORECASE,
)
_TIMED = regex(rf"\b{phrases('lasting.times')}\b|\b20\d\d\b", re.IGNORECASE)
_FEWEST = 5  # words of a line that says enough by itself


def lasts(content: str) -> bool:
    """Return True if a fact tells what the user is, has or does for a while, and of nobody else.

    >>> lasts("The user dictates because of sore wrists"), lasts("The user went to Rome on Monday")
    (True, False)
    >>> lasts("The user needs a new bike"), lasts("The user reports to Dana Whitfield now")
    (False, True)
    """
    text = " ".join(content.replace("’", "'").split())
    found = _OF_USER.match(text) or _OF_THEIRS.match(text)
    if found is None or len(text.split()) < _FEWEST or _TIMED.search(text):
        return False
    verb = found["verb"].lower()
    if verb not in _STATES and Form.THIRD not in forms(verb):
        return False
    return not _PASSING.match(verb + found["rest"]) and not mentions_others(text)
