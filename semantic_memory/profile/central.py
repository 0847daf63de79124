"""Selection of sentences that represent many: central, informative and unlike each other.

    value = v * weight * (1 + cos(x, centroid)) / 2  -  (1 - v) * max cos(x, chosen)

The centroid is the weighted mean of all vectors (Radev et al. 2004, "Centroid-based summarization
of multiple documents"); the second term is maximal marginal relevance (Carbonell & Goldstein 1998).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import stems

_RELEVANCE = 0.7  # v above
_TELLING_WORDS = 6  # content words from which a sentence counts in full
_LONG_WORDS = 30  # words beyond which a sentence is too long for a line
_SUBJECT_WORDS = 3  # first words, among which a sentence about its speaker names them
_NAMES_SOMETHING = regex(r"\d|(?<!^)(?<![.!?] )\b[A-Z][\w-]*[A-Za-z]")
# Begins with a word that refers to the sentence before it.
_LEANS = regex(
    r"(?:it|that|this|these|those|they|he|she|here|there|and|but|so|now|then|also)\b(?!\s+is\s+a\b)",
    re.IGNORECASE,
)


def most_central(
    rows: Sequence[Matrix],
    weights: Sequence[float],
    texts: Sequence[str],
    count: Callable[[str], int],
    *,
    most: int,
    room: int,
) -> list[int]:
    """Return the places of at most `most` texts of at most `room` tokens together, best first.

    `rows` are their unit vectors, `weights` their worth in [0, 1]; those of weight 0 are never
    chosen. Of equal values the first is chosen, so that the result is deterministic. `count`
    returns the tokens of a text, and is asked for the best ones only.
    """
    if not len(rows):
        return []
    vectors = np.asarray(rows)
    worth = np.asarray(weights, dtype=np.float64)
    centre = worth @ vectors
    length = float(np.linalg.norm(centre))
    central = vectors @ (centre / length) if length else np.zeros(len(vectors))
    relevance = _RELEVANCE * worth * (1.0 + central) / 2.0
    alike = np.zeros(len(vectors))
    free = worth > 0.0
    chosen: list[int] = []
    while len(chosen) < most and free.any():
        value = np.where(free, np.round(relevance - (1.0 - _RELEVANCE) * alike, 6), -np.inf)
        best = int(np.argmax(value))
        free[best] = False
        if (tokens := count(texts[best])) > room:
            continue
        chosen.append(best)
        room -= tokens
        alike = np.maximum(alike, vectors @ vectors[best])
    return chosen


def telling(fact: Fact) -> float:
    """Return how informative a fact is on its own, in [0, 1].

    Grows with confidence, content words, names and numbers. Lower for a fact that refers to the
    sentence before it, doesn't name its subject, is long, or was said by the assistant.
    """
    words = fact.content.split()
    speaker = (fact.source.speaker or "").casefold()
    said = min(1.0, len(set(stems(fact.content))) / _TELLING_WORDS)
    brief = min(1.0, _LONG_WORDS / max(1, len(words)))
    named = 1.0 if _NAMES_SOMETHING.search(fact.content) else 0.85
    leans = 0.4 if _LEANS.match(fact.content) else 1.0
    subject = 1.0 if speaker in " ".join(words[:_SUBJECT_WORDS]).casefold() else 0.5
    own = 0.5 if fact.source.role == "assistant" else 1.0
    return fact.confidence * said * brief * named * leans * subject * own


def sentence(text: str) -> str:
    """Return `text` on one line, with a full stop unless it ends in a mark or a quote."""
    line = " ".join(text.split())
    return line if line.endswith((".", "!", "?", "…", "。", "”", '"')) else f"{line}."
