"""Train the models that tell statements worth keeping from small talk and from fragments.

    python -m eval.worth --locomo FILE --realtalk FILE

Fits logistic regressions with an L2 penalty to two sets of statements in the first person, labelled
by hand: `data/gold/worth.jsonl`, written for this project, and `data/gold/worth_read.jsonl`, read
in the development parts of both conversation sets, of which the file holds digests only. One model
is over the traits of `semantic_memory.domain.english.traits`, the other adds the vectors of the
packaged embedder. Prints precision and recall on the read statements, in ten-fold cross-validation,
and writes `worth.json` and `worth_vectors.json` in `ingest/extract`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from ingest.extract.judge import Weights
from ingest.extract.offline import OfflineExtractor
from ingest.readers import Format, Incoming, read
from semantic_memory.bootstrap.models import make_embedder
from semantic_memory.domain.english.traits import traits
from semantic_memory.settings import Settings

ROOT = Path(__file__).parent.parent
_WRITTEN = ROOT / "data" / "gold" / "worth.jsonl"
_READ = ROOT / "data" / "gold" / "worth_read.jsonl"
_WEIGHTS = ROOT / "ingest" / "extract"

_PENALTY = 1.0
_SCALE = 4.0
"""Weight of a vector beside the traits: it divides the penalty of the vector's weights."""
_STEPS = 60
_FOLDS = 10
_THRESHOLDS = (0.5, 0.6, 0.7)

Vector = NDArray[np.float64]
Labels = dict[str, bool]


def written() -> Labels:
    """Return the statements written for this project, True for those worth keeping."""
    return {row["text"]: row["keep"] for row in _rows(_WRITTEN)}


def read_labels(statements: Sequence[str]) -> Labels:
    """Return those of `statements` that have a label by their digest."""
    known = _known()
    return {one: known[digest(one)] for one in statements if digest(one) in known}


@cache
def _known() -> dict[str, bool]:
    return {row["digest"]: row["keep"] for row in _rows(_READ)}


def digest(statement: str) -> str:
    """Return the digest by which a labelled statement is known."""
    return hashlib.sha256(statement.encode()).hexdigest()[:16]


def judged(path: Path, form: Format) -> list[str]:
    """Return every statement of a file's conversations that reaches the judge."""
    found: dict[str, None] = {}

    def admit(statements: Sequence[str]) -> Sequence[float]:
        found.update(dict.fromkeys(statements))
        return [1.0] * len(statements)

    extractor = OfflineExtractor(judge=admit)
    sessions: dict[tuple[str, str], list[Incoming]] = {}
    for item in read(path, form, ""):
        if isinstance(item, Incoming):
            sessions.setdefault((item.user_id or "", item.session_id), []).append(item)
    for own in sessions.values():
        extractor.extract([item.message for item in own])
    return [*found]


def fit(matrix: Vector, keep: Vector, penalty: float = _PENALTY) -> Vector:
    """Return the weights of a logistic regression, by Newton's method."""
    weights = np.zeros(matrix.shape[1])
    ridge = penalty * np.eye(matrix.shape[1])
    for _ in range(_STEPS):
        likely = _likely(matrix, weights)
        slope = matrix.T @ (likely - keep) + penalty * weights
        curve = (matrix * (likely * (1 - likely))[:, None]).T @ matrix + ridge
        step = np.linalg.solve(curve, slope)
        weights = weights - step
        if np.abs(step).max() < 1e-8:
            break
    return weights


def held_out(matrix: Vector, keep: Vector, own: int) -> Vector:
    """Return the probability of each of the last `own` rows by a model that hasn't seen it."""
    first = len(keep) - own
    fold = np.arange(len(keep)) % _FOLDS
    likely = np.zeros(len(keep))
    for number in range(_FOLDS):
        held = (fold == number) & (np.arange(len(keep)) >= first)
        likely[held] = _likely(matrix[held], fit(matrix[~held], keep[~held]))
    return likely[first:]


def main(
    locomo: Annotated[Path, typer.Option(exists=True)],
    realtalk: Annotated[Path, typer.Option(exists=True)],
) -> None:
    """Train on all labels and write the weights."""
    own = read_labels([*judged(locomo, "locomo"), *judged(realtalk, "realtalk")])
    labels = written() | own
    keep = np.array([float(one) for one in labels.values()])
    found = [traits(one) for one in labels]
    names = sorted({name for one in found for name in one})
    plain = np.array([[one.get(name, 0.0) for name in names] for one in found])
    embedder = make_embedder(Settings())
    vectors = embedder.embed([*labels], "document")
    for file, model, matrix in (
        ("worth.json", None, plain),
        ("worth_vectors.json", embedder.identity.model, np.hstack([plain, _SCALE * vectors])),
    ):
        weights = fit(matrix, keep)
        trained = Weights(
            model=model,
            traits=dict(zip(names, _rounded(weights[: len(names)]), strict=True)),
            vector=tuple(_rounded(_SCALE * weights[len(names) :])),
        )
        text = trained.model_dump_json(exclude_defaults=True)
        (_WEIGHTS / file).write_text(text + "\n", encoding="utf-8")
        likely = held_out(matrix, keep, len(own))
        print(f"{file}: {len(labels)} statements, {len(own)} of them read")
        for line in _report(likely, keep[-len(own) :]):
            print(line)


def _report(likely: Vector, keep: Vector) -> Iterator[str]:
    for threshold in _THRESHOLDS:
        kept = likely >= threshold
        precision, recall = keep[kept].mean(), keep[kept].sum() / keep.sum()
        yield f"  from {threshold}: precision {precision:.2f}, recall {recall:.2f}"


def _rounded(weights: Vector) -> list[float]:
    return [round(float(weight), 4) for weight in weights]


def _likely(matrix: Vector, weights: Vector) -> Vector:
    return np.asarray(1 / (1 + np.exp(-(matrix @ weights))))


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())


if __name__ == "__main__":
    typer.run(main)
