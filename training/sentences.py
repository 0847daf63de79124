"""Train the judge of sentences: worth, stands alone, about whom, kind, slot, category."""

from __future__ import annotations

import random
from collections.abc import Sequence

import torch
from torch.nn import functional

from training.augment import NAMES, spelled, third_person
from training.data import SENTENCE_LABELS, Sentence
from training.loop import train
from training.model import SpansModel, encoded, tokenizer

HEADS = {name: len(values) for name, values in SENTENCE_LABELS.items()}
_WEIGHTS = {"worth": 2.0, "alone": 0.7, "about": 0.7, "kind": 1.5, "slot": 2.0, "category": 1.0}
_IGNORED = -100
_WITHOUT_CONTEXT = 0.3
_TOLD = 0.2
"""Share of sentences that are told in the third person."""


def trained(rows: Sequence[Sentence], *, epochs: float, seed: int) -> SpansModel:
    """Return a model trained on `rows`; labels that a row lacks teach nothing."""
    model, reader = SpansModel(HEADS), tokenizer()

    def loss_of(batch: Sequence[Sentence], rng: random.Random) -> torch.Tensor:
        before = [
            "" if rng.random() < _WITHOUT_CONTEXT and row.labels["alone"] == "yes" else row.context
            for row in batch
        ]
        logits = model(**encoded(reader, before, [_stored(row.text, rng) for row in batch])).float()
        total = torch.zeros(())
        for name, part in zip(HEADS, torch.split(logits, model.sizes, -1), strict=True):
            wanted = torch.tensor([_index(name, row) for row in batch])
            if (wanted != _IGNORED).any():
                total = total + _WEIGHTS[name] * functional.cross_entropy(
                    part, wanted, ignore_index=_IGNORED, label_smoothing=0.03
                )
        return total

    train(model, lambda _: rows, loss_of, lambda row: len(row.text), epochs=epochs, seed=seed)
    return model


def scored(model: SpansModel, rows: Sequence[tuple[str, str]]) -> dict[str, torch.Tensor]:
    """Return the probabilities of each label's values, for (context, text)."""
    reader, parts = tokenizer(), []
    with torch.no_grad():
        for start in range(0, len(rows), 64):
            some = rows[start : start + 64]
            parts.append(model(**encoded(reader, [a for a, _ in some], [b for _, b in some])))
    logits = torch.split(torch.cat(parts).float(), model.sizes, -1)
    return {name: part.softmax(-1) for name, part in zip(HEADS, logits, strict=True)}


def _stored(text: str, rng: random.Random) -> str:
    """Return a sentence as it is said, or told of its speaker as agents write facts."""
    if rng.random() < _TOLD:
        return third_person(text, rng.choice(NAMES))
    return spelled(text, rng)


def _index(name: str, row: Sentence) -> int:
    value = row.labels[name]
    return _IGNORED if value is None else SENTENCE_LABELS[name].index(value)
