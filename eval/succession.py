"""Train the model that orders and marks statements which newer ones likely made untrue.

    python -m eval.succession --realtalk FILE            # trains, writes and measures
    python -m eval.succession --realtalk FILE --cross    # and measures by writers left out

Fits a logistic regression with an L2 penalty to the pairs of `data/gold`: successions, changes,
voices, duplicates and the half of the scenarios that is built on; to the facts extracted from
their statements, to statements beside older ones on other matters, and to pairs of near messages in
ordinary conversations, of which hardly any ends another. The features are those of
`semantic_memory.retrieval.succession`, to which it writes the weights. The pairs marked "held" and
every fifth speaker are only measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from eval.datasets.load import GOLD
from eval.datasets.realtalk import load_realtalk
from eval.datasets.scenarios import load_scenarios
from eval.extraction import read_lines
from eval.logistic import Vector, fit
from ingest.extract.offline import OfflineExtractor
from semantic_memory.bootstrap.models import make_embedder
from semantic_memory.consolidation.renewal import renewal
from semantic_memory.domain.messages import Message
from semantic_memory.retrieval import pairs as reading
from semantic_memory.retrieval.succession import (
    BUCKETS,
    COMPONENTS,
    DOUBTED,
    FILE,
    LIKELY,
    SIGNS,
    buckets,
    hashed,
)
from semantic_memory.settings import Settings
from semantic_memory.vectors.passages import split

_PENALTY = 1.0
_STEPS = 80
_VECTORS, _PRODUCTS, _OLDER, _NEWER, _GRAMS = 2.0, 8.0, 5.0, 10.0, 6.0
"""Scales of the parts: each divides the penalty of its weights."""
_UPDATE = 2.0
"""Weight of an update in the fit, as there are fewer of them."""
_WRITER = 1.5
"""Weight of a pair of one of the few writers with habits of their own, besides."""
_PARTS = 5
"""Parts of the writers, each left out of one fit."""
_MADE = {"unrelated": 0.3, "ordinary": 0.35}
"""Weights of pairs of which any number could be made."""
_DRAWN, _ANY = 60, 2
"""Statements on other matters of which the nearest is taken, and how many others."""
_NEAR = 3
_OF_EACH = 120
"""Pairs with how many earlier messages, for how many messages of a speaker."""
_HELD = 5
_SHARES = (0.01, 0.03, 0.05, 0.1, 0.2)
"""Shares of look-alikes above the scores at which updates are counted."""

_LIMITS = (-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0)
_OVER = {True: "updates", False: "others"}

Rows = NDArray[np.float32]
Chosen = NDArray[np.bool_]


class Pair(NamedTuple):
    """Two statements of one person, and whether the newer ends the older."""

    older: str
    newer: str
    over: bool
    kind: str
    held: bool
    matter: str = ""
    writer: str = ""
    """One of those with habits of their own; empty for the many pairs without."""


def written() -> list[Pair]:
    """Return the pairs of `successions.jsonl`, of which some are held out."""
    return [
        Pair(
            row["older"],
            row["newer"],
            row["over"],
            "own",
            row["held"],
            row["type"],
        )
        for row in read_lines(GOLD / "successions.jsonl")
    ]


def by_writers() -> Iterator[Pair]:
    """Yield the pairs of writers, and the scenarios of the half that is built on as one more."""
    for name in ("changes", "voices"):
        for row in read_lines(GOLD / f"{name}.jsonl"):
            writer = f"{name}, {row['writer']}"
            yield Pair(row["older"], row["newer"], row["over"], name, held=False, writer=writer)
    for one in load_scenarios():
        if one.half == "build":
            told = one.told("old").content, one.told("new").content
            yield Pair(*told, one.retires, "scenarios", held=False, writer="scenarios")


def doubles() -> Iterator[Pair]:
    """Yield pairs that say the same or only look alike: neither ends the other."""
    for row in read_lines(GOLD / "duplicates.jsonl"):
        yield Pair(row["a"], row["b"], over=False, kind="double", held=False)


def extracted(pairs: Sequence[Pair]) -> Iterator[Pair]:
    """Yield the pairs again with the facts that are extracted from the older statement.

    A statement that is over must have led to one fact, or it isn't known which of them is.
    """
    extractor = OfflineExtractor()
    for pair in pairs:
        found = extractor.extract([Message(role="user", content=pair.older)])
        facts = [one.content for one in found.candidates]
        if len(facts) == 1 or not pair.over:
            for fact in facts:
                yield pair._replace(older=fact, kind="fact")


def unrelated(pairs: Sequence[Pair], vectors: Vectors) -> Iterator[Pair]:
    """Yield older statements, and newer ones of updates, beside older ones on other matters.

    One of these is the nearest of many, the others are drawn at random.
    """
    random = np.random.default_rng(1)
    for held in (False, True):
        older = list({pair.older: pair for pair in pairs if pair.held is held}.values())
        matters = np.array([one.matter for one in older])
        rows = vectors.of(one.older for one in older)
        newer = {one.older: one.matter for one in older}
        newer |= {one.newer: one.matter for one in pairs if one.over and one.held is held}
        for (text, matter), row in zip(newer.items(), vectors.of(newer), strict=True):
            others = random.permutation(np.flatnonzero(matters != matter))[:_DRAWN]
            nearest = others[np.argmax(rows[others] @ row)]
            for place in (nearest, *others[:_ANY]):
                yield Pair(older[place].older, text, False, "unrelated", held)


def said(realtalk: Path) -> Iterator[list[str]]:
    """Yield what each speaker of the conversations said, in order."""
    for history in load_realtalk(realtalk).histories:
        by_speaker: dict[str | None, list[str]] = {}
        for _, run in history.runs():
            for one in run:
                by_speaker.setdefault(one.message.name, []).append(one.message.content)
        yield from by_speaker.values()


class Vectors:
    """The vectors of texts, each embedded once."""

    def __init__(self) -> None:
        self._embedder = make_embedder(Settings())
        self.embedder = self._embedder.identity.model
        self._known: dict[str, Rows] = {}

    def of(self, texts: Iterable[str]) -> Rows:
        """Return a row for each text: the vector of its first window."""
        texts = list(texts)
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        rows = self._embedder.embed([split(text).windows[0] for text in new], "document")
        self._known |= dict(zip(new, rows, strict=True))
        return np.stack([self._known[text] for text in texts])


def ordinary(speakers: Iterable[Sequence[str]], vectors: Vectors) -> Iterator[Pair]:
    """Yield messages with the nearest ones that the same person said before."""
    random = np.random.default_rng(0)
    for number, texts in enumerate(speakers):
        rows = vectors.of(texts)
        for place in random.permutation(np.arange(5, len(texts)))[:_OF_EACH]:
            for other in np.argsort(-rows[:place] @ rows[place])[:_NEAR]:
                held = number % _HELD == 0
                yield Pair(texts[other], texts[place], False, "ordinary", held)


class Basis(NamedTuple):
    """Principal components of the vectors of statements."""

    mean: Rows
    components: Rows
    """Shape (dimension, COMPONENTS)."""

    @classmethod
    def of(cls, rows: Rows) -> Basis:
        """Return the components of `rows`, the one with the most variance first."""
        mean = rows.mean(axis=0)
        return cls(mean, np.linalg.svd(rows - mean, full_matrices=False)[2][:COMPONENTS].T)


def features(pairs: Sequence[Pair], vectors: Vectors, basis: Basis) -> csr_matrix:
    """Return a row for each pair: what the weights in the file stand for, scaled."""
    older = vectors.of(pair.older for pair in pairs)
    newer = vectors.of(pair.newer for pair in pairs)
    own, others = ((rows - basis.mean) @ basis.components for rows in (older, newer))
    cosine = (older * newer).sum(axis=1, keepdims=True)
    dense = [_VECTORS * own, _VECTORS * others, _PRODUCTS * own * others, cosine]
    words = [
        _OLDER * _words([pair.older for pair in pairs]),
        _NEWER * _words([pair.newer for pair in pairs]),
    ]
    read = [(reading.read(pair.older), reading.read(pair.newer)) for pair in pairs]
    grams = [hashed(reading.grams(*one), BUCKETS) for one in read]
    signs = [
        hashed(reading.signs(*one, float(near)), SIGNS)
        for one, near in zip(read, cosine[:, 0], strict=True)
    ]
    both = [_GRAMS * _rows(grams, BUCKETS), _rows(signs, SIGNS, shared=False)]
    return hstack([*map(csr_matrix, dense), *words, *both], format="csr")


def _words(texts: Sequence[str]) -> csr_matrix:
    return _rows([buckets(text) for text in texts], BUCKETS)


def _rows(found: Sequence[NDArray[np.int64]], number: int, *, shared: bool = True) -> csr_matrix:
    """Return a row for each set of buckets, which share its weight if there are many."""
    ends = np.cumsum([0, *map(len, found)])
    weights = [1 / np.sqrt(len(one) + 1) if shared else 1.0 for one in found]
    values = np.repeat(weights, np.diff(ends))
    return csr_matrix((values, np.concatenate(found), ends), shape=(len(found), number))


def save(embedder: str, basis: Basis, weights: Vector, bias: float) -> None:
    """Write the weights, those of words in eight bits."""
    sizes = [COMPONENTS, COMPONENTS, COMPONENTS, 1, BUCKETS, BUCKETS, BUCKETS, SIGNS]
    scales = [_VECTORS, _VECTORS, _PRODUCTS, 1.0, _OLDER, _NEWER, _GRAMS, 1.0]
    parts = np.split(weights * np.repeat(scales, sizes), np.cumsum(sizes)[:-1])
    scale = max(np.abs(part).max() for part in parts[4:7]) / 127
    scale_of_signs = np.abs(parts[7]).max() / 127
    older, newer, grams = (np.round(part / scale).astype(np.int8) for part in parts[4:7])
    np.savez_compressed(
        FILE,
        embedder=np.array(embedder),
        mean=basis.mean.astype(np.float32),
        basis=basis.components.astype(np.float16),
        vectors=np.stack(parts[:3]).astype(np.float32),
        cosine=np.array(parts[3][0]),
        bias=np.array(bias),
        older_words=older,
        newer_words=newer,
        grams=grams,
        signs=np.round(parts[7] / scale_of_signs).astype(np.int8),
        scale=np.array(scale),
        scale_of_signs=np.array(scale_of_signs),
    )


def main(
    realtalk: Annotated[Path, typer.Option(exists=True)],
    cross: Annotated[
        bool, typer.Option(help="Measure by writers left out of the fit, too.")
    ] = False,
) -> None:
    """Train, write and measure the model."""
    vectors = Vectors()
    own = written()
    pairs = [
        *own,
        *extracted(own),
        *by_writers(),
        *doubles(),
        *unrelated(own, vectors),
        *ordinary(said(realtalk), vectors),
    ]
    basis = Basis.of(vectors.of(text for one in own for text in (one.older, one.newer)))
    matrix = features(pairs, vectors, basis)
    learnt = np.array([not one.held for one in pairs])
    weights, bias = fitted(pairs, matrix, learnt)
    save(vectors.embedder, basis, weights, bias)
    report(pairs, np.asarray(matrix @ weights + bias))
    if cross:
        report_crossed(pairs, crossed(pairs, matrix, learnt))


def fitted(pairs: Sequence[Pair], matrix: csr_matrix, chosen: Chosen) -> tuple[Vector, float]:
    """Fit the weights to the chosen pairs."""
    over = np.array([float(one.over) for one in pairs])
    share = np.array([_share(one) for one in pairs])
    return fit(matrix[chosen], over[chosen], share[chosen], penalty=_PENALTY, steps=_STEPS)


def _share(pair: Pair) -> float:
    kind = _UPDATE if pair.over else _MADE.get(pair.kind, 1.0)
    return kind * (_WRITER if pair.writer else 1.0)


def crossed(pairs: Sequence[Pair], matrix: csr_matrix, learnt: Chosen) -> Vector:
    """Return scores: those of a writer's pairs from a fit without that writer, others' averaged."""
    writers = sorted({one.writer for one in pairs} - {"", "scenarios"})
    parts = [["scenarios"], *(writers[place :: _PARTS - 1] for place in range(_PARTS - 1))]
    of = np.array([one.writer for one in pairs])
    found = np.zeros(len(pairs))
    for part in parts:
        without = np.isin(of, part)
        weights, bias = fitted(pairs, matrix, learnt & ~without)
        scores = np.asarray(matrix @ weights + bias)
        found += np.where(of == "", scores / len(parts), np.where(without, scores, 0.0))
    return found


def report_crossed(pairs: Sequence[Pair], scores: Vector) -> None:
    """Print the shares of pairs above some scores, by where they are from."""

    def kind(pair: Pair) -> str:
        name = "held" if pair.held and pair.kind == "own" else pair.kind
        return name if name in ("ordinary", "unrelated") else f"{name}, {_OVER[pair.over]}"

    wanted = [place for place, one in enumerate(pairs) if one.writer or one.held]
    kinds = np.array([kind(pairs[place]) for place in wanted])
    for name in sorted(set(kinds)):
        own = scores[wanted][kinds == name]
        shares = ", ".join(f"{(own > limit).mean():.1%} above {limit:g}" for limit in _LIMITS)
        print(f"{name} ({len(own)}): {shares}")


def report(pairs: Sequence[Pair], scores: Vector) -> None:
    """Print what the model finds of the pairs that are only measured, beside the rules."""

    def chosen(which: Callable[[Pair], bool]) -> list[int]:
        return [place for place, one in enumerate(pairs) if one.held and which(one)]

    updates = chosen(lambda one: one.over and one.kind == "own")
    alike = chosen(lambda one: not one.over and one.kind == "own")
    usual = chosen(lambda one: one.kind == "ordinary")
    apart = chosen(lambda one: one.kind == "unrelated")
    print(f"{sum(not one.held for one in pairs)} pairs trained on")
    ruled = [
        np.mean([renewal(pairs[place].older, pairs[place].newer) is not None for place in part])
        for part in (updates, alike)
    ]
    print(f"by rules alone: {ruled[0]:.0%} of updates, {ruled[1]:.0%} of look-alikes")
    higher = scores[updates][:, None] > scores[alike][None]
    print(f"area under the curve, updates against look-alikes: {higher.mean():.3f}")
    limits = [float(np.quantile(scores[alike], 1 - share)) for share in _SHARES]
    for limit in (DOUBTED, LIKELY, *limits):
        kinds = [(scores[part] > limit).mean() for part in (updates, alike, apart, usual)]
        print(
            "above {:.1f}: {:.0%} of updates, {:.0%} of look-alikes, ".format(limit, *kinds), end=""
        )
        print("{:.1%} of unrelated, {:.1%} of ordinary pairs".format(*kinds[2:]))


if __name__ == "__main__":
    typer.run(main)
