"""Train the reranker: which message of a conversation answers a question.

Each question stands beside a message that answers it and five that don't, most of them among those
that its words and its vector find first. The loss is the softmax cross-entropy over the six (Cao et
al., 2007, "Learning to Rank: From Pairwise Approach to Listwise Approach").
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from semantic_memory.bootstrap.models import make_embedder
from semantic_memory.domain.ports import Embedder
from semantic_memory.settings import load
from training import data
from training.loop import train
from training.model import SpansModel, tokenizer

HEADS = {"answers": 1}
GROUP = 6
"""Messages that a question stands beside, the first of which answers it."""
_BATCH = 8
"""Questions in a batch."""
_BEFORE = 140
"""Characters of what was said before that are read with a message, as the product reads them."""
_TOKENS = 128
_HARD, _HARDEST = 14, 8
_NEAREST = 3
"""Of the hardest messages, those that a question stands beside."""
_OVERLAP = 0.15
"""Weight of a common word beside the cosine, where hard messages are chosen."""
_SHARED = 0.3
"""Share of the questions of which one message is drawn from any conversation, that are written in
lower case, and that lack their question mark."""
_SMOOTHING = 0.05
_WORDS = re.compile(r"[a-z0-9]+")


class Question(NamedTuple):
    """A question with the messages of its conversation, and what was said before each."""

    text: str
    messages: Sequence[str]
    """Each with its speaker."""
    before: Sequence[str]
    relevant: Sequence[int]
    hard: Sequence[int]
    """Messages that don't answer it, the likeliest first."""
    held: bool

    def passage(self, place: int, *, in_context: bool) -> str:
        """Return a message, behind what was said before it if `in_context`."""
        before = self.before[place]
        if not in_context or not before:
            return self.messages[place]
        return f"{before[-_BEFORE:]} / {self.messages[place]}"


def questions(gold: Path) -> list[Question]:
    """Return the questions of `talk.jsonl`."""
    embedder = make_embedder(load())
    return [one for row in data.rows(gold / "talk.jsonl") for one in _of_user(row, embedder)]


def _of_user(row: dict[str, Any], embedder: Embedder) -> Iterator[Question]:
    told = row["memories"]
    messages = [f"{one.get('name') or one.get('role', 'user')}: {one['content']}" for one in told]
    before = [
        messages[place - 1] if place and told[place - 1]["session_id"] == one["session_id"] else ""
        for place, one in enumerate(told)
    ]
    vectors = embedded(messages, "document", embedder)
    asked = [str(one["query"]) for one in row["questions"]]
    words = [_words(message) for message in messages]
    for text, vector, question in zip(
        asked, embedded(asked, "query", embedder), row["questions"], strict=True
    ):
        own = _words(text)
        scores = vectors @ vector + np.array([_OVERLAP * len(own & one) for one in words])
        relevant = sorted(int(one) for one in question["relevant_ids"])
        order = [int(place) for place in np.argsort(-scores) if place not in relevant]
        yield Question(text, messages, before, relevant, order[:_HARD], bool(row["held"]))


def embedded(texts: Sequence[str], kind: Any, embedder: Embedder) -> NDArray[np.float32]:
    """Return the vectors of texts, shape (len(texts), dimension)."""
    starts = range(0, len(texts), 64)
    return np.vstack([embedder.embed(texts[start : start + 64], kind) for start in starts])


def _words(text: str) -> set[str]:
    return {word for word in _WORDS.findall(text.lower()) if len(word) > 3}


def trained(rows: Sequence[Question], *, epochs: float, seed: int) -> SpansModel:
    """Return a model trained on the questions `rows`."""
    torch.manual_seed(seed)
    model, reader = SpansModel(HEADS), tokenizer()

    def epoch(rng: random.Random) -> list[Group]:
        return _epoch(rows, rng)

    def loss_of(batch: Sequence[Group], rng: random.Random) -> torch.Tensor:
        del rng
        (logits,) = model(
            **reader(
                [text for text, passages in batch for _ in passages],
                [passage for _, passages in batch for passage in passages],
                truncation="only_second",
                max_length=_TOKENS,
                padding=True,
                return_tensors="pt",
            )
        )
        right = torch.zeros(len(batch), dtype=torch.long)
        found = logits.float().view(-1, GROUP)
        return functional.cross_entropy(found, right, label_smoothing=_SMOOTHING)

    train(model, epoch, loss_of, _length, epochs=epochs, seed=seed, batch=_BATCH)
    return model


def _length(group: Group) -> int:
    return max(map(len, group[1]))


Group = tuple[str, list[str]]
"""A question and its passages."""


def _epoch(rows: Sequence[Question], rng: random.Random) -> list[Group]:
    """Return each question with passages drawn anew."""
    groups = []
    for row in rows:
        in_context = rng.random() < 0.5
        answer = rng.choice(row.relevant)
        others = rng.sample(row.hard[:_HARDEST], min(_NEAREST, len(row.hard[:_HARDEST])))
        rest = [place for place in row.hard if place not in others]
        others += rng.sample(rest, min(GROUP - 1 - len(others), len(rest)))
        passages = [row.passage(place, in_context=in_context) for place in (answer, *others)]
        if rng.random() < _SHARED:
            other = rng.choice(rows)
            place = rng.choice(range(len(other.messages)))
            passages[-1] = other.passage(place, in_context=in_context)
        text = row.text
        if rng.random() < _SHARED:
            text = text.lower()
        if rng.random() < _SHARED:
            text = text.rstrip("?")
        if len(passages) == GROUP:
            groups.append((text, passages))
    if not groups:
        raise ValueError(f"no conversation has {GROUP} messages for a question")
    return groups
