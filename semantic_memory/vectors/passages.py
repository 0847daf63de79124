"""Splitting of memories into the pieces that are embedded.

A model of 256 tokens doesn't read the end of a long text, and a single vector blurs a text with
several statements. So a memory has one vector for each window (mostly the whole text) and, if it
fits one window but has several sentences, one for each sentence of three words or more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from semantic_memory.domain.changes import FactVectors
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.ports import Embedder
from semantic_memory.domain.segments import segments
from semantic_memory.domain.text import embedded_text

WINDOW_CHARACTERS = 900
"""Length of a window: about 220 tokens of English, within the 256 of the default model."""
OVERLAP_CHARACTERS = 150
MIN_SENTENCE_WORDS = 3


class Passages(NamedTuple):
    """Pieces of a text."""

    windows: list[str]
    sentences: list[str]


def split(text: str) -> Passages:
    """Split `text` into overlapping windows of whole sentences, and into sentences.

    >>> split("I paint in oils. Yes! I sing in a choir.").sentences
    ['I paint in oils.', 'I sing in a choir.']
    """
    parts = [part.strip() for part in segments(text) if part.strip()]
    if len(text) > WINDOW_CHARACTERS:
        return Passages(list(_windows(parts)), [])
    long = [part for part in parts if len(part.split()) >= MIN_SENTENCE_WORDS]
    return Passages([text], long if len(parts) > 1 else [])


def _windows(parts: Iterable[str]) -> Iterator[str]:
    window: list[str] = []
    size = 0
    for part in _short(parts):
        if size + len(part) > WINDOW_CHARACTERS and window:
            yield " ".join(window)
            while window and size > OVERLAP_CHARACTERS:
                size -= len(window.pop(0)) + 1
        window.append(part)
        size += len(part) + 1
    if window:
        yield " ".join(window)


def _short(parts: Iterable[str]) -> Iterator[str]:
    step = WINDOW_CHARACTERS - OVERLAP_CHARACTERS
    for part in parts:
        for start in range(0, max(1, len(part) - OVERLAP_CHARACTERS), step):
            yield part[start : start + WINDOW_CHARACTERS]


def embed_facts(embedder: Embedder, facts: Sequence[Fact]) -> list[FactVectors]:
    """Return the vectors of each fact, with one call of the embedder.

    Raises ProviderError if the embedder can't be reached, InputRefusedError if it refuses a text.
    """
    pieces = [split(fact.text) for fact in facts]
    texts = [
        text
        for fact, passages in zip(facts, pieces, strict=True)
        for text in (
            *(embedded_text(window, _said_by(fact)) for window in passages.windows),
            *passages.sentences,
        )
    ]
    rows = embedder.embed(texts, "document")
    vectors, start = [], 0
    for passages in pieces:
        middle = start + len(passages.windows)
        end = middle + len(passages.sentences)
        vectors.append(FactVectors(windows=rows[start:middle], sentences=rows[middle:end]))
        start = end
    return vectors


def _said_by(fact: Fact) -> str | None:
    """Return the speaker of a message; None for a fact, which names its subject itself."""
    return fact.source.speaker if fact.category is Category.CONVERSATION else None
