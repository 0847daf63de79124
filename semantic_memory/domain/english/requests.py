"""Tell what is asked in passing, "convert 3 cups to ml", from what tells of its speaker."""

from __future__ import annotations

import re
from functools import lru_cache

from semantic_memory.domain.english.commands import is_command
from semantic_memory.domain.english.core import names_a_need
from semantic_memory.domain.english.sentences import sentences
from semantic_memory.domain.english.tables import phrases, words
from semantic_memory.domain.english.words import WORD
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import stems

_OWN = regex(r"\b(?:my|mine|our|ours|we|im|ive|I(?:'m|'ve| am| have))\b", re.IGNORECASE)
_FOR_GOOD = regex(rf"\b{phrases('orders.firmly')}\b", re.IGNORECASE)
_OF_THE_TALK = regex(rf"\b{phrases('requests.of_the_talk')}\b", re.IGNORECASE)
_ASKING = words("requests.asking")
_TEXT = regex(
    r"^(?:I )?(?:just |also )?(?:need|want|would like|could use) "
    rf"(?:an?|some|another|one|{phrases('numbers.small')}|\d+) (?:[\w'-]+ ){{0,3}}?"
    rf"{phrases('requests.texts')}\b(?! from\b)",
    re.IGNORECASE,
)
_LONGEST = 400  # characters; more is material that was handed over
_SHORTEST = 3  # letters of a word that says what a text is about


@lru_cache(maxsize=16_384)
def only_asks(message: str) -> bool:
    """Return True if a message only asks for something, and tells nothing of its speaker.

    >>> only_asks("Convert 3 cups to ml"), only_asks("how far is the moon?")
    (True, True)
    >>> only_asks("Find me a gym near my flat"), only_asks("Any tips? I can't eat nuts.")
    (False, False)
    """
    if len(message) > _LONGEST or _OWN.search(message) or _FOR_GOOD.search(message):
        return False
    if names_a_need(message):
        return False
    return WORD.search(message) is not None and all(
        is_request(sentence.text) for sentence in sentences(message)
    )


def is_request(sentence: str) -> bool:
    """Return True for a command with a verb of requests.

    >>> is_request("suggest a dinner"), is_request("drive a van")
    (True, False)
    """
    found = WORD.match(sentence)
    return found is not None and found[0].lower() in _ASKING and is_command(sentence)


def asks_for_text(statement: str) -> bool:
    """Return True if a statement to an assistant is a request for something that it writes.

    >>> asks_for_text("I need a team name for our club"), asks_for_text("I need a visa for Ghana")
    (True, False)
    """
    return _TEXT.match(statement) is not None


def asks_of_the_talk(query: str) -> bool:
    """Return True if a question is about what was said, or asked for, before.

    >>> asks_of_the_talk("Which film did you suggest?"), asks_of_the_talk("Suggest a film")
    (True, False)
    """
    return _OF_THE_TALK.search(query) is not None


@lru_cache(maxsize=16_384)
def subjects(text: str) -> frozenset[str]:
    """Return the stems of the words that say what a request is about.

    >>> sorted(subjects("Please suggest a good film for 2 people"))
    ['film']
    """
    return frozenset(one for one in stems(text) if len(one) >= _SHORTEST and one not in _GENERIC)


_GENERIC = frozenset(
    stem
    for word in words("requests.asking", "requests.generic", "numbers.small")
    for stem in stems(word)
)
