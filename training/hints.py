"""Fit the hints that tell which texts the judge of sentences reads for requests and secrets."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from semantic_memory.judging.hints import BUCKETS, MATTERS, Hints, Matter, buckets, score
from training.data import Sentence

DATA = [
    "sentences.jsonl",
    "messages.jsonl",
    "forgetting.jsonl",
    "secrets.jsonl",
    "talk.jsonl",
    "answers.jsonl",
]
_FOUND = 0.97
"""Share of messages with a request, or a secret, of writers left out in turn, that must pass."""
_FOLDS = 5
_LOOK_ALIKE = 0.3
"""Weight of a message that is only like one: the judge tells these."""
_RARE = 4.0


def make(ordinary: Sequence[Sentence], told: Sequence[Sentence], target: Path) -> dict[str, Any]:
    """Fit to what isn't held, and write `target`; return its digest and what passes of the held."""
    fitted = {matter: _hints(ordinary, told, matter) for matter in MATTERS}
    np.savez_compressed(
        target,
        **{
            f"{matter}_{name}": value
            for matter, parts in fitted.items()
            for name, value in parts.items()
        },
    )
    passing = {}
    for matter, parts in fitted.items():
        hints = Hints(
            parts["weights"].astype(np.float32) * parts["scale"], parts["bias"], parts["threshold"]
        )
        for name, rows in (
            (f"{matter}s", [row for row in told if row.held and holds(row, matter)]),
            (f"sentences_as_{matter}s", [row for row in ordinary if row.held]),
        ):
            scores = np.array([score(row.text, hints) for row in rows])
            passing[f"passing_{name}"] = round(float(np.mean(scores >= hints.threshold)), 3)
    return {"data": DATA, "sha256": hashlib.sha256(target.read_bytes()).hexdigest()} | passing


def _hints(
    ordinary: Sequence[Sentence], told: Sequence[Sentence], matter: Matter
) -> dict[str, Any]:
    """Fit the hints at one matter.

    The threshold is chosen by cross-validation over the writers of what isn't held.
    """
    learned = [row for row in (*ordinary, *told) if not row.held]
    found, telling = _matrix(learned), np.array([holds(row, matter) for row in learned])
    looks = {id(row) for row in told}
    weights = np.array(
        [
            _RARE if holds(one, matter) else _LOOK_ALIKE if id(one) in looks else 1.0
            for one in learned
        ]
    )
    unseen = np.zeros(len(learned))
    folds = GroupKFold(_FOLDS).split(found, telling, [row.writer for row in learned])
    for own, others in folds:
        model = _fitted(found[own], telling[own], weights[own])
        unseen[others] = model.decision_function(found[others])
    model = _fitted(found, telling, weights)
    scale = float(np.abs(model.coef_[0]).max() / 127)
    return {
        "weights": np.round(model.coef_[0] / scale).astype(np.int8),
        "scale": scale,
        "bias": float(model.intercept_[0]),
        "threshold": float(np.quantile(unseen[telling], 1 - _FOUND)),
    }


def _fitted(
    found: csr_matrix, telling: NDArray[np.bool_], weights: NDArray[np.float64]
) -> LogisticRegression:
    return LogisticRegression(C=10.0, max_iter=1_000).fit(found, telling, sample_weight=weights)


def tells(row: Sentence) -> bool:
    """Return True if a row asks to forget something, answers that, or holds a secret."""
    return any(holds(row, matter) for matter in MATTERS)


def holds(row: Sentence, matter: Matter) -> bool:
    """Return True if a row holds a request, or an answer to one, or a secret."""
    if matter == "request":
        return row.labels["act"] != "none"
    return any(mark.name == "secret" for mark in row.marks or ())


def _matrix(rows: Sequence[Sentence]) -> csr_matrix:
    found = [buckets(row.text) for row in rows]
    lengths = [len(one) for one in found]
    values = np.concatenate([np.full(n, 1 / np.sqrt(max(1, n))) for n in lengths])
    ends = np.concatenate([[0], np.cumsum(lengths)])
    return csr_matrix((values, np.concatenate(found), ends), shape=(len(rows), BUCKETS))
