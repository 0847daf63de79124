"""Speed of packing: python -m eval.packing --data FILE.

Its quality is measured by python -m eval locomo --data FILE --pack.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from eval.datasets import History
from eval.datasets.locomo import load_locomo
from eval.printing import print_figures
from semantic_memory.bootstrap.read_path import make_packer
from semantic_memory.context.pack import Packer
from semantic_memory.context.tokens import TiktokenCounter
from semantic_memory.domain.facts import Category, Fact, Source
from semantic_memory.domain.recall import Hit, ScoreParts
from semantic_memory.settings import ContextSettings

_CANDIDATES = 1_000
_ROUNDS = 200
_START = datetime(2026, 1, 1, tzinfo=UTC)


def speed(histories: Sequence[History], budget: int = 2_000) -> dict[str, float]:
    """Measure the CPU milliseconds to pack many candidates, with cold and warm caches."""
    texts = [memory.text for history in histories for memory in history.memories]
    cold, warm = [], []
    memories = [_hit(place, text) for place, text in enumerate(texts)]
    for round_ in range(_ROUNDS):
        start = round_ * 7 % max(1, len(memories) - _CANDIDATES)
        hits = sorted(memories[start : start + _CANDIDATES], key=lambda hit: -hit.score)
        if round_ % 20 == 0:
            packer = make_packer(ContextSettings(), TiktokenCounter())
            packer.pack(hits[:1], budget=budget)  # the vocabulary is loaded
            cold.append(_timed(packer, hits, budget))
        warm.append(_timed(packer, hits, budget))
    warm.sort()
    return {
        "candidates": float(min(_CANDIDATES, len(memories))),
        "first time: p50 ms": statistics.median(cold),
        "p50 ms": statistics.median(warm),
        "p95 ms": warm[int(0.95 * (len(warm) - 1))],
    }


def _timed(packer: Packer, hits: Sequence[Hit], budget: int) -> float:
    start = time.thread_time()  # packing only computes, so other load doesn't count
    packer.pack(hits, budget=budget)
    return 1_000 * (time.thread_time() - start)


def _hit(place: int, content: str) -> Hit:
    """Return a hit with a distinct score in [0, 1), the same in every run."""
    score = (place * 0.618_033_988_75) % 1.0
    said = _START + timedelta(days=place // 20)
    fact = Fact(
        id=f"fact-{place}",
        user_id="u1",
        content=content,
        category=Category.CONVERSATION,
        created_at=said,
        recorded_at=said,
        valid_from=said,
        source=Source(session_id=f"s{place // 20}", position=place % 20, speaker="Ida"),
    )
    parts = dict.fromkeys(ScoreParts.model_fields, 0.5) | {"match": score}
    return Hit(fact=fact, score=score, parts=ScoreParts(**parts))


def main(
    data: Annotated[Path, typer.Option("--data", help="A LoCoMo file.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, last.")] = False,
) -> None:
    """Measure the CPU milliseconds to pack 1,000 candidates into 2,000 tokens."""
    print_figures(speed(load_locomo(data).histories), "{:,.2f}", as_json=as_json, digits=2)


if __name__ == "__main__":
    typer.run(main)
