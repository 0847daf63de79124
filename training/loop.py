"""The loop that trains all models: AdamW, warm-up, linear decay, batches in length order."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import TypeVar

import torch

from training.model import SpansModel

BATCH = 32
_CHUNK = 24  # batches
_WARM_UP = 0.05
Row = TypeVar("Row")


def train(
    model: SpansModel,
    epoch: Callable[[random.Random], Sequence[Row]],
    loss_of: Callable[[Sequence[Row], random.Random], torch.Tensor],
    length: Callable[[Row], int],
    *,
    epochs: float,
    seed: int,
    batch: int = BATCH,
    report: Callable[[str], None] = print,
) -> None:
    """Train for `epochs` over the rows that `epoch` draws anew each time, `batch` at once."""
    rng = random.Random(seed)
    torch.manual_seed(seed)
    groups = model.groups()
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
    steps = max(1, math.ceil(len(epoch(random.Random(seed))) / batch * epochs))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min((step + 1) / max(1, _WARM_UP * steps), max(0.02, 1 - step / steps)),
    )
    parameters = [one for group in groups for one in group["params"]]
    model.train()
    step, told = 0, 0.0
    while step < steps:
        for some in _batches(list(epoch(rng)), length, rng, batch)[: steps - step]:
            with torch.autocast("cpu", torch.bfloat16):
                loss = loss_of(some, rng)
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
    model.eval()


def _batches(
    rows: list[Row], length: Callable[[Row], int], rng: random.Random, size: int
) -> list[list[Row]]:
    rng.shuffle(rows)
    chunks = [
        sorted(rows[start : start + _CHUNK * size], key=length)
        for start in range(0, len(rows), _CHUNK * size)
    ]
    batches = [
        chunk[start : start + size] for chunk in chunks for start in range(0, len(chunk), size)
    ]
    rng.shuffle(batches)
    return batches
