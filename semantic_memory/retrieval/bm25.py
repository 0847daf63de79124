"""BM25 over one user's memories, kept current as they come and go.

Robertson & Zaragoza (2009), "The Probabilistic Relevance Framework", with the idf of Lucene:

    score(d) = sum over query terms t of  idf(t) * f * (k1 + 1) / (f + k1 * (1 - b + b * |d| / avg))
    idf(t)   = ln(1 + (N - n + 0.5) / (n + 0.5))

The sum is divided by its upper bound, the sum of idf(t) * (k1 + 1) over all terms of the query,
including those that no memory holds. So scores lie in [0, 1] and are comparable between queries.

FTS5's own ranking fixes b at 0.75 and counts statistics over all users; b = 0.3 suits memories,
which are short, and a user's scores should depend on that user's memories. Where only a sample of
them is at hand, N and n come from elsewhere and may be estimates; n is then kept within what the
sample shows and N, without which idf could turn negative and scores leave [0, 1].
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from semantic_memory.retrieval.strings import NO_STRINGS, Strings, to_bytes

Scores = NDArray[np.float32]
Mask = NDArray[np.bool_]

Statistics = tuple[int, Callable[[str], float]]
"""Number of texts, and number of texts with a term."""

K1 = 1.2
B = 0.3


class Postings(NamedTuple):
    """The texts that hold a term, in ascending order, and how often each does."""

    rows: array[int]
    counts: array[int]


_NOWHERE = Postings(array("I"), array("H"))


class KeptPostings(NamedTuple):
    """The postings of texts that were indexed before, as arrays that are read where they lie."""

    lengths: NDArray[np.uint32]
    """Number of words of each text."""
    terms: Strings
    """Sorted by their bytes."""
    ends: NDArray[np.int64]
    """End of the postings of each term in `rows` and `counts`."""
    rows: NDArray[np.uint32]
    counts: NDArray[np.uint16]

    def of(self, term: str) -> tuple[NDArray[np.uint32], NDArray[np.uint16]]:
        """Return the texts that hold a term, and how often each does."""
        place = self.terms.find(term)
        if place is None:
            return self.rows[:0], self.counts[:0]
        here = slice(int(self.ends[place - 1]) if place else 0, int(self.ends[place]))
        return self.rows[here], self.counts[here]


NO_POSTINGS = KeptPostings(
    np.zeros(0, np.uint32),
    NO_STRINGS,
    np.zeros(0, np.int64),
    np.zeros(0, np.uint32),
    np.zeros(0, np.uint16),
)


class BM25:
    """Postings of texts numbered 0, 1, 2, ... in the order they were added."""

    def __init__(self, kept: KeptPostings | None = None) -> None:
        """Begin with what is kept of the first texts."""
        self._kept = kept
        self._postings: dict[str, Postings] = {}  # of the texts behind these
        self._lengths = array("I")
        if kept is not None:
            self._lengths.frombytes(kept.lengths.tobytes())

    def __len__(self) -> int:
        return len(self._lengths)

    def extend(self, texts: Sequence[Sequence[str]]) -> None:
        """Append texts, each given by its stemmed words."""
        first = len(self._lengths)
        lengths = [len(terms) for terms in texts]
        self._lengths.extend(lengths)
        codes: dict[str, int] = {}
        said = [codes.setdefault(term, len(codes)) for terms in texts for term in terms]
        rows = np.repeat(np.arange(first, first + len(texts)), lengths)
        # sorted by term, then by row
        held, counts = np.unique(np.array(said, np.int64) << 32 | rows, return_counts=True)
        ends = np.searchsorted(held >> 32, np.arange(len(codes)), side="right").tolist()
        rows_held = memoryview(held.astype(np.uint32)).cast("B")
        counted = memoryview(np.minimum(counts, 65_535).astype(np.uint16)).cast("B")
        start = 0
        for term, end in zip(codes, ends, strict=True):
            if (postings := self._postings.get(term)) is None:
                postings = self._postings[term] = Postings(array("I"), array("H"))
            postings.rows.frombytes(rows_held[4 * start : 4 * end])
            postings.counts.frombytes(counted[2 * start : 2 * end])
            start = end

    def score(
        self,
        terms: Sequence[str],
        alive: Mask,
        *,
        statistics: Statistics | None = None,
    ) -> Scores:
        """Return the score of every text for a query's stemmed words, in [0, 1].

        Shape (len(self),). Texts that aren't `alive` neither score nor count. `statistics` replaces
        N and n(t) if these texts are a sample of more.
        """
        scores: Scores = np.zeros(len(self), dtype=np.float32)
        present = int(alive.sum())
        if not terms or not present:
            return scores
        lengths = np.frombuffer(self._lengths, dtype=np.uint32)
        whole = present == len(self)
        average = max(1.0, float((lengths if whole else lengths[alive]).mean()))
        total = present if statistics is None else max(present, statistics[0])
        ideal = 0.0
        for term in dict.fromkeys(terms):
            rows, counts = self._holding(term)
            if not whole:
                kept = alive[rows]
                rows, counts = rows[kept], counts[kept]
            holding: float = len(rows)
            if statistics is not None:
                holding = min(max(holding, statistics[1](term)), total)
            idf = float(np.log1p((total - holding + 0.5) / (holding + 0.5)))
            ideal += idf * (K1 + 1.0)
            norm = K1 * (1.0 - B + B * lengths[rows] / average)
            scores[rows] += idf * counts * (K1 + 1.0) / (counts + norm)
        return scores / ideal if ideal else scores

    def keep(self) -> KeptPostings:
        """Return the postings of all texts."""
        first = self._kept or NO_POSTINGS
        before = first.terms.read_all()
        terms = sorted({*before, *self._postings}, key=to_bytes)
        place = {term: number for number, term in enumerate(terms)}
        rest = self._postings.values()
        places = np.array([place[term] for term in (*before, *self._postings)], np.int64)
        sizes = [*np.diff(first.ends, prepend=0), *(len(own.rows) for own in rest)]
        owners = np.repeat(places, np.array(sizes, np.int64))
        order = np.argsort(owners, kind="stable")  # of each term those of the first texts first
        rows = b"".join(own.rows.tobytes() for own in rest)
        counts = b"".join(own.counts.tobytes() for own in rest)
        return KeptPostings(
            np.array(self._lengths, np.uint32),
            Strings.of(terms),
            np.cumsum(np.bincount(owners, minlength=len(terms)), dtype=np.int64),
            np.concatenate((first.rows, np.frombuffer(rows, np.uint32)))[order],
            np.concatenate((first.counts, np.frombuffer(counts, np.uint16)))[order],
        )

    def _holding(self, term: str) -> tuple[NDArray[np.uint32], NDArray[np.uint16]]:
        """Return the texts that hold a term, in ascending order, and how often each does."""
        postings = self._postings.get(term, _NOWHERE)
        rows = np.frombuffer(postings.rows, dtype=np.uint32)
        counts = np.frombuffer(postings.counts, dtype=np.uint16)
        if self._kept is None:
            return rows, counts
        first, first_counts = self._kept.of(term)
        return np.concatenate((first, rows)), np.concatenate((first_counts, counts))
