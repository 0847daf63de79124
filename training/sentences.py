"""Train the judge of sentences: worth, alone, about whom, kind, slot, category, act and marks."""

from __future__ import annotations

import random
from collections.abc import Sequence

import torch
from torch.nn import functional

from training import hints
from training.augment import NAMES, spelled, third_person
from training.data import MARKS, SENTENCE_LABELS, Mark, Sentence
from training.loop import train
from training.model import SpansModel, encoded, tokenizer

HEADS = {name: len(values) for name, values in SENTENCE_LABELS.items()}
_WEIGHTS = {"worth": 2.0, "alone": 0.7, "about": 0.7, "kind": 1.5, "slot": 2.0, "category": 1.0}
_WEIGHTS |= {"act": 1.5}
_MARKED = 2.0
"""Weight of the marks of all tokens beside those of the heads."""
_RARE = 2.0
"""Weight of a token of a secret or a subject beside one of neither."""
_AS_WRITTEN = 0.5
_AMID = 0.3
"""Share of labelled messages that get another sentence before or behind them."""
_BEHIND = 0.4
_OFTEN = 2
"""Times that a message that asks to forget something, or holds a secret, is seen in an epoch."""
_TALK = 0.15
"""Messages of several ordinary sentences, drawn anew in each epoch, for each sentence."""
_IGNORED = -100
_WITHOUT_CONTEXT = 0.3
_TOLD = 0.2
"""Share of sentences that are told in the third person."""


def trained(rows: Sequence[Sentence], *, epochs: float, seed: int) -> SpansModel:
    """Return a model trained on `rows`; labels that a row lacks teach nothing."""
    model, reader = SpansModel(HEADS, len(MARKS)), tokenizer()

    ordinary = [row for row in rows if row.labels["worth"] is not None]

    def epoch(rng: random.Random) -> list[Sentence]:
        told = [
            amid(row, rng.choice(ordinary).text, rng)
            if row.labels["worth"] is None and rng.random() < _AMID
            else row
            for row in rows
            for _ in range(_OFTEN if hints.tells(row) else 1)
        ]
        return told + talk(ordinary, int(len(ordinary) * _TALK), rng)

    def loss_of(batch: Sequence[Sentence], rng: random.Random) -> torch.Tensor:
        batch = [without_context(row) if _loses(row, rng) else row for row in batch]
        said = [_stored(row, rng) for row in batch]
        inputs = encoded(reader, [row.context for row in batch], [text for text, _ in said])
        logits, marks = (part.float() for part in model(**inputs))
        tags = torch.tensor(
            [
                tagged(read.offsets, read.type_ids, placed)
                for read, (_, placed) in zip(inputs.encodings or (), said, strict=True)
            ]
        )
        total = _MARKED * functional.cross_entropy(
            marks.flatten(0, 1), tags.flatten(), weight=weights, ignore_index=_IGNORED
        )
        for name, part in zip(HEADS, torch.split(logits, model.sizes, -1), strict=True):
            wanted = torch.tensor([_index(name, row) for row in batch])
            if (wanted != _IGNORED).any():
                total = total + _WEIGHTS[name] * functional.cross_entropy(
                    part, wanted, ignore_index=_IGNORED, label_smoothing=0.03
                )
        return total

    weights = torch.tensor([1.0, *[_RARE] * (len(MARKS) - 1)])
    train(model, epoch, loss_of, lambda row: len(row.text), epochs=epochs, seed=seed)
    return model


def talk(rows: Sequence[Sentence], count: int, rng: random.Random) -> list[Sentence]:
    """Return messages of several sentences by one writer, which ask and hide nothing."""
    by_writer: dict[str, list[str]] = {}
    for row in rows:
        by_writer.setdefault(row.writer, []).append(row.text)
    labels = dict.fromkeys(SENTENCE_LABELS) | {"act": "none"}
    found = []
    for _ in range(count):
        writer = rng.choice(rows).writer
        said = rng.sample(by_writer[writer], min(rng.randint(2, 5), len(by_writer[writer])))
        found.append(Sentence(" ".join(map(_ended, said)), "", writer, labels, False))
    return found


def amid(row: Sentence, other: str, rng: random.Random) -> Sentence:
    """Return a message with another sentence before or behind it."""
    if rng.random() < _BEHIND:
        return row._replace(text=f"{_ended(row.text)} {other}")
    first = f"{_ended(other)} "
    marks = row.marks and tuple(
        Mark(mark.start + len(first), mark.end + len(first), mark.name) for mark in row.marks
    )
    return row._replace(text=first + row.text, marks=marks)


def _ended(sentence: str) -> str:
    return sentence if sentence[-1:] in ".!?…" else f"{sentence}."


def _loses(row: Sentence, rng: random.Random) -> bool:
    is_answer = row.labels["act"] in ("confirm", "decline")
    return bool(row.context) and not is_answer and rng.random() < _WITHOUT_CONTEXT


def without_context(row: Sentence) -> Sentence:
    """Return a sentence without what was said before it; of one that needs it, only that is told.

    >>> labels = {"worth": "keep", "alone": "no"}
    >>> row = Sentence("She starts there in May", "My niece got into Leeds", "Ann", labels, False)
    >>> without_context(row).labels
    {'worth': None, 'alone': 'no'}
    """
    if row.labels["alone"] != "no":
        return row._replace(context="")
    return row._replace(context="", labels=dict.fromkeys(row.labels) | {"alone": "no"})


def tagged(
    offsets: Sequence[tuple[int, int]], type_ids: Sequence[int], marks: Sequence[Mark] | None
) -> list[int]:
    """Return the index in MARKS of each token of the second span; -100 for all others.

    `offsets` are the tokens' places in their own span, empty for special tokens and padding.

    >>> tagged([(0, 0), (0, 2), (0, 0)], [0, 0, 0], ()), tagged([(0, 3), (4, 8)], [1, 1], None)
    ([-100, -100, -100], [-100, -100])
    >>> tagged([(0, 3), (4, 8), (0, 0)], [1, 1, 1], (Mark(4, 8, "secret"),))
    [0, 1, -100]
    """
    if marks is None:
        return [_IGNORED] * len(offsets)
    return [
        _tag(begin, end, marks) if second and begin < end else _IGNORED
        for (begin, end), second in zip(offsets, type_ids, strict=True)
    ]


def _tag(begin: int, end: int, marks: Sequence[Mark]) -> int:
    inside = (MARKS.index(mark.name) for mark in marks if begin < mark.end and mark.start < end)
    return next(inside, 0)


def _stored(row: Sentence, rng: random.Random) -> tuple[str, Sequence[Mark] | None]:
    """Return a sentence as it is said, or told of its speaker as agents write facts.

    What is marked keeps its spelling.
    """
    if row.marks:
        return _spelled_around(row.text, row.marks, rng)
    if row.labels["worth"] is not None and rng.random() < _TOLD:
        return third_person(row.text, rng.choice(NAMES)), row.marks
    return spelled(row.text, rng), row.marks


def _spelled_around(
    text: str, marks: Sequence[Mark], rng: random.Random
) -> tuple[str, Sequence[Mark]]:
    if rng.random() < _AS_WRITTEN:
        return text, marks
    told, done, placed = "", 0, []
    for mark in marks:
        told += spelled(text[done : mark.start], rng)
        begin = len(told)
        told += text[mark.start : mark.end]
        placed.append(Mark(begin, len(told), mark.name))
        done = mark.end
    return told + spelled(text[done:], rng), placed


def _index(name: str, row: Sentence) -> int:
    value = row.labels[name]
    return _IGNORED if value is None else SENTENCE_LABELS[name].index(value)
