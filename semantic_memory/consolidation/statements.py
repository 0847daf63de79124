"""Read what must not be lost in a comparison of two sentences: numbers, dates, names, "not".

Embeddings put "lives in Berlin" and "doesn't live in Berlin", or "5 cups" and "7 cups", next to
each other. These readings tell them apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from semantic_memory.domain.english.dates import calendar_dates, relative_times
from semantic_memory.domain.english.folding import folded
from semantic_memory.domain.english.hedges import is_open, moves_a_date, tells_change
from semantic_memory.domain.english.names import names
from semantic_memory.domain.english.negation import NEGATIONS, denies
from semantic_memory.domain.english.numbers import codes, figures, numbers
from semantic_memory.domain.english.renewals import KIN
from semantic_memory.domain.english.tenses import (
    has_relative_clause,
    is_lasting,
    is_passive,
    is_past,
)
from semantic_memory.domain.english.words import WORD
from semantic_memory.domain.text import stem, stems
from semantic_memory.language.own_speech import MOST_OWN

_KIN = frozenset(map(stem, KIN))


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence as the rules read it."""

    text: str
    plain: str
    """The folded text: lower case, contractions and spelled numbers written out."""
    words: frozenset[str]
    stems: tuple[str, ...]
    """Stemmed words in order, without function words, numbers and negations."""
    numbers: frozenset[str]
    codes: frozenset[str]
    """Words that mix letters and digits, as names of things do."""
    figures: Mapping[str, str]
    """Counted or measured amounts, by unit or noun; left out if there are two for one."""
    dates: frozenset[str]
    """Months, weekdays and ISO dates."""
    relative: frozenset[str]
    """Times that depend on the day of speaking: "yesterday"."""
    names: frozenset[str]
    """Capitalised words, casefolded."""
    kin: frozenset[str]
    """Stems of words for relatives and other people."""
    owners: frozenset[str]
    """Those whose something it speaks of, and of whom it says nothing else."""
    negated: bool
    changes: bool
    """Carries a cue of change: "no longer", "switched to", "now"."""
    moves: bool
    """Says that a date was moved."""
    hedged: bool
    past: bool
    stative: bool
    passive: bool
    relative_clause: bool
    question: bool

    @property
    def content(self) -> frozenset[str]:
        """The stems as a set."""
        return frozenset(self.stems)


@lru_cache(maxsize=16_384)
def read(text: str) -> Statement:
    """Read one sentence (or a few)."""
    plain = folded(text)
    words = frozenset(WORD.findall(plain))
    told = plain[:MOST_OWN]  # patterns of wording take time by more than the length
    return Statement(
        text=text,
        plain=plain,
        words=words,
        stems=tuple(
            word
            for word in stems(plain)
            if word and not word[0].isdigit() and word not in NEGATIONS
        ),
        numbers=frozenset(numbers(plain)),
        codes=frozenset(codes(plain)),
        figures=figures(plain),
        dates=frozenset(calendar_dates(plain)),
        relative=frozenset(relative_times(plain)),
        names=frozenset(names(text)),
        kin=_KIN & {stem(word.removesuffix("'s")) for word in words},
        owners=frozenset(word[:-2] for word in words if word.endswith("'s")) - words - KIN,
        negated=denies(words) and "not only" not in plain,
        changes=tells_change(told),
        moves=moves_a_date(told),
        hedged=is_open(told),
        past=is_past(told),
        stative=is_lasting(told),
        passive=is_passive(told),
        relative_clause=has_relative_clause(told),
        question=plain.rstrip().endswith("?"),
    )
