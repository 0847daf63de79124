"""Search of one user's memories by cosine and BM25, ranked together, without doubles."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import chain, islice
from typing import Protocol

import numpy as np

from semantic_memory.concurrency import Contended
from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.decay import CURVE, Curve, prior_of
from semantic_memory.domain.errors import ProviderError
from semantic_memory.domain.events import EmbeddingFailed, Event, QueryEmbedded
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.laps import Laps
from semantic_memory.domain.messages import SessionOptions
from semantic_memory.domain.ports import (
    Clock,
    Delta,
    Embedder,
    Facts,
    TraitRow,
    Traits,
    WordSearch,
)
from semantic_memory.domain.recall import Hit, ScoreParts
from semantic_memory.domain.text import figures, searched_words
from semantic_memory.domain.values import normalised
from semantic_memory.retrieval import asked, fading, names, newest
from semantic_memory.retrieval.bm25 import Scores
from semantic_memory.retrieval.ended import HeldFacts
from semantic_memory.retrieval.exact import ExactIndex
from semantic_memory.retrieval.fading import Reals
from semantic_memory.retrieval.nearby import NOTHING_NEAR, Nearby, nearby
from semantic_memory.retrieval.order import descending, top
from semantic_memory.retrieval.partition import Partition
from semantic_memory.retrieval.question import Question, read
from semantic_memory.retrieval.question_map import map_for
from semantic_memory.retrieval.ranking import Evidence, Ranked, Weights, base_score, rank
from semantic_memory.retrieval.snapshot import Snapshot
from semantic_memory.retrieval.successors import noted, successors
from semantic_memory.retrieval.times import closeness

_ARM = 256  # candidates of each arm, for a user whose memories aren't held in RAM
WHOLE = 30_000
"""Rows up to which all are ranked."""
_NEAR = 3_000
"""Rows of more that are found by their codes, and ranked."""
_ANSWERS = 0.9
"""Share of a question's score from which a fact that answers it comes in its place."""
_COMPARED = 64  # of the best memories, for newer figures of the same and for what is asked
_SENTENCES = 512  # memories whose sentences are compared
_KEPT = ("importance", "confidence")
_RANKED = tuple(ScoreParts.model_fields.keys() - {*_KEPT, "newer"})
"""Parts of a score that columns hold, and those that the ranking gives."""
_PARTS = (*_RANKED, *_KEPT)
_TRUE_BESIDE = ("event", "plan", "opinion", "preference", "habit", "decision")
"""Kinds of facts of which a newer one on the same topic leaves the older true."""
_AT_ONCE = 2  # more would only take the interpreter from each other, and all be slow


class SearchLedger(Facts, WordSearch, Traits, Protocol):
    """The roles of the ledger that a search uses."""


class Searcher:
    """Searches the memories of one user at a time. Thread-safe.

    `own_fading` returns the options of a user's sessions with half-lives or a floor of their own.
    """

    def __init__(
        self,
        ledger: SearchLedger,
        index: ExactIndex,
        embedder: Embedder,
        clock: Clock,
        weights: Weights,
        half_lives: Mapping[Category, float],
        own_fading: Callable[[str], Mapping[str, SessionOptions]],
        observe: Callable[[Event], None],
        curve: Curve = CURVE,
    ) -> None:
        self._ledger = ledger
        self._index = index
        self._held = HeldFacts(ledger, index)
        self._embedder = embedder
        self._clock = clock
        self._weights = weights
        self._curve = curve
        self._half_lives = half_lives
        self._own_fading = own_fading
        self._observe = observe
        self._reader = asked.reader_for(embedder.identity.model)
        self._turn = Contended("search", threading.BoundedSemaphore(_AT_ONCE), observe)

    def search(
        self,
        query: str,
        user_id: str,
        k: int,
        filters: Filters = NO_FILTERS,
        laps: Laps | None = None,
    ) -> list[Hit]:
        """Return the user's `k` best memories for `query`, best first; `laps` times the steps.

        A fact and the message it was drawn from are never both among them, nor are two memories
        with the same words.
        """
        laps = laps or Laps()
        question = read(query, filters.believed_at or self._clock.now())
        laps.lap("question")
        with self._turn:
            snapshot = self._index.snapshot(user_id, filters, question.stems)
        laps.lap("words")
        if snapshot is None:
            hits = self._search_large(question, user_id, k, filters)
        else:
            vector = self._embed(question, snapshot.speakers)
            laps.lap("embedding")
            with self._turn:
                chosen = self._promising(snapshot, vector)
                hits = self._answer(user_id, chosen, question, vector, k, filters)
        laps.lap("ranking")
        return hits

    def noted(
        self, hits: Sequence[Hit], user_id: str, *, as_of: datetime | None, present: bool
    ) -> list[Hit]:
        """Return hits with what no longer holds noted and replaced, as `successors.noted`."""
        return noted(hits, self._held, user_id, as_of=as_of, present=present)

    def current(self, user_id: str, messages: Sequence[Fact]) -> Mapping[str, str]:
        """Return the id of what replaced the latest ended statement of each message, by its id."""
        return successors(messages, self._held, user_id)

    def nearby(self, user_id: str, fact_ids: Sequence[str], filters: Filters) -> Nearby:
        """Return what stands near some of the user's memories, given best first.

        Of a user whose memories aren't held in RAM nothing is found.
        """
        with self._turn:
            snapshot = self._index.snapshot(user_id, filters)
            return nearby(snapshot, fact_ids) if snapshot else NOTHING_NEAR

    def _promising(self, snapshot: Snapshot, vector: Matrix | None) -> Snapshot:
        """Return the rows of a large snapshot that may be among the best, or a small one as it is.

        Ranking all takes longer than finding those near by their codes, or by words.
        """
        if len(snapshot) <= WHOLE or snapshot.codes is None:
            return snapshot
        rows = np.flatnonzero((snapshot.lexical > 0.0) & snapshot.admitted)
        rows = np.sort(rows[top(snapshot.lexical[rows], _ARM)])
        if vector is not None:
            rows = np.union1d(rows, snapshot.near(self._moved(vector), _NEAR))
        return snapshot.chosen(snapshot.surrounded(rows))

    def _search_large(
        self, question: Question, user_id: str, k: int, filters: Filters
    ) -> list[Hit]:
        """Search a user whose memories aren't held in RAM: rank the candidates of both arms."""
        terms = list(dict.fromkeys(searched_words(question.text)))
        lexical = self._ledger.words(user_id, terms, limit=_ARM, filters=filters)
        by_words = {
            row.trait.id: row for row in self._traits(user_id, (match.id for match in lexical))
        }
        speakers = {row.trait.speaker for row in by_words.values() if row.trait.speaker}
        vector = self._embed(question, sorted(speakers))
        dense = (
            []
            if vector is None
            else self._index.behind.query(
                self._moved(vector), user_id=user_id, limit=_ARM, filters=filters
            )
        )
        candidates = dict.fromkeys([match.id for match in (*lexical, *dense)])
        around = self._ledger.neighbours(list(candidates), user_id)
        sample = Partition()
        others = (one for one in (*candidates, *around) if one not in by_words)
        rest = self._traits(user_id, others)
        rows = sorted((*by_words.values(), *rest), key=lambda row: row.trait.id)
        sample.apply(Delta(revision=0, rows=rows, removed=()))
        number, frequencies = self._ledger.document_frequencies(user_id, question.stems)
        statistics = (number, lambda term: frequencies.get(term, 0.0))
        snapshot = sample.snapshot(filters, question.stems, statistics)
        return self._answer(user_id, snapshot, question, vector, k, filters)

    def _traits(self, user_id: str, fact_ids: Iterable[str]) -> list[TraitRow]:
        return self._ledger.traits(list(dict.fromkeys(fact_ids)), user_id)

    def _embed(self, question: Question, speakers: Sequence[str]) -> Matrix | None:
        """Return the question's vector; None if the model can't be reached."""
        mentioned = [speakers[number] for number in names.named(question.text, speakers)]
        text = names.without(question.text, mentioned)
        start = time.perf_counter()
        try:
            vector: Matrix = self._embedder.embed([text], "query")[0]
        except ProviderError as error:
            self._observe(EmbeddingFailed(str(error)))
            return None
        self._observe(QueryEmbedded(time.perf_counter() - start))
        return vector

    def _moved(self, vector: Matrix) -> Matrix:
        """Return a question's vector as it is compared with memories."""
        found = map_for(self._embedder.identity.model)  # read at the first question
        return vector if found is None else found.moved(vector)

    def _answer(
        self,
        user_id: str,
        snapshot: Snapshot,
        question: Question,
        vector: Matrix | None,
        k: int,
        filters: Filters,
    ) -> list[Hit]:
        if not snapshot.admitted.any():
            return []
        columns = snapshot.columns
        mentioned = names.named(question.text, snapshot.speakers)
        evidence = Evidence(
            dense=self._meaning(snapshot, vector),
            lexical=snapshot.lexical,
            named=np.isin(columns["speaker"], mentioned),
            own=columns["own"] & question.about_me,
            timely=closeness(question.windows, columns["created_at"]),
            outdated=np.zeros(len(snapshot), dtype=np.bool_)
            if question.event or question.windows or filters.as_of
            else snapshot.outdated(),
        )
        half_lives, floors = fading.by_row(
            snapshot, self._half_lives, self._curve.floor, self._own_fading(user_id)
        )
        ranked = rank(
            evidence,
            snapshot.admitted,
            columns=columns,
            slots=snapshot.slots,
            sessions=snapshot.sessions,
            half_lives=half_lives,
            floors=floors,
            priors=np.array(list(map(prior_of, snapshot.categories)))[columns["category"]],
            now=self._clock.now().timestamp(),
            weights=self._weights,
            curve=self._curve,
        )
        self._add_asked(vector, snapshot, ranked)
        return self._hits(user_id, snapshot, ranked, question, k, filters)

    def _add_asked(self, vector: Matrix | None, snapshot: Snapshot, ranked: Ranked) -> None:
        """Raise those of the best rows whose facts state the attribute that is asked for."""
        wanted = self._reader.read(vector) if self._reader and vector is not None else None
        if wanted is None:
            return
        rows = np.flatnonzero(snapshot.admitted)
        best = rows[top(ranked.score[rows], _COMPARED)]
        places = {snapshot.ids[row]: row for row in best[~snapshot.columns["verbatim"][best]]}
        for fact_id, gain in asked.gains(wanted, self._ledger.get(list(places))).items():
            ranked.asked[places[fact_id]] = gain
            ranked.score[places[fact_id]] += gain

    def _meaning(self, snapshot: Snapshot, vector: Matrix | None) -> Scores:
        """Return the cosine to each memory: that of its nearest window and sentence, blended.

        Of one that isn't embedded yet, its words stand for its meaning: else what was just written
        would rank below all that is a little like the question.
        """
        if vector is None:
            return np.zeros_like(snapshot.lexical)
        vector = self._moved(vector)
        embedded = snapshot.columns["embedded"]
        window = np.where(embedded, snapshot.dense(vector), snapshot.lexical)
        promising = np.zeros(len(snapshot), dtype=np.bool_)
        first = base_score(window, snapshot.lexical, self._weights)
        promising[top(first, _SENTENCES)] = True
        share = self._weights.sentence
        sentence = snapshot.sentence(vector, promising, window)
        blended: Scores = (1 - share) * window + share * sentence
        return blended

    def _hits(
        self,
        user_id: str,
        snapshot: Snapshot,
        ranked: Ranked,
        question: Question,
        k: int,
        filters: Filters,
    ) -> list[Hit]:
        rows = np.flatnonzero(snapshot.admitted)
        gained: dict[int, float] = defaultdict(float)
        for row, gain in self._newer(user_id, snapshot, ranked, rows, question, k):
            ranked.score[row] += gain
            gained[row] += gain
        order = (rows[place] for place in descending(ranked.score[rows]))
        distinct = _distinct(snapshot, ranked.score, order)
        hits: list[Hit] = []
        said: set[str] = set()
        while len(hits) < k and (batch := list(islice(distinct, k - len(hits)))):
            found = self._ledger.get([snapshot.ids[row] for row in batch])
            facts = {fact.id: fact for fact in filters.admitted(found)}  # still, by now
            scored = zip(batch, *_scores(snapshot, ranked, batch), strict=True)
            for row, score, *parts in scored:
                fact = facts.get(snapshot.ids[row])
                if fact is None or (key := normalised(fact.content)) in said:
                    continue
                said.add(key)
                named = dict(zip(_PARTS, parts, strict=True), newer=gained.get(row, 0.0))
                hits.append(Hit(fact=fact, score=score, parts=ScoreParts.model_validate(named)))
        return hits

    def _newer(
        self,
        user_id: str,
        snapshot: Snapshot,
        ranked: Ranked,
        rows: np.ndarray,
        question: Question,
        k: int,
    ) -> Iterator[tuple[int, float]]:
        """Yield the gains of what is newer, each kind by the scores with those before it added."""
        yield from self._newest(snapshot, ranked, rows, question).items()
        yield from self._inherited(user_id, snapshot, ranked, rows, k).items()
        yield from _following(snapshot, ranked, rows, question).items()

    def _newest(
        self, snapshot: Snapshot, ranked: Ranked, rows: np.ndarray, question: Question
    ) -> dict[int, float]:
        """Return the gains of the best `rows` that are newer than others about the same thing."""
        if question.event or question.windows:
            return {}
        columns = snapshot.columns
        best = rows[top(ranked.score[rows], _COMPARED)]
        known = ~columns["verbatim"][best] & columns["embedded"][best]
        if ranked.asked.any():  # what states something else is no answer, however new
            known &= ranked.asked[best] > 0.0
        facts = best[known].tolist()
        if len(facts) < 2:
            return {}
        similar = snapshot.alike(facts)
        gained = newest.fresher(
            facts,
            similar,
            ranked.score,
            columns,
            self._weights.relevance,
            partial(self._states, snapshot),
        )
        given = {
            row: read
            for row in facts
            if (said := snapshot.texts[row]) and (read := newest.read_figures(*said))
        }
        places = [place for place, row in enumerate(facts) if row in given]
        return gained | newest.gains(
            list(given),
            given,
            similar[np.ix_(places, places)],
            ranked.score,
            columns["stated_at"],
            figures(question.text),
        )

    def _states(self, snapshot: Snapshot, rows: Sequence[int]) -> set[int]:
        """Return those of some facts that hold until they change.

        An event, a plan or an opinion stays true beside a newer one on the same topic.
        """
        places = {snapshot.ids[row]: row for row in rows}
        return {
            places[fact.id]
            for fact in self._ledger.get([*places])
            if fact.reading is None or fact.reading.kind not in _TRUE_BESIDE
        }

    def _inherited(
        self, user_id: str, snapshot: Snapshot, ranked: Ranked, rows: np.ndarray, k: int
    ) -> dict[int, float]:
        """Return the gains of facts that replaced outdated messages, taken over from these.

        A memory comes where the message would have come that it made outdated. That message may
        have fallen behind the best `k`, where `successors.noted`, which orders the hits that are
        left, doesn't see it.
        """
        outdated = rows[ranked.outdated[rows] > 0.0]
        if not len(outdated):
            return {}
        weight = self._weights.relevance
        unspoilt = ranked.score + ranked.outdated * (1.0 - weight + weight * ranked.relevance)
        best = outdated[top(unspoilt[outdated], k)]
        last = ranked.score[rows[top(ranked.score[rows], k)]].min()
        wanted = {snapshot.ids[row]: float(unspoilt[row]) for row in best if unspoilt[row] > last}
        if not wanted:
            return {}
        messages = self._ledger.get(list(wanted))
        raised: dict[str, float] = {}
        for message, fact in successors(messages, self._held, user_id).items():
            raised[fact] = max(raised.get(fact, 0.0), wanted[message])
        places = {one: row for row in rows.tolist() if (one := snapshot.ids[row]) in raised}
        return {
            row: score - float(ranked.score[row])
            for fact, score in raised.items()
            if (row := places.get(fact)) is not None and score > ranked.score[row]
        }


def _distinct(snapshot: Snapshot, score: Reals, order: Iterator[int]) -> Iterator[int]:
    """Yield rows in `order`; of a fact and its message, only the first.

    A fact that scores nearly as much as the question that it answers comes in the question's place.
    """
    told_as_message: set[str] = set()
    told_as_fact: set[str] = set()
    given: set[int] = set()
    verbatim = snapshot.columns["verbatim"]
    best = [*islice(order, _COMPARED)]
    answers = _answers(snapshot, score, best)
    for ranked in chain(best, order):
        for row in (answers.get(ranked, ranked), ranked):
            said_in = snapshot.said_in[row]
            same, other = (
                (told_as_message, told_as_fact)
                if verbatim[row]
                else (told_as_fact, told_as_message)
            )
            if row not in given and not other.intersection(said_in):
                same.update(said_in)
                given.add(row)
                yield row
                break


def _answers(snapshot: Snapshot, score: Reals, rows: Sequence[int]) -> dict[int, int]:
    """Return the facts among `rows` that come in the place of the questions that they answer."""
    verbatim, asks = snapshot.columns["verbatim"], snapshot.columns["asks"]
    asked = {snapshot.said_in[row]: row for row in rows if asks[row] and verbatim[row]}
    found: dict[int, int] = {}
    for row in rows:
        if asks[row] and not verbatim[row]:
            for place in snapshot.said_in[row]:
                question = asked.get((place,))
                if question is not None and score[row] >= _ANSWERS * score[question]:
                    found.setdefault(question, row)
    return found


def _following(
    snapshot: Snapshot, ranked: Ranked, rows: np.ndarray, question: Question
) -> dict[int, float]:
    """Return the gains of statements that follow one of the best, in a question of the present."""
    if question.event or question.windows or not snapshot.followed_by:
        return {}
    best = rows[top(ranked.score[rows], _COMPARED)].tolist()
    return newest.following(snapshot, ranked.score, best)


def _scores(snapshot: Snapshot, ranked: Ranked, rows: Sequence[int]) -> Iterator[list[float]]:
    """Yield the scores of `rows`, then each part of them in the order of `_PARTS`."""
    places = np.asarray(rows)
    columns = snapshot.columns[places]
    yield ranked.score[places].tolist()
    yield from (getattr(ranked, name)[places].tolist() for name in _RANKED)
    yield from (columns[name].tolist() for name in _KEPT)
