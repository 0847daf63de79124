"""Train the judge of pairs: whether the newer statement ends the older one or repeats it."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

import torch
from torch.nn import functional

from training.augment import behind, spelled, told_of
from training.data import PAIR_LABELS, Pair
from training.loop import train
from training.model import SpansModel, encoded, tokenizer

HEADS = {"relation": len(PAIR_LABELS)}
UNRELATED_SHARE = 0.12
"""Pairs on different matters, drawn anew in each epoch: in a store nearly all pairs are these."""
_FOREIGN = 0.15
"""Share of texts that get another sentence in front, so that no style stands for a label."""


def trained(pairs: Sequence[Pair], *, epochs: float, seed: int) -> SpansModel:
    """Return a model trained on `pairs`."""
    model, reader = SpansModel(HEADS), tokenizer()
    fillers = [pair.older for pair in pairs if len(pair.older) < 120]
    smoothing = 0.03

    def epoch(rng: random.Random) -> list[Pair]:
        return [*pairs, *unrelated(pairs, int(len(pairs) * UNRELATED_SHARE), rng)]

    def loss_of(batch: Sequence[Pair], rng: random.Random) -> torch.Tensor:
        first, second = [], []
        for pair in batch:
            older, newer = told_of(pair.older, pair.newer, rng)
            if rng.random() < _FOREIGN:
                older = behind(older, rng.choice(fillers))
            if rng.random() < _FOREIGN:
                newer = behind(newer, rng.choice(fillers))
            first.append(spelled(older, rng))
            second.append(spelled(newer, rng))
        (logits,) = model(**encoded(reader, first, second))
        labels = torch.tensor([pair.label for pair in batch])
        return functional.cross_entropy(logits.float(), labels, label_smoothing=smoothing)

    train(model, epoch, loss_of, _length, epochs=epochs, seed=seed)
    return model


def unrelated(pairs: Sequence[Pair], count: int, rng: random.Random) -> list[Pair]:
    """Return pairs on different matters, half of them chosen for words that both have."""
    found = []
    for _ in range(count):
        one = rng.choice(pairs)
        among = [rng.choice(pairs) for _ in range(1 if rng.random() < 0.5 else 40)]
        others = [other for other in among if other.kind != one.kind]
        if others:
            other = max(others, key=lambda other: len(_words(one.older) & _words(other.newer)))
            found.append(Pair(one.older, other.newer, 0, "unrelated", "unrelated", False))
    return found


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"[a-z0-9]+", text.lower()) if len(word) > 3}


def _length(pair: Pair) -> int:
    return len(pair.older) + len(pair.newer)
