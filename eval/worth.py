"""Train the model that tells statements worth keeping from small talk.

    python -m eval.worth

Fits a logistic regression with an L2 penalty to `data/gold/worth.jsonl`, sentences in the first
person labelled by hand, over the traits of `semantic_memory.domain.english.traits`. Prints the
accuracy of ten-fold cross-validation and writes the weights to `ingest/extract/worth.json`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from semantic_memory.domain.english.traits import traits

ROOT = Path(__file__).parent.parent
LABELS = ROOT / "data" / "gold" / "worth.jsonl"
WEIGHTS = ROOT / "ingest" / "extract" / "worth.json"

_PENALTY = 1.0
_STEPS = 60
_FOLDS = 10

Vector = NDArray[np.float64]


class Labelled(NamedTuple):
    """Statements as a matrix of traits (rows: statements) and 1.0 for each that is kept."""

    names: list[str]
    matrix: Vector
    keep: Vector


def load(path: Path = LABELS) -> Labelled:
    """Return the labelled statements of a file."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    found = [traits(row["text"]) for row in rows]
    names = sorted({name for one in found for name in one})
    matrix = np.array([[one.get(name, 0.0) for name in names] for one in found])
    return Labelled(names, matrix, np.array([float(row["keep"]) for row in rows]))


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


def cross_validated(labelled: Labelled) -> float:
    """Return the share of statements judged right by a model that hasn't seen them."""
    fold = np.arange(len(labelled.keep)) % _FOLDS
    right = 0
    for number in range(_FOLDS):
        held = fold == number
        weights = fit(labelled.matrix[~held], labelled.keep[~held])
        judged = _likely(labelled.matrix[held], weights) > 0.5
        right += int((judged == (labelled.keep[held] > 0)).sum())
    return right / len(labelled.keep)


def main() -> None:
    """Train on all labels and write the weights."""
    labelled = load()
    weights = fit(labelled.matrix, labelled.keep)
    known = {
        name: round(float(weight), 4) for name, weight in zip(labelled.names, weights, strict=True)
    }
    WEIGHTS.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    print(f"{len(labelled.keep)} statements, {cross_validated(labelled):.3f} right when held out")


def _likely(matrix: Vector, weights: Vector) -> Vector:
    return np.asarray(1 / (1 + np.exp(-(matrix @ weights))))


if __name__ == "__main__":
    main()
