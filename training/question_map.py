"""Fit the map that moves a question's vector towards those of what answers it.

The map is judged as the product ranks: its cosines join BM25 and what neighbours, sessions and
speakers add, and the loss is the softmax cross-entropy of each message that answers a question
among all others of its conversation and of some more (Cao et al., 2007, "Learning to Rank: From
Pairwise Approach to Listwise Approach"). Messages keep their vectors.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn import functional

from semantic_memory.bootstrap.models import make_embedder
from semantic_memory.domain.ports import Embedder
from semantic_memory.domain.text import embedded_text, stems
from semantic_memory.retrieval import names
from semantic_memory.retrieval.bm25 import BM25
from semantic_memory.retrieval.question_map import FILE
from semantic_memory.settings import RetrievalSettings, load
from semantic_memory.vectors.passages import split
from training import data
from training.answers import embedded

EPOCHS = 3
_RATE = 1e-3
_OTHERS = 3
"""Conversations whose messages stand beside a question's own."""
_TEMPERATURE = 0.04
_PENALTY = 0.003
"""Weight of the squared distance from the map that moves nothing."""
_BEST = 10


class Told(NamedTuple):
    """A conversation of n messages in p pieces, with q questions about it."""

    pieces: torch.Tensor
    """Vectors of windows and sentences, (p, dimension)."""
    owners: torch.Tensor
    """The message of each piece, (p,)."""
    whole: torch.Tensor
    """True for windows, (p,)."""
    questions: torch.Tensor
    """Vectors, (q, dimension)."""
    lexical: torch.Tensor
    """BM25 of each question and message, (q, n)."""
    named: torch.Tensor
    """1 if a question names a message's speaker, (q, n)."""
    sessions: torch.Tensor
    """The session of each message, (n,)."""
    asks: torch.Tensor
    """1 for messages that are questions, (n,)."""
    relevant: torch.Tensor
    """True for the messages that answer a question, (q, n)."""
    held: bool


def make(gold: Path, target: Path = FILE) -> None:
    """Fit the map, print what it brings on the held conversations, and write its weights."""
    settings = load()
    embedder = make_embedder(settings)
    rows = data.rows(gold / "talk.jsonl")
    told = [_told(row, embedder) for row in rows]
    matrix = fitted([one for one in told if not one.held], settings.retrieval)
    held = [one for one in told if one.held]
    if held:
        for name, one in (("without", torch.eye(len(matrix))), ("with", matrix)):
            recall, rank = measured(held, one, settings.retrieval)
            print(f"{name} the map: Recall@{_BEST} {recall:.3f}, MRR@{_BEST} {rank:.3f}")
    np.savez_compressed(
        target,
        embedder=embedder.identity.model,
        matrix=matrix.numpy().astype(np.float16),
    )


def fitted(told: Sequence[Told], weights: RetrievalSettings, *, seed: int = 0) -> torch.Tensor:
    """Return the map, shape (dimension, dimension), fitted to the questions of conversations."""
    dimension = told[0].questions.shape[1]
    same = torch.eye(dimension)
    matrix = same.clone().requires_grad_()
    optimizer = torch.optim.Adam([matrix], lr=_RATE)
    steps = len(told) * EPOCHS
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: max(0.02, 1 - step / steps)
    )
    rng = random.Random(seed)
    for _ in range(EPOCHS):
        for one in rng.sample(told, len(told)):
            moved = functional.normalize(one.questions @ matrix, dim=1)
            others = rng.sample(told, min(_OTHERS, len(told)))
            beside = [_scores(moved, other, weights) for other in others if other is not one]
            scores = torch.cat([_scores(moved, one, weights, own=True), *beside], 1) / _TEMPERATURE
            loss = _loss(scores, one.relevant) + _PENALTY * ((matrix - same) ** 2).sum()
            optimizer.zero_grad()
            torch.autograd.backward([loss])
            optimizer.step()
            schedule.step()
    return matrix.detach()


def measured(
    told: Sequence[Told], matrix: torch.Tensor, weights: RetrievalSettings
) -> tuple[float, float]:
    """Return the mean Recall@10 and MRR@10 of the questions, moved by a map."""
    recalls, ranks = [], []
    for one in told:
        moved = functional.normalize(one.questions @ matrix, dim=1)
        order = _scores(moved, one, weights, own=True).argsort(1, descending=True)[:, :_BEST]
        found = one.relevant.gather(1, order).float()
        recalls += (found.sum(1) / one.relevant.sum(1)).tolist()
        ranks += (found / torch.arange(1, found.shape[1] + 1)).amax(1).tolist()
    return float(np.mean(recalls)), float(np.mean(ranks))


def _loss(scores: torch.Tensor, relevant: torch.Tensor) -> torch.Tensor:
    """Return the mean cross-entropy of each relevant message among those that aren't."""
    padded = functional.pad(relevant, (0, scores.shape[1] - relevant.shape[1]))
    rest = torch.logsumexp(scores.masked_fill(padded, -torch.inf), 1, keepdim=True)
    found = (scores - torch.logaddexp(scores, rest)) * padded
    return -(found.sum(1) / padded.sum(1)).mean()


def _scores(
    moved: torch.Tensor, told: Told, weights: RetrievalSettings, *, own: bool = False
) -> torch.Tensor:
    """Return the matches of questions and messages, (q, n), as `semantic_memory.retrieval.ranking`.

    Words and speakers count in a question's own conversation only.
    """
    count = len(told.sessions)
    cosines = moved @ told.pieces.T
    window = _best(cosines[:, told.whole], told.owners[told.whole], count)
    sentence = _best(cosines[:, ~told.whole], told.owners[~told.whole], count)
    sentence = torch.where(sentence > -1.0, sentence, window)
    cosine = weights.sentence * sentence + (1 - weights.sentence) * window
    base = weights.dense * cosine.clamp(min=0)
    if own:
        base = base + (1 - weights.dense) * told.lexical
    nothing = torch.zeros(len(base), 1)
    together = (told.sessions[1:] == told.sessions[:-1]).float()
    before = torch.cat([nothing, base[:, :-1] * together], 1)
    behind = torch.cat([base[:, 1:] * together, nothing], 1)
    asked = torch.cat([torch.zeros(1), told.asks[:-1]])
    best = _best(base, told.sessions, int(told.sessions.max()) + 1)
    match = (
        base
        + weights.neighbour * torch.maximum(before, behind)
        + weights.answer * before * asked
        + weights.session * best[:, told.sessions]
        - weights.asks * told.asks
    )
    return match + weights.speaker * told.named if own else match


def _best(scores: torch.Tensor, owners: torch.Tensor, count: int) -> torch.Tensor:
    """Return the highest score of each owner, (q, count); -1 for those without any."""
    lowest = torch.full((len(scores), count), -1.0)
    return lowest.scatter_reduce(1, owners.expand(len(scores), -1), scores, "amax")


def _told(row: dict[str, Any], embedder: Embedder) -> Told:
    messages = row["memories"]
    speakers = [one.get("name") for one in messages]
    texts: list[str] = []
    pieces: list[tuple[int, bool]] = []
    for place, (one, speaker) in enumerate(zip(messages, speakers, strict=True)):
        windows, sentences = split(one["content"])
        texts += [*(embedded_text(window, speaker) for window in windows), *sentences]
        pieces += [(place, True)] * len(windows) + [(place, False)] * len(sentences)
    known = sorted({speaker for speaker in speakers if speaker})
    lexical = BM25()
    lexical.extend([stems(one["content"]) for one in messages])
    alive = np.ones(len(messages), dtype=np.bool_)
    asked = [one for one in row["questions"] if one["relevant_ids"]]
    mentioned = [[known[n] for n in names.named(one["query"], known)] for one in asked]
    bare = [names.without(one["query"], own) for one, own in zip(asked, mentioned, strict=True)]
    sessions: dict[str, int] = {}
    relevant = torch.zeros(len(asked), len(messages), dtype=torch.bool)
    for place, one in enumerate(asked):
        relevant[place, [int(number) for number in one["relevant_ids"]]] = True
    return Told(
        pieces=torch.from_numpy(embedded(texts, "document", embedder)),
        owners=torch.tensor([owner for owner, _ in pieces]),
        whole=torch.tensor([whole for _, whole in pieces]),
        questions=torch.from_numpy(embedded(bare, "query", embedder)),
        lexical=torch.tensor(
            np.stack([lexical.score(stems(one["query"]), alive) for one in asked])
        ),
        named=torch.tensor([[float(who in own) for who in speakers] for own in mentioned]),
        sessions=torch.tensor(
            [sessions.setdefault(one["session_id"], len(sessions)) for one in messages]
        ),
        asks=torch.tensor([float(one["content"].rstrip().endswith("?")) for one in messages]),
        relevant=relevant,
        held=bool(row["held"]),
    )
