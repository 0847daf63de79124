"""Which pieces of a memory are embedded.

A model of 256 tokens can't see the end of a long text, and one vector blurs a text that says
several things. So a memory has one vector for each window (the whole text, for most) and, if it
fits one window but has several sentences, one for each sentence too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import sentencex

from semantic_memory.domain.changes import FactVectors
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.ports import Embedder
from semantic_memory.domain.text import embedded_text

WINDOW_CHARACTERS = 900
"""About 220 tokens of English: within the 256 that the default model reads."""
OVERLAP_CHARACTERS = 150
MIN_SENTENCE_WORDS = 3


class Passages(NamedTuple):
    """The pieces of a text."""

    windows: list[str]
    sentences: list[str]


def sentences(text: str) -> list[str]:
    """The sentences of `text`, by language-independent rules; line breaks end one."""
    return [part.strip() for part in sentencex.segment("en", text) if part.strip()]


def split(text: str) -> Passages:
    """Cut `text` into windows of whole sentences that overlap, and into sentences."""
    parts = sentences(text)
    if len(text) > WINDOW_CHARACTERS:
        return Passages(list(_windows(parts)), [])
    telling = [part for part in parts if len(part.split()) >= MIN_SENTENCE_WORDS]
    return Passages([text], telling if len(parts) > 1 else [])


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
    """The vectors of each fact, from one call to the embedder.

    Raises ProviderError if it can't be reached, InputRefusedError if it refuses a text.
    """
    pieces = [split(fact.content) for fact in facts]
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
    """The speaker of a message; a fact names its subject itself."""
    return fact.source.speaker if fact.category is Category.CONVERSATION else None
