"""Recognise talk that isn't meant as fact: play, dreams, examples, jokes, texts to work on."""

from __future__ import annotations

import re

from semantic_memory.domain.english.notation import any_of
from semantic_memory.domain.english.tables import phrases, phrases_with_choices
from semantic_memory.domain.patterns import regex

_QUOTED = regex(r"\"[^\"]*\"|“[^”]*”|«[^»]*»")
_BEHIND_COLON = regex(r":\s(?!//).*", re.DOTALL)
_PLAYED = regex(rf"^\W*{phrases('frames.played')}\b", re.IGNORECASE)
_OF_ANOTHER = r"[ -](?:club|shop|store|group|industry|business|room|theatre|theater|fair|season)"
_UNMEANT = regex(rf"\b{phrases('frames.frames', 'frames.jokes')}\b(?!{_OF_ANOTHER})", re.IGNORECASE)
_JEST = regex(rf"\b{phrases_with_choices('frames.jests')}\b(?!{_OF_ANOTHER})", re.IGNORECASE)
_LONGEST_JEST = 100  # characters
_MATERIAL = regex(
    any_of(
        r"(?:^\s*+|\n[^\S\n]*+|[.!?,:]\s++)(?:(?:and|please|can you|could you)\s)?"
        rf"{phrases('frames.material')}\b",
        rf"\b{phrases('frames.handed_over')}\b",
    ),
    re.IGNORECASE,
)


def is_play(message: str) -> bool:
    """Return True if a whole message is play or supposition.

    >>> is_play("roleplay: I am a wizard"), is_play("Let's say our team had twenty people.")
    (True, True)
    >>> is_play("I play the cello")
    False
    """
    return _PLAYED.match(message) is not None


def is_unmeant(sentence: str) -> bool:
    """Return True if a sentence tells of a story, a dream or an example, or is a joke.

    >>> is_unmeant("in my dream I was a fish"), is_unmeant("I basically live at the office")
    (True, True)
    >>> is_unmeant("I live at the coast"), is_unmeant("we read Emma in the book club")
    (False, False)
    """
    return _UNMEANT.search(sentence) is not None


def is_jest(sentence: str) -> bool:
    """Return True if a short sentence is a jest, or of a made-up figure.

    >>> is_jest("our printer hates me"), is_jest("our printer prints on both sides")
    (True, False)
    """
    return len(sentence) <= _LONGEST_JEST and _JEST.search(sentence) is not None


def is_material(message: str) -> bool:
    """Return True if a message hands something over to be worked on: code, a log, a text.

    >>> is_material("fix the yaml"), is_material("what does this config do?")
    (True, True)
    >>> is_material("editor: helix")
    False
    """
    return _MATERIAL.search(message) is not None


def without_quotes(message: str) -> str:
    """Return a message without what stands in quotation marks or behind a colon.

    >>> without_quotes('translate "I am here" into French')
    'translate  into French'
    """
    return _BEHIND_COLON.sub(":", _QUOTED.sub("", message))
