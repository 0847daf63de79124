"""Figures of the packaged sentence judge on writers that were in no training.

    python -m eval sentences

Agreement with the labels, and the standing orders that the core would take.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from semantic_memory.domain.readings import Reading
from semantic_memory.judging.packaged import PackagedSentenceJudge
from semantic_memory.judging.ports import SentenceJudge, Spoken
from semantic_memory.profile.core import is_standing_order
from training.data import GOLD, Sentence, sentences

_AGREEMENTS = ("about", "kind", "slot", "category")
_KEPT = 0.5


def figures(judge: SentenceJudge | None = None, gold: Path = GOLD) -> dict[str, str]:
    """Return the figures by name: each as a count, a whole and a share."""
    held = [row for row in sentences(gold) if row.held]
    read = (judge or PackagedSentenceJudge()).read([Spoken(one.text, one.context) for one in held])
    told = list(zip(held, read, strict=True))
    kept = [(row.labels["worth"] == "keep", one.keep >= _KEPT) for row, one in told]
    found = {
        "sentences": str(len(told)),
        "worth keeping, found": _share([is_kept for is_due, is_kept in kept if is_due]),
        "found, worth keeping": _share([is_due for is_due, is_kept in kept if is_kept]),
    }
    found |= {f"{name} agrees": _share(_agrees(told, name)) for name in _AGREEMENTS}
    orders = [(row.labels, is_standing_order(one)) for row, one in told]
    standing = [(labels["kind"] == "standing_order", is_taken) for labels, is_taken in orders]
    return found | {
        "standing orders found": _share([is_taken for is_due, is_taken in standing if is_due]),
        "taken, standing orders": _share([is_due for is_due, is_taken in standing if is_taken]),
        "tasks taken for standing orders": _share(
            [is_taken for labels, is_taken in orders if labels["worth"] == "task"]
        ),
    }


def _agrees(told: Sequence[tuple[Sentence, Reading]], name: str) -> list[bool]:
    """Compare the labels of what is worth keeping: other sentences have none that mean much."""
    due = [(row, one) for row, one in told if row.labels["worth"] == "keep"]
    labels = [(row.labels[name], getattr(one, name)) for row, one in due]
    return [label == given for label, given in labels if label is not None]


def _share(holds: Sequence[bool]) -> str:
    return f"{sum(holds)} of {len(holds)} ({sum(holds) / max(1, len(holds)):.1%})"
