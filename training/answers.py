"""Train the reranker: which message of a conversation answers a question.

Each question stands beside a message that answers it and five that don't, most of them among those
that its words and its vector find first. The loss is the softmax cross-entropy over the six (Cao et
al., 2007, "Learning to Rank: From Pairwise Approach to Listwise Approach").
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterator, Sequence
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
from training.model import SpansModel, tokenizer

HEADS = {"answers": 1}
GROUP = 6
"""Messages that a question stands beside, the first of which answers it."""
_BATCH = 8
"""Questions in a batch."""
_CHUNK = 24 * _BATCH
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
_WARM_UP = 0.05
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
    vectors = _embedded(messages, "document", embedder)
    asked = [str(one["query"]) for one in row["questions"]]
    words = [_words(message) for message in messages]
    for text, vector, question in zip(
        asked, _embedded(asked, "query", embedder), row["questions"], strict=True
    ):
        own = _words(text)
        scores = vectors @ vector + np.array([_OVERLAP * len(own & one) for one in words])
        relevant = sorted(int(one) for one in question["relevant_ids"])
        order = [int(place) for place in np.argsort(-scores) if place not in relevant]
        yield Question(text, messages, before, relevant, order[:_HARD], bool(row["held"]))


def _embedded(texts: Sequence[str], kind: Any, embedder: Embedder) -> NDArray[np.float32]:
    starts = range(0, len(texts), 64)
    return np.vstack([embedder.embed(texts[start : start + 64], kind) for start in starts])


def _words(text: str) -> set[str]:
    return {word for word in _WORDS.findall(text.lower()) if len(word) > 3}


def trained(
    rows: Sequence[Question],
    *,
    epochs: float,
    seed: int,
    report: Callable[[str], None] = print,
) -> SpansModel:
    """Return a model trained on the questions `rows`."""
    if not any(len(row.messages) > GROUP for row in rows):
        raise ValueError(f"no conversation has more than {GROUP} messages")
    rng = random.Random(seed)
    torch.manual_seed(seed)
    model, reader = SpansModel(HEADS), tokenizer()
    steps = math.ceil(len(rows) / _BATCH * epochs)
    optimizer = torch.optim.AdamW(model.groups(), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min((step + 1) / (_WARM_UP * steps), max(0.02, 1 - step / steps)),
    )
    parameters = [one for group in model.groups() for one in group["params"]]
    model.train()
    step, told = 0, 0.0
    while step < steps:
        for batch in _batches(_epoch(rows, rng), rng)[: steps - step]:
            first = [text for text, passages in batch for _ in passages]
            second = [passage for _, passages in batch for passage in passages]
            with torch.autocast("cpu", torch.bfloat16):
                (logits,) = model(
                    **reader(
                        first,
                        second,
                        truncation="only_second",
                        max_length=_TOKENS,
                        padding=True,
                        return_tensors="pt",
                    )
                )
                loss = functional.cross_entropy(
                    logits.float().view(-1, GROUP),
                    torch.zeros(len(batch), dtype=torch.long),
                    label_smoothing=_SMOOTHING,
                )
            torch.autograd.backward([loss])
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            optimizer.zero_grad()
            schedule.step()
            step += 1
            told += loss.item()
            if step % 50 == 0:
                report(f"step {step} of {steps}: loss {told / 50:.3f}")
                told = 0.0
    return model.eval()


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
    return groups


def _batches(groups: list[Group], rng: random.Random) -> list[list[Group]]:
    """Return batches of questions whose longest passages are about as long."""
    rng.shuffle(groups)
    batches = []
    for start in range(0, len(groups), _CHUNK):
        chunk = sorted(groups[start : start + _CHUNK], key=lambda group: max(map(len, group[1])))
        batches += [chunk[place : place + _BATCH] for place in range(0, len(chunk), _BATCH)]
    rng.shuffle(batches)
    return batches
