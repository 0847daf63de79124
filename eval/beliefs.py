"""Quality of the packaged judges on duplicates, conflicts and updates of public sets.

Each file is split into halves by its rows (even, odd), so that all pairs of a row stay together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path

from rich.table import Table

from eval.datasets import pairs as sets
from eval.datasets.pairs import Labelled, Observation
from eval.updates import SHARES, Asked, Embedded, asked, recency, share_of
from semantic_memory.bootstrap.models import make_embedder
from semantic_memory.consolidation.decisions import SupersedeDecision, effect
from semantic_memory.consolidation.sweep import plan
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.judging.packaged import PackagedPairJudge, PackagedSentenceJudge
from semantic_memory.judging.ports import Pair, PairJudge
from semantic_memory.judging.reading import FactReader
from semantic_memory.language.identity import disagree
from semantic_memory.settings import load

_START = datetime(2024, 1, 1, tzinfo=UTC)
_READ = FactReader(PackagedSentenceJudge())


@dataclass(frozen=True, slots=True)
class Measured:
    """A rate on both halves of a data set, with its target."""

    rate: str
    data: str
    halves: tuple[float, float]
    pairs: tuple[int, int]
    target: float | None = None
    at_most: bool = False

    @property
    def met(self) -> bool | None:
        """True if both halves reach the target; None without a target."""
        if self.target is None:
            return None
        worst = max(self.halves) if self.at_most else min(self.halves)
        return worst <= self.target if self.at_most else worst >= self.target


def fact(text: str, day: int = 0, number: int = 0, user_id: str = "someone") -> Fact:
    """Return a fact stated on a day."""
    moment = _START + timedelta(days=day, seconds=number)
    return Fact(
        id=f"{day}-{number}",
        user_id=user_id,
        content=text,
        category=Category.PROJECT,
        created_at=moment,
        recorded_at=moment,
        valid_from=moment,
    )


def measure(directory: Path, vectors: Embedded, judge: PairJudge) -> Iterator[Measured]:
    """Yield every figure."""
    rows = sets.sick(directory)
    same = [row for row in rows if row.label == "same"]
    yield _merged(
        "false merges",
        "SICK contradictions",
        _only(rows, "contradiction"),
        vectors,
        judge,
        0.005,
        at_most=True,
    )
    yield _merged(
        "false merges", "SICK neutrals", _only(rows, "neutral"), vectors, judge, 0.03, at_most=True
    )
    yield _merged(
        "true merges", "SICK entailed, STS-B 5.0", same + sets.stsb(directory), vectors, judge, 0.45
    )
    for written_out, name in (
        (True, "DNLI, triple written out"),
        (False, "DNLI, annotated utterance"),
    ):
        rows = sets.dnli(directory, written_out=written_out)
        for label, rate, target in (
            ("neg", "contradictions found", 0.6),
            ("similar", "contradictions imagined", 0.1),
        ):
            found = [
                _are(("end", "mark"), half, vectors, judge) for half in _halves(_only(rows, label))
            ]
            yield _rate(rate, name, found, target, at_most=label == "similar")
    for data, updates in (
        ("BEAM updates", sets.beam_updates(directory)),
        ("LongMemEval updates", sets.longmemeval_updates(directory)),
    ):
        yield from _updates(data, asked(updates, vectors))
    yield from _distinct(sets.observations(directory), vectors, judge)


def tables(directory: Path) -> Iterator[Table]:
    """Yield tables of the figures with targets, and of recency."""
    vectors = Embedded(make_embedder(load()))
    figures = Table("what", "data", "even rows", "odd rows", "pairs", "target", "met")
    for row in measure(directory, vectors, PackagedPairJudge()):
        sign = "<=" if row.at_most else ">="
        figures.add_row(
            row.rate,
            row.data,
            *(f"{100 * half:.1f} %" for half in row.halves),
            f"{sum(row.pairs):,}",
            "" if row.target is None else f"{sign} {100 * row.target:g} %",
            {None: "", True: "yes", False: "no"}[row.met],
        )
    yield figures
    for data, updates in (
        ("BEAM", sets.beam_updates(directory)),
        ("LongMemEval", sets.longmemeval_updates(directory)),
    ):
        newest = Table(
            "cosine", *(f"{share:.1f}" for share in SHARES), title=f"newer first, {data}"
        )
        for alike, rates in recency(asked(updates, vectors), vectors):
            newest.add_row(f"{alike:.1f}", *(f"{100 * rate:.0f} %" for rate in rates))
        newest.caption = "by the share of the older one's score that the newer has by itself"
        yield newest


def _merged(
    rate: str,
    data: str,
    rows: Sequence[Labelled],
    vectors: Embedded,
    judge: PairJudge,
    target: float,
    *,
    at_most: bool = False,
) -> Measured:
    merged = [_are(("merge",), half, vectors, judge) for half in _halves(rows)]
    return _rate(rate, data, merged, target, at_most=at_most)


def _updates(data: str, rows: Sequence[Asked]) -> Iterator[Measured]:
    for rate, target in (("newer above older", 0.9), ("  by superseding it", None)):
        halves = [
            [row.first if target else row.superseded for row in rows if row.row % 2 == half]
            for half in (0, 1)
        ]
        yield _rate(rate, data, halves, target)


def _distinct(
    rows: Sequence[Observation], vectors: Embedded, judge: PairJudge
) -> Iterator[Measured]:
    """Measure how often observations of different events supersede each other.

    Two observations of a speaker are different events if they come from different turns of one
    session.
    """
    speakers: dict[tuple[str, str], list[Observation]] = defaultdict(list)
    for row in rows:
        speakers[row.conversation, row.speaker].append(row)
    conversations = list(dict.fromkeys(row.conversation for row in rows))
    near: list[list[bool]] = [[], []]
    lost: list[list[bool]] = [[], []]
    for (conversation, _), own in speakers.items():
        half = conversations.index(conversation) % 2
        matrix = vectors.of([row.text for row in own])
        facts = [fact(row.text, 10 * row.session, number) for number, row in enumerate(own)]
        compared = [
            Pair(facts[a], facts[b], float(matrix[a] @ matrix[b]))
            for a, b in combinations(range(len(own)), 2)
            if own[a].session <= own[b].session and _different(own[a], own[b])
        ]
        compared = [pair for pair in compared if pair.similarity >= 0.6]
        near[half] += [_effect(pair, judge) in ("end", "mark") for pair in compared]
        losers = {
            decision.loser.id
            for decision in plan(facts, matrix, judge, _READ)
            if isinstance(decision, SupersedeDecision)
        }
        lost[half] += [one.id in losers for one in facts]
    yield _rate("distinct superseded", "LoCoMo pairs, cosine >= 0.6", near, 0.01, at_most=True)
    yield _rate("facts superseded", "LoCoMo, whole sweep", lost, 0.01, at_most=True)


def _different(a: Observation, b: Observation) -> bool:
    return a.turn != b.turn and a.session == b.session


def _pairs(rows: Sequence[Labelled], vectors: Embedded) -> list[Pair]:
    left, right = vectors.of([row.a for row in rows]), vectors.of([row.b for row in rows])
    similarities = (left * right).sum(axis=1).tolist()
    return [
        Pair(fact(row.a), fact(row.b, number=1), similarity)
        for row, similarity in zip(rows, similarities, strict=True)
    ]


def _are(
    effects: Sequence[str], rows: Sequence[Labelled], vectors: Embedded, judge: PairJudge
) -> list[bool]:
    """Return whether the verdict on each pair has one of `effects`."""
    pairs = _pairs(rows, vectors)
    return [_effect(pair, judge) in effects for pair in pairs]


def _effect(pair: Pair, judge: PairJudge) -> str | None:
    (verdict,) = judge.judge([pair])
    found = effect(verdict, pair.similarity, 0.0) if verdict else None
    if found == "merge" and disagree(pair.older.content, pair.newer.content):
        return None
    return found


def _only(rows: Sequence[Labelled], label: str) -> list[Labelled]:
    return [row for row in rows if row.label == label]


def _halves(rows: Sequence[Labelled]) -> tuple[list[Labelled], list[Labelled]]:
    return [row for row in rows if not row.row % 2], [row for row in rows if row.row % 2]


def _rate(
    rate: str,
    data: str,
    halves: Sequence[Sequence[bool]],
    target: float | None = None,
    *,
    at_most: bool = False,
) -> Measured:
    first, second = halves
    rates = (share_of(first), share_of(second))
    return Measured(rate, data, rates, (len(first), len(second)), target, at_most)
