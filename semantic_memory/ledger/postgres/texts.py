"""The words of facts: as stems with their counts, and as they are written.

Both indexes hold the owner beside the words, so that a match is cut to a user before any row is
read. A word as it is written is looked for in the index first; the text with its words in order,
each between spaces, decides.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from semantic_memory.domain.facts import Fact
from semantic_memory.domain.lexical import Term
from semantic_memory.domain.text import stems
from semantic_memory.ledger.rules import has_same_words, searched_text
from semantic_memory.ledger.sql.owners import owner_token
from semantic_memory.ledger.sql.part import Database
from semantic_memory.ledger.sql.spelling import beginnings, spelled, written

_LONGEST = 500
"""Characters of a stem that count; the index takes no longer words."""
_MOST_BYTES = 500_000
"""Size of the words that are indexed as they are written; a tsvector holds a megabyte."""
_LARGE = "zlarge"
"""Stands for all the words of a larger text; no spelled word has a z but before six digits."""

_INSERT = (
    "INSERT INTO words (user_id, num, stems, counts, length, forms, written)"
    " VALUES (?, ?, ?::text[], ?::int[], ?, array_to_tsvector(?::text[]), ?)"
    " ON CONFLICT (user_id, num) DO UPDATE SET stems = excluded.stems, counts = excluded.counts,"
    " length = excluded.length, forms = excluded.forms, written = excluded.written"
)


class Texts:
    """Both full-text indexes."""

    def write(self, db: Database, num: int, fact: Fact) -> None:
        """Index the words of a fact."""
        db.execute(_INSERT, _row(num, fact))

    def follow(self, db: Database, num: int, old: Fact, new: Fact) -> None:
        """Index the words of a changed fact, if they changed."""
        if old.text != new.text or not has_same_words(old, new):
            self.write(db, num, new)


def stem_of(word: str) -> str:
    """Return a stem as the index holds it."""
    return word[:_LONGEST]


def query(user_id: str, term: Term) -> str:
    """Return the tsquery for the texts of a user that may hold a term."""
    if term.is_pattern:
        words = [word if whole else f"{word}:*" for word, whole in beginnings(term)]
    else:
        words = [spelled(word) for word in term.words]
    if term.open_ended:
        words[-1] += ":*"
    owner = owner_token(user_id)
    return f"{owner} & ({_LARGE} | ({' & '.join(words)}))" if words else owner


def pattern(term: Term) -> str:
    """Return the pattern of LIKE for the texts that hold a term."""
    words = " ".join(spelled(word) for word in term.words)
    return f"% {words}%" if term.open_ended else f"% {words} %"


def _row(num: int, fact: Fact) -> tuple[Any, ...]:
    owner = owner_token(fact.user_id)
    counts = Counter(map(stem_of, stems(searched_text(fact))))
    text = written(fact.text)
    forms = sorted(set(text.split()))
    if sum(map(len, forms)) > _MOST_BYTES:
        forms = [_LARGE]
    return (
        *(fact.user_id, num, [owner, *counts], [0, *counts.values()], counts.total()),
        *([owner, *forms], f" {text} "),
    )
