"""Figures of the packaged pair judge on writers that were in no training, by set.

    python -m eval pairs

Of updates: recall at shares of the look-alikes, and what the product's thresholds end or mark.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from rich.table import Table

from semantic_memory.consolidation.decisions import effect
from semantic_memory.judging.packaged import PackagedPairJudge
from semantic_memory.judging.ports import Verdict
from training.data import GOLD, PAIR_LABELS, Pair, pairs

SHARES = (0.01, 0.03, 0.05)
_NEITHER, _OVER, _SAME = range(len(PAIR_LABELS))


def sets(rows: Sequence[Pair]) -> dict[str, list[Pair]]:
    """Return the held rows by where they come from: the part of the writer before a colon."""
    found: dict[str, list[Pair]] = defaultdict(list)
    for row in rows:
        if row.held:
            name, _, rest = row.writer.partition(": ")
            found[name if rest else "writers"].append(row)
            found["all"].append(row)
    return found


def tables(gold: Path = GOLD) -> Iterator[Table]:
    """Yield the table of figures."""
    judge = PackagedPairJudge()
    table = Table(
        "set",
        "updates",
        "others",
        *(f"recall at {share:.0%}" for share in SHARES),
        "ended",
        "marked or ended",
        "look-alikes ended",
        "marked or ended",
        "same merged",
        "others merged",
    )
    for name, rows in sorted(sets(pairs(gold)).items()):
        verdicts = [judge.verdict(row.older, row.newer) for row in rows]
        table.add_row(name, *_figures(rows, verdicts))
    yield table


def _figures(rows: Sequence[Pair], verdicts: Sequence[Verdict]) -> Iterator[str]:
    labels = np.array([row.label for row in rows])
    over = np.array([verdict.over for verdict in verdicts])
    effects = np.array([effect(one, 1.0, 1.0) or "none" for one in verdicts], dtype=object)
    updates, others = labels == _OVER, labels == _NEITHER
    yield str(int(updates.sum()))
    yield str(int(others.sum()))
    for share in SHARES:
        yield (
            _percent(over[updates] > np.quantile(over[others], 1 - share))
            if (updates.any() and others.any())
            else "-"
        )
    for chosen in (updates, others):
        yield _percent(effects[chosen] == "end")
        yield _percent(np.isin(effects[chosen], ["end", "mark"]))
    yield _percent(effects[labels == _SAME] == "merge")
    yield _percent(effects[labels != _SAME] == "merge")


def _percent(holds: np.ndarray) -> str:
    return f"{100 * holds.mean():.1f} %" if len(holds) else "-"
