"""Fit the reader of questions: which attribute they ask for, and whose."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from semantic_memory.bootstrap.models import make_embedder
from semantic_memory.retrieval.asked import FILE
from semantic_memory.settings import load
from training import data

_PENALTY = 3e-5
_BATCH = 64


def make(gold: Path, target: Path = FILE) -> None:
    """Fit two softmax regressions to the vectors of the questions, and write their weights."""
    rows = data.rows(gold / "questions.jsonl")
    embedder = make_embedder(load())
    texts = [str(row["text"]) for row in rows]
    batches = [texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
    vectors = np.concatenate([embedder.embed(batch, "query") for batch in batches])
    fitted = {
        name: _fitted(vectors, [str(row[name]) for row in rows]) for name in ("slot", "about")
    }
    np.savez_compressed(
        target,
        embedder=embedder.identity.model,
        slots=fitted["slot"][0],
        abouts=fitted["about"][0],
        weights=np.concatenate([weights for _, weights, _ in fitted.values()], axis=1),
        bias=np.concatenate([bias for _, _, bias in fitted.values()]),
    )


def _fitted(vectors: np.ndarray, labels: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    names = sorted(set(labels))
    inputs = torch.tensor(vectors, dtype=torch.float32)
    wanted = torch.tensor([names.index(label) for label in labels])
    weights = torch.zeros(inputs.shape[1], len(names), requires_grad=True)
    bias = torch.zeros(len(names), requires_grad=True)
    optimizer = torch.optim.LBFGS([weights, bias], max_iter=200)

    def loss() -> float:
        optimizer.zero_grad()
        found = torch.nn.functional.cross_entropy(inputs @ weights + bias, wanted)
        found = found + _PENALTY * (weights**2).sum()
        torch.autograd.backward([found])
        return float(found.detach())

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    return (
        np.array(names),
        weights.detach().numpy().astype(np.float16),
        bias.detach().numpy().astype(np.float16),
    )
