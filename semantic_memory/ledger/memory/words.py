"""Search by words, with the BM25 of FTS5.

BM25 with k1 = 1.2 and b = 0.75, its statistics over the memories of all users; see
https://www.sqlite.org/fts5.html#the_bm25_function. Function words neither match nor count.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Collection, Sequence

from semantic_memory.domain.conditions import meets
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.ports import Match
from semantic_memory.domain.text import stems
from semantic_memory.ledger.memory.store import Part, Row, Tables
from semantic_memory.ledger.rules import searched_text

_K1 = 1.2
_B = 0.75
_LEAST_IDF = 1e-6


def counted(fact: Fact) -> Counter[str]:
    """Return the count of each stemmed word in the searched text of a fact."""
    return Counter(stems(searched_text(fact)))


class WordSearcher(Part):
    """The role `WordSearch`."""

    def words(
        self, user_id: str, terms: Sequence[str], *, limit: int, filters: Filters = NO_FILTERS
    ) -> list[Match]:
        """Return the memories holding any of `terms`, by BM25, best first."""
        wanted = {stem for term in terms for stem in stems(term)}
        conditions = filters.conditions()
        tables = self._store.snapshot()
        found = [
            row
            for row in tables.of(user_id)
            if not wanted.isdisjoint(row.words) and meets(row.fact, conditions)
        ]
        idf = _inverse_frequencies(tables, wanted)
        lengths = [sum(row.words.values()) for row in tables.facts.values() if row.words]
        average = sum(lengths) / max(len(lengths), 1)
        matches = [Match(row.fact.id, _score(row, idf, average)) for row in found]
        return heapq.nlargest(limit, matches, key=lambda match: match.similarity)

    def document_frequencies(
        self, user_id: str, terms: Sequence[str]
    ) -> tuple[int, dict[str, float]]:
        """Return the number of a user's memories, and about how many hold each stemmed word."""
        tables = self._store.snapshot()
        own = sum(row.kept for row in tables.of(user_id))
        total = max(len(tables.facts), 1)
        holding = _holding(tables, terms)
        return own, {term: number * own / total for term, number in holding.items()}


def _holding(tables: Tables, terms: Collection[str]) -> Counter[str]:
    """Return the number of memories that hold each term, of all users."""
    return Counter(
        term for row in tables.facts.values() for term in set(terms) if term in row.words
    )


def _inverse_frequencies(tables: Tables, terms: Collection[str]) -> dict[str, float]:
    total = sum(bool(row.words) for row in tables.facts.values())
    return {
        term: max(_LEAST_IDF, math.log((total - number + 0.5) / (number + 0.5)))
        for term, number in _holding(tables, terms).items()
    }


def _score(row: Row, idf: dict[str, float], average: float) -> float:
    norm = _K1 * (1.0 - _B + _B * sum(row.words.values()) / average)
    counts = ((weight, row.words.get(term, 0)) for term, weight in idf.items())
    return sum(weight * count * (_K1 + 1.0) / (count + norm) for weight, count in counts)
