"""Numbered facts of which later ones override earlier ones, after FactConsolidation.

That is a task of MemoryAgentBench (Hu et al. 2025): a list of facts such as "X's spouse is Y",
and questions of which the last fact about each is the answer. The rows are written for this
project, in that form. Facts are told in their order, a minute apart; nothing is read but the
order of hits and of the block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from eval.gold import read_gold
from semantic_memory.domain.ports import Embedder
from semantic_memory.domain.values import Value
from semantic_memory.memory import SemanticMemory
from semantic_memory.settings import Settings
from semantic_memory.testing import FrozenClock

USER = "facts"
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
HITS = 10


class Row(Value):
    """A fact, and the question that its value answers until a later fact overrides it."""

    n: int
    fact: str
    question: str
    value: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Values found for a question."""

    question: str
    values: tuple[str, ...]
    """In the order in which they were told; the last one is right."""
    ranked: tuple[str, ...]
    """Those among the hits, best first."""
    shown: tuple[str, ...]
    """Those in the block, in its order."""

    @property
    def newest_first(self) -> bool:
        """True if the last value ranks before the earlier ones."""
        return self.ranked[:1] == self.values[-1:]

    @property
    def in_block(self) -> bool:
        """True if the block has the last value."""
        return self.values[-1] in self.shown

    @property
    def last_in_block(self) -> bool:
        """True if the block has the last value behind the earlier ones, as newest."""
        return self.shown[-1:] == self.values[-1:]


def answers(embedder: Embedder, path: Path | None = None) -> list[Answer]:
    """Tell the facts to a store, and ask each question. Raises NotFoundError, InvalidInputError."""
    rows = sorted(read_gold("fact_consolidation", Row, path), key=lambda row: row.n)
    values: dict[str, list[str]] = {}
    for row in rows:
        values.setdefault(row.question, []).append(row.value)
    with TemporaryDirectory(prefix="semantic-memory-facts-") as scratch:
        clock = FrozenClock(FIRST + timedelta(minutes=len(rows)))
        settings = Settings.model_validate(
            {
                "data_dir": Path(scratch) / "store",
                "index": {"provider": "none"},
                "ingest": {"background": False},
                "upkeep": {"schedule": False},
            }
        )
        with SemanticMemory.open(settings=settings, embedder=embedder, clock=clock) as memory:
            for row in rows:
                memory.add(row.fact, user_id=USER, created_at=FIRST + timedelta(minutes=row.n))
            memory.flush()
            return [_asked(memory, asked, told) for asked, told in values.items()]


def _asked(memory: SemanticMemory, question: str, values: Sequence[str]) -> Answer:
    hits = memory.search(question, user_id=USER, k=HITS)
    contents = [hit.fact.content for hit in hits]
    block = memory.context(question, user_id=USER).text
    ranked = [one for content in contents for one in values if content.endswith(one)]
    facts = [line for line in block.splitlines() if _subject(question) in line]
    shown = [one for line in facts for one in values if one in line]
    return Answer(question, tuple(values), tuple(ranked), tuple(shown))


def _subject(question: str) -> str:
    """Return the name that a question asks about: its capitalised words but the first.

    >>> _subject("Which company employs Alma Kowal?"), _subject("Who is Alma Kowal's spouse?")
    ('Alma Kowal', 'Alma Kowal')
    """
    _, *rest = question.removesuffix("?").replace("'s", "").split()
    return " ".join(word for word in rest if word[0].isupper())


def shares(found: Sequence[Answer]) -> Mapping[str, float]:
    """Return the shares of questions."""
    measures = {
        "newest first among the hits": [one.newest_first for one in found],
        "newest in the block": [one.in_block for one in found],
        "newest in the block, behind the older ones": [one.last_in_block for one in found],
    }
    return {name: sum(held) / len(held) for name, held in measures.items()}
