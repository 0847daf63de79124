"""From a question to the memories that help: both arms, ranked together, doubles collapsed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np

from semantic_memory.concurrency import Contended
from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.errors import ProviderError
from semantic_memory.domain.events import EmbeddingFailed, Event
from semantic_memory.domain.facts import Category
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.ports import Clock, Delta, Embedder, Ledger
from semantic_memory.domain.recall import Hit, ScoreParts
from semantic_memory.domain.text import figures, words
from semantic_memory.domain.values import normalised
from semantic_memory.retrieval import names, newest
from semantic_memory.retrieval.bm25 import Scores, Statistics
from semantic_memory.retrieval.exact import ExactIndex
from semantic_memory.retrieval.order import descending, top
from semantic_memory.retrieval.partition import CATEGORIES, Partition
from semantic_memory.retrieval.question import Question, read
from semantic_memory.retrieval.ranking import Evidence, Ranked, Weights, base_score, rank
from semantic_memory.retrieval.times import closeness

_ARM = 256  # candidates of each arm, for a user whose memories aren't held in RAM
_COMPARED = 64  # of the best memories, for newer figures of the same
_SENTENCES = 512  # memories whose sentences are compared
_AT_ONCE = 2  # more would only take the interpreter from each other, and all be slow


class Searcher:
    """Answers questions about one user's memories. Thread-safe."""

    def __init__(
        self,
        ledger: Ledger,
        index: ExactIndex,
        embedder: Embedder,
        clock: Clock,
        weights: Weights,
        half_lives: Mapping[Category, float],
        observe: Callable[[Event], None],
    ) -> None:
        self._ledger = ledger
        self._index = index
        self._embedder = embedder
        self._clock = clock
        self._weights = weights
        self._half_lives = np.array([half_lives[category] for category in CATEGORIES])
        self._observe = observe
        self._turn = Contended("search", threading.BoundedSemaphore(_AT_ONCE), observe)

    def search(self, query: str, user_id: str, k: int, filters: Filters = NO_FILTERS) -> list[Hit]:
        """The user's `k` best memories for `query`, best first.

        A fact and the message it was drawn from never both take a place, nor do two memories that
        say the same in the same words.
        """
        question = read(query, filters.as_of or self._clock.now())
        with self._turn, self._index.partition(user_id) as partition:
            speakers = None if partition is None else tuple(partition.speakers)
        if speakers is not None:
            vector = self._embed(question, speakers)
            with self._turn, self._index.partition(user_id) as partition:
                if partition is not None:
                    return self._answer(partition, question, vector, k, filters)
        return self._search_large(question, user_id, k, filters)

    def _search_large(
        self, question: Question, user_id: str, k: int, filters: Filters
    ) -> list[Hit]:
        """Rank the candidates of both arms, for a user whose memories aren't held in RAM."""
        terms = list(dict.fromkeys(words(question.text)))
        lexical = self._ledger.words(user_id, terms, limit=_ARM, filters=filters)
        by_words = self._ledger.traits([match.id for match in lexical])
        speakers = {row.trait.speaker for row in by_words if row.trait.speaker}
        vector = self._embed(question, sorted(speakers))
        dense = (
            []
            if vector is None
            else self._index.query(vector, user_id=user_id, limit=_ARM, filters=filters)
        )
        candidates = dict.fromkeys([match.id for match in (*lexical, *dense)])
        around = self._ledger.neighbours(list(candidates))
        sample = Partition()
        rows = self._ledger.traits(list(dict.fromkeys((*candidates, *around))))
        sample.apply(Delta(revision=0, rows=rows, removed=()))
        number, frequencies = self._ledger.document_frequencies(user_id, question.stems)
        statistics = (number, lambda term: frequencies.get(term, 0.0))
        return self._answer(sample, question, vector, k, filters, statistics)

    def _embed(self, question: Question, speakers: Sequence[str]) -> Matrix | None:
        """The question's vector; None if the model can't be reached, and words must do."""
        mentioned = [speakers[number] for number in names.named(question.text, speakers)]
        text = names.without(question.text, mentioned)
        try:
            vector: Matrix = self._embedder.embed([text], "query")[0]
        except ProviderError as error:
            self._observe(EmbeddingFailed(str(error)))
            return None
        return vector

    def _answer(
        self,
        partition: Partition,
        question: Question,
        vector: Matrix | None,
        k: int,
        filters: Filters,
        statistics: Statistics | None = None,
    ) -> list[Hit]:
        admitted = partition.admitted(filters)
        if not admitted.any():
            return []
        columns = partition.columns
        lexical = partition.lexical(question.stems, statistics)
        mentioned = names.named(question.text, partition.speakers)
        evidence = Evidence(
            dense=self._meaning(partition, vector, lexical),
            lexical=lexical,
            named=np.isin(columns["speaker"], mentioned),
            own=columns["own"] & question.about_me,
            timely=closeness(question.windows, columns["created_at"]),
            outdated=np.zeros(len(partition), dtype=np.bool_)
            if question.event or question.windows or filters.as_of
            else partition.outdated(),
        )
        ranked = rank(
            evidence,
            admitted,
            columns=columns,
            slots=partition.slots,
            sessions=partition.session_count,
            half_lives=self._half_lives[columns["category"]],
            now=self._clock.now().timestamp(),
            weights=self._weights,
        )
        return self._hits(partition, ranked, admitted, k, question)

    def _meaning(self, partition: Partition, vector: Matrix | None, lexical: Scores) -> Scores:
        """Cosine to each memory, of its nearest window and its nearest sentence, blended."""
        if vector is None:
            return np.zeros_like(lexical)
        window = partition.dense(vector)
        promising = np.zeros(len(partition), dtype=np.bool_)
        first = base_score(window, lexical, self._weights)
        promising[top(first, _SENTENCES)] = True
        share = self._weights.sentence
        blended: Scores = (1 - share) * window + share * partition.sentence(
            vector, promising, window
        )
        return blended

    def _hits(
        self,
        partition: Partition,
        ranked: Ranked,
        admitted: np.ndarray,
        k: int,
        question: Question,
    ) -> list[Hit]:
        rows = np.flatnonzero(admitted)
        gained = _newest(partition, ranked, rows, question)
        ranked.score[list(gained)] += list(gained.values())
        distinct = _distinct(partition, (rows[place] for place in descending(ranked.score[rows])))
        hits: list[Hit] = []
        said: set[str] = set()
        while len(hits) < k and (batch := list(islice(distinct, k))):
            facts = {fact.id: fact for fact in self._ledger.get([partition.ids[i] for i in batch])}
            for row in batch:
                fact = facts.get(partition.ids[row])
                if fact is None or (key := normalised(fact.content)) in said:
                    continue
                said.add(key)
                hits.append(
                    Hit(
                        fact=fact,
                        score=float(ranked.score[row]),
                        parts=_parts(partition, ranked, row, gained.get(row, 0.0)),
                    )
                )
        return hits[:k]


def _distinct(partition: Partition, order: Iterable[int]) -> Iterator[int]:
    """Rows in `order`, without facts whose message came before them and the other way about."""
    told_as_message: set[str] = set()
    told_as_fact: set[str] = set()
    verbatim = partition.columns["verbatim"]
    for row in order:
        said_in = partition.said_in[row]
        same, other = (
            (told_as_message, told_as_fact) if verbatim[row] else (told_as_fact, told_as_message)
        )
        if not other.intersection(said_in):
            same.update(said_in)
            yield row


def _newest(
    partition: Partition, ranked: Ranked, rows: np.ndarray, question: Question
) -> dict[int, float]:
    """What the best of `rows` gain by telling newer figures than others among them."""
    if question.event or question.windows or not partition.figures:
        return {}
    best = rows[top(ranked.score[rows], _COMPARED)].tolist()
    telling = [row for row in best if row in partition.figures]
    if len(telling) < 2:
        return {}
    return newest.gains(
        telling,
        partition.figures,
        partition.alike(telling),
        ranked.score,
        partition.columns["stated_at"],
        figures(question.text),
    )


def _parts(partition: Partition, ranked: Ranked, row: int, newer: float) -> ScoreParts:
    columns = partition.columns
    return ScoreParts(
        dense=float(ranked.dense[row]),
        lexical=float(ranked.lexical[row]),
        context=float(ranked.context[row]),
        speaker=float(ranked.speaker[row]),
        voice=float(ranked.voice[row]),
        time=float(ranked.time[row]),
        asks=float(ranked.asks[row]),
        outdated=float(ranked.outdated[row]),
        newer=newer,
        match=float(ranked.match[row]),
        importance=float(columns["importance"][row]),
        confidence=float(columns["confidence"][row]),
        retention=float(ranked.retention[row]),
        recency=float(ranked.recency[row]),
        relevance=float(ranked.relevance[row]),
    )
