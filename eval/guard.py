"""Train the model that recognises attacks by their words, and measure it.

    python -m eval.guard --attacks FILE --ordinary FILE [--ordinary FILE ...] [--plot FILE.svg]

Fits a logistic regression with an L2 penalty to attack strings, to what people say in ordinary
conversations, and to the standing instructions of `data/gold/instructions.jsonl`, of which those of
the half `measure` and the messages of `data/gold/developers.jsonl` are only measured. The threshold
is the score that .03 % of the ordinary messages exceed in five-fold cross-validation. Prints shares
at that threshold, by kind of attack, together with the patterns of `ingest.gate.attacks`; writes
`ingest/gate/learned.npz`, and the receiver operating characteristic as a plot.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import matplotlib as mpl
import numpy as np
import typer
from matplotlib.figure import Figure
from scipy.sparse import csr_matrix

from eval.attacks import read_attacks, said_by_users
from eval.datasets.files import read_text
from eval.extraction import read_lines
from eval.logistic import Vector, fit
from ingest.gate.attacks import is_attack
from ingest.gate.learned import BUCKETS, FILE, Model, buckets, score

GOLD = Path(__file__).parent.parent / "data" / "gold"
INSTRUCTIONS = GOLD / "instructions.jsonl"
DEVELOPERS = GOLD / "developers.jsonl"
_PENALTY = 0.01
_ATTACKS_COUNT = 8.0
_INSTRUCTIONS_COUNT = 15.0
"""Weights of an attack, and of a standing instruction, in the fit, as there are few of them."""
_HELD = 0.0003
"""Share of ordinary messages above the threshold."""
_FOLDS = 5
_MOST = 12_000
"""Ordinary messages taken from each file."""


def rows(texts: Sequence[str]) -> csr_matrix:
    """Return a row of buckets for each text, scaled by the root of their number."""
    found = [buckets(text) for text in texts]
    ends = np.cumsum([0, *map(len, found)])
    values = np.concatenate([np.full(len(one), 1 / np.sqrt(len(one) + 1)) for one in found])
    return csr_matrix((values, np.concatenate(found), ends), shape=(len(texts), BUCKETS))


def held_out(matrix: Any, attack: Vector, share: Vector) -> Vector:
    """Return the score of each row by a model that hasn't seen it."""
    fold = np.random.default_rng(0).integers(_FOLDS, size=len(attack))
    scores = np.zeros(len(attack))
    for number in range(_FOLDS):
        own, others = fold == number, fold != number
        weights, bias = fit(matrix[others], attack[others], share[others], penalty=_PENALTY)
        scores[own] = matrix[own] @ weights + bias
    return scores


def save(weights: Vector, bias: float, threshold: float) -> Model:
    """Write the weights in eight bits; return the model as it is written."""
    scale = float(np.abs(weights).max() / 127)
    small = np.round(weights / scale).astype(np.int8)
    np.savez_compressed(FILE, weights=small, scale=scale, bias=bias, threshold=threshold)
    return Model(small.astype(np.float32) * scale, bias, threshold)


def main(
    attacks: Annotated[Path, typer.Option(exists=True)],
    ordinary: Annotated[list[Path], typer.Option(exists=True)],
    plot: Annotated[Path | None, typer.Option()] = None,
) -> None:
    """Train, measure and write the model."""
    strings = read_attacks(attacks)
    usual = {path.name: said_by_users(json.loads(read_text(path)))[:_MOST] for path in ordinary}
    told: dict[str, list[str]] = defaultdict(list)
    for row in read_lines(INSTRUCTIONS):
        told[row["half"]].append(row["text"])
    normal = [text for those in usual.values() for text in those] + told["build"]
    texts = [one.text for one in strings] + normal
    attack = np.array([1.0] * len(strings) + [0.0] * len(normal))
    share = np.where(attack > 0, _ATTACKS_COUNT, 1.0)
    share[len(texts) - len(told["build"]) :] = _INSTRUCTIONS_COUNT
    matrix = rows(texts)
    scores = held_out(matrix, attack, share)
    caught, harmless = scores[: len(strings)], scores[len(strings) :]
    threshold = float(np.quantile(harmless[: -len(told["build"])], 1 - _HELD))
    model = save(*fit(matrix, attack, share, penalty=_PENALTY), threshold)

    by_rule = np.array([is_attack(text) for text in texts])
    found = (scores > threshold) | by_rule
    kinds: dict[str, list[bool]] = defaultdict(list)
    for one, recognised in zip(strings, found, strict=False):
        kinds[one.kind].append(bool(recognised))
        kinds["all attacks"].append(bool(recognised))
    for kind, those in kinds.items():
        print(f"{kind}: {np.mean(those):.1%} of {len(those)} recognised")
    start = len(strings)
    for name, said in usual.items():
        end = start + len(said)
        alone = (scores[start:end] > threshold).mean()
        print(f"{name}: {found[start:end].mean():.2%} of {len(said):,} held, {alone:.2%} by model")
        start = end
    developers = [row["text"] for row in read_lines(DEVELOPERS)]
    for name, measured in (("instructions", told["measure"]), ("developers", developers)):
        wrong = [text for text in measured if is_attack(text) or score(text, model) > threshold]
        print(f"{name}, not trained on: {len(wrong)} of {len(measured)} held: {wrong}")
    if plot is not None:
        _plot(caught, harmless, threshold, plot)


def _plot(caught: Vector, harmless: Vector, threshold: float, file: Path) -> None:
    """Draw the share of attacks found over the share of ordinary messages held."""
    steps = np.quantile(harmless, 1 - np.geomspace(1e-4, 1, 200))
    mpl.rcParams["svg.hashsalt"] = "attacks"
    figure = Figure(figsize=(5, 3.6), layout="constrained")
    axes = figure.subplots()
    shares = [(harmless > step).mean() for step in steps]
    axes.semilogx(shares, [(caught > step).mean() for step in steps])
    axes.plot((harmless > threshold).mean(), (caught > threshold).mean(), "o")
    axes.set_xlabel("share of ordinary messages held")
    axes.set_ylabel("share of attacks found")
    axes.grid(alpha=0.3)
    figure.savefig(file, metadata={"Date": None})


if __name__ == "__main__":
    typer.run(main)
