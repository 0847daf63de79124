"""Rank of the newer statement of an update, when its question is asked."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from eval.datasets.pairs import Replaced
from semantic_memory import SemanticMemory
from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.facts import Category
from semantic_memory.domain.ports import Embedder
from semantic_memory.domain.text import figures
from semantic_memory.retrieval.newest import gains, read_figures
from semantic_memory.retrieval.question import read as read_question
from semantic_memory.settings import Settings, UpkeepSettings
from semantic_memory.testing import FrozenClock, InMemoryIndex

_START = datetime(2024, 1, 1, tzinfo=UTC)
ALIKE = (0.3, 0.4, 0.5, 0.6, 0.7)
SHARES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5)


class Embedded:
    """Vectors of texts, each computed once."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self._rows: dict[str, Matrix] = {}

    def of(self, texts: Sequence[str]) -> Matrix:
        """Return a unit row vector for each text."""
        new = [text for text in dict.fromkeys(texts) if text not in self._rows]
        if new:
            self._rows.update(zip(new, self.embedder.embed(new, "document"), strict=True))
        return np.array([self._rows[text] for text in texts])


class Asked(NamedTuple):
    """An update in a store, with the scores of both statements for its question."""

    row: int
    question: str
    statements: tuple[str, str]
    superseded: bool
    first: bool
    """The newer statement ranked first."""
    scores: tuple[float, float]
    """Scores of the older and the newer one, without the gain for being newer."""


def asked(rows: Sequence[Replaced], vectors: Embedded) -> list[Asked]:
    """Add both statements of each row, 60 days apart, and ask its question 30 days later.

    Each side is represented by its sentence nearest to the question; the newer side by its sentence
    nearest to question and answer, among those with a figure of the answer if there are any. Skips
    rows with the same sentence on both sides.
    """
    found = []
    with TemporaryDirectory(prefix="semantic-memory-beliefs-") as scratch:
        settings = Settings(data_dir=Path(scratch), upkeep=UpkeepSettings(schedule=False))
        with SemanticMemory.open(
            settings=settings,
            embedder=vectors.embedder,
            index=InMemoryIndex(),
            clock=FrozenClock(_START + timedelta(days=90)),
        ) as memory:
            for number, row in enumerate(rows):
                statements = _statements(row, vectors)
                if statements is None:
                    continue
                older, newer = (
                    memory.add(
                        text,
                        user_id=f"user-{number}",
                        category=Category.PROJECT,
                        created_at=_START + timedelta(days=day),
                    )
                    for text, day in zip(statements, (0, 60), strict=True)
                )
                memory.flush()
                hits = memory.search(row.question, user_id=f"user-{number}", k=2)
                score = {hit.fact.id: hit.score - hit.parts.newer for hit in hits}
                found.append(
                    Asked(
                        number,
                        row.question,
                        statements,
                        superseded=older.id not in score,
                        first=bool(hits) and hits[0].fact.id == newer.id,
                        scores=(score.get(older.id, 0.0), score.get(newer.id, 0.0)),
                    )
                )
    return found


def recency(rows: Sequence[Asked], vectors: Embedded) -> Iterator[tuple[float, list[float]]]:
    """Yield for each cosine the share of updates whose newer statement is first, by `SHARES`."""
    for alike in ALIKE:
        yield (
            alike,
            [
                share_of([row.superseded or _is_first(row, vectors, alike, share) for row in rows])
                for share in SHARES
            ],
        )


def _is_first(row: Asked, vectors: Embedded, alike: float, share: float) -> bool:
    older, newer = row.scores
    question = read_question(row.question, _START + timedelta(days=90))
    if newer > older or question.event or question.windows:
        return newer > older
    given = {place: read_figures(text) for place, text in enumerate(row.statements)}
    if None in given.values():
        return False
    matrix = vectors.of(row.statements)
    gained = gains(
        [0, 1],
        {place: one for place, one in given.items() if one},
        matrix @ matrix.T,
        np.array(row.scores),
        np.array([0.0, 60.0]),
        figures(row.question),
        alike=alike,
        share=share,
    )
    return 1 in gained


def _statements(row: Replaced, vectors: Embedded) -> tuple[str, str] | None:
    if not row.older or not row.newer:
        return None
    question, answered = vectors.of([row.question, f"{row.question} {row.answer}"])
    wanted = figures(row.answer)
    holding = [text for text in row.newer if wanted & figures(text)] or row.newer
    older = max(row.older, key=lambda text: float(vectors.of([text])[0] @ question))
    newer = max(holding, key=lambda text: float(vectors.of([text])[0] @ answered))
    return None if older == newer else (older, newer)


def share_of(values: Sequence[bool]) -> float:
    """Return the share of True; 0 if there are no values."""
    return statistics.fmean(values) if values else 0.0
