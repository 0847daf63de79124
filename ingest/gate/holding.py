"""Decide which part of a message is held back: nothing, the sentences that attack, or all of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from ingest.gate.attacks import is_attack
from ingest.gate.instructions import is_instruction
from ingest.gate.learned import score, shipped
from semantic_memory.domain.evidence import drawn_from, left_of, pieces
from semantic_memory.domain.messages import Message
from semantic_memory.domain.patterns import regex
from semantic_memory.judging.forgetting import requests_in

_LONGEST = 600
"""Characters of a message of which single sentences are held: what is longer, or has lines, is
text that was pasted."""
_MARGIN = 1.0
"""Distance below the threshold that the rest must have, and each sentence of it."""
_HELD = 0.5
"""Share of sentences above which a message is held as a whole."""
_FEWEST_WORDS = 3
"""A shorter sentence says nothing to keep the others for."""
_ADDRESS = regex(r"\byou(?:r|rself)?\b", re.IGNORECASE)


def takes_over(text: str) -> bool:
    """Return True if a text of a person reads like an attack on a model."""
    return is_attack(text) or score(text, model := shipped()) > model.threshold


def orders(text: str) -> bool:
    """Return True if a text that nobody said reads like an instruction to a model."""
    return is_instruction(text) or takes_over(text)


class Held(NamedTuple):
    """Sentences of a message, and the places of those that are held back."""

    sentences: list[str]
    places: frozenset[int]

    @property
    def whole(self) -> bool:
        """True if nothing of the message may be recalled."""
        return len(self.places) == len(self.sentences)

    @property
    def rest(self) -> str:
        """The text without what is held."""
        return left_of(self.sentences, self.places)

    def holds(self, statement: str) -> bool:
        """Return True if a statement was drawn from what is held, or it can't be told."""
        drawn = drawn_from(statement, self.sentences)
        return not drawn or not drawn.isdisjoint(self.places)


def held(message: Message) -> Held | None:
    """Return what is held of a message; None if nothing is.

    All of a tool's message, of one by a speaker whose name attacks, and of one whose rest isn't
    clearly harmless. A user's request to forget attacks nobody.
    """
    reads: Callable[[str], bool] = orders if message.role == "tool" else takes_over
    named = message.name is not None and takes_over(message.name)
    if not named and not reads(message.content):
        return None
    if not named and message.role == "user" and not reads(_without_requests(message.content)):
        return None
    whole = Held([message.content], frozenset({0}))
    text = message.content.strip()
    if named or message.role == "tool" or len(text) > _LONGEST or "\n" in text:
        return whole
    sentences = pieces(message.content)
    places = frozenset(n for n, sentence in enumerate(sentences) if not _may_stay(sentence))
    found = Held(sentences, places)
    spoken = sum(map(_says_something, sentences))
    if not places or len(places) > _HELD * spoken or not _is_harmless(found.rest):
        return whole
    return found


def _without_requests(text: str) -> str:
    """Return a text without its requests to forget, which wait until they are settled."""
    sentences = pieces(text)
    return left_of(sentences, requests_in(sentences))


def _may_stay(sentence: str) -> bool:
    """Return True for a sentence that speaks to nobody and is harmless by itself."""
    return not _ADDRESS.search(sentence) and _is_harmless(sentence)


def _is_harmless(text: str) -> bool:
    return not is_attack(text) and score(text, model := shipped()) <= model.threshold - _MARGIN


def _says_something(sentence: str) -> bool:
    return len(sentence.split()) >= _FEWEST_WORDS
