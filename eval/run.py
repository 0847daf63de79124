"""Asks a system every question of a data set and measures the rankings."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from eval.datasets import History
from eval.measures import measure
from semantic_memory.memory import SemanticMemory
from semantic_memory.models import Hit
from semantic_memory.ports import Progress

_DEPTH = 50


@dataclass(frozen=True, slots=True)
class Row:
    """One question: what it measured, and how long the answer took."""

    question: str
    kind: str
    values: dict[str, float]
    seconds: float


class AskedAt:
    """A clock that stands where the questions are asked."""

    def __init__(self) -> None:
        self.moment: datetime | None = None

    def now(self) -> datetime:
        """The moment it was set to."""
        if self.moment is None:
            raise RuntimeError("the clock was read before it was set")
        return self.moment


def turns(hits: Sequence[Hit]) -> list[str]:
    """The turns that the hits came from, best first, each once."""
    return list(dict.fromkeys(turn for hit in hits for turn in hit.fact.message_ids))


def evaluate(
    histories: Sequence[History], measures: Sequence[str], progress: Progress
) -> Iterator[Row]:
    """Take the histories into a fresh store and ask everything, one row a question."""
    functions = {name: measure(name) for name in measures}
    total = sum(len(history.questions) for history in histories)
    clock = AskedAt()
    with TemporaryDirectory(prefix="semantic-memory-eval-") as directory:
        clock.moment = max(history.asked_at for history in histories)
        with SemanticMemory.open(Path(directory, "store"), clock=clock) as memory:
            for history in histories:
                for session in history.sessions:
                    memory.observe(session.messages, user_id=history.user_id, session_id=session.id)
            memory.flush(progress)
            done = 0
            for history in histories:
                clock.moment = history.asked_at
                for question in history.questions:
                    start = time.perf_counter()
                    hits = memory.search(question.text, user_id=history.user_id, k=_DEPTH)
                    seconds = time.perf_counter() - start
                    ranking = turns(hits)
                    values = {
                        name: function(ranking, question.relevant)
                        for name, function in functions.items()
                    }
                    done += 1
                    progress("asking", done, total)
                    yield Row(question.id, question.kind, values, seconds)


def means(rows: Sequence[Row]) -> dict[str, float]:
    """The mean of every measure."""
    return {name: statistics.fmean(row.values[name] for row in rows) for name in rows[0].values}
