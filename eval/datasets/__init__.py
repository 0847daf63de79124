"""Data sets: what users said, questions about it, and where the answers are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Literal

from semantic_memory.domain.facts import Category
from semantic_memory.domain.messages import Message, Role

Level = Literal["memory", "session"]


@dataclass(frozen=True, slots=True)
class Memory:
    """What one user told once: a message of a session, or a fact that stands alone."""

    id: str
    """Unique among the user's memories; no system ever sees it in a text."""
    text: str
    said_at: datetime
    session_id: str | None = None
    role: Role = "user"
    speaker: str | None = None
    category: Category = Category.PERSONAL
    """Of a fact; a message is of category `conversation`."""
    confidence: float = 1.0
    importance: float = 0.5
    tags: tuple[str, ...] = ()

    @property
    def spoken(self) -> str:
        """What a system without speakers is given: `{speaker}: {text}`."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text

    @property
    def message(self) -> Message:
        """The memory as a message of its session."""
        return Message(
            id=self.id,
            role=self.role,
            name=self.speaker,
            content=self.text,
            created_at=self.said_at,
        )


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the memories that answer it."""

    id: str
    kind: str
    text: str
    relevant: frozenset[str]
    """Ids of the user's memories; none if nothing answers the question."""
    asked_at: datetime
    answer: str = ""


@dataclass(frozen=True, slots=True)
class History:
    """All that one user told, in order, and the questions about it."""

    user_id: str
    memories: Sequence[Memory]
    questions: Sequence[Question]

    def runs(self) -> Iterator[tuple[str | None, list[Memory]]]:
        """The memories in stretches of one session, or of facts (None)."""
        for session_id, own in groupby(self.memories, key=lambda memory: memory.session_id):
            yield session_id, list(own)


@dataclass(frozen=True, slots=True)
class DataSet:
    """Histories, and how they are measured."""

    name: str
    histories: Sequence[History]
    protocol: str
    """What is measured, in a sentence or two; printed with the results."""
    level: Level = "memory"
    """Where the headline measures are taken."""
    depth: int = 50
    """Memories that a system is asked for."""

    @property
    def questions(self) -> int:
        """Number of all questions."""
        return sum(len(history.questions) for history in self.histories)
