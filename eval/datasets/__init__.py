"""Data sets: users' memories, questions about them, and the memories that answer."""

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
    """One statement of a user: a message of a session, or a fact by itself."""

    id: str
    """Id, unique among the user's memories; never part of a text."""
    text: str
    said_at: datetime
    session_id: str | None = None
    role: Role = "user"
    speaker: str | None = None
    category: Category = Category.PERSONAL
    """Category of a fact; messages have category `conversation`."""
    confidence: float = 1.0
    importance: float = 0.5
    tags: tuple[str, ...] = ()

    @property
    def spoken(self) -> str:
        """Text for systems without speakers: `{speaker}: {text}`."""
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
    """A question, with the memories that answer it."""

    id: str
    kind: str
    text: str
    relevant: frozenset[str]
    """Ids of the memories that answer it; empty if none does."""
    asked_at: datetime
    answer: str = ""


@dataclass(frozen=True, slots=True)
class History:
    """All memories of one user, in order, and the questions about them."""

    user_id: str
    memories: Sequence[Memory]
    questions: Sequence[Question]

    def runs(self) -> Iterator[tuple[str | None, list[Memory]]]:
        """Yield the memories in runs of one session, or of facts (None)."""
        for session_id, own in groupby(self.memories, key=lambda memory: memory.session_id):
            yield session_id, list(own)


@dataclass(frozen=True, slots=True)
class DataSet:
    """Histories, with the protocol of their evaluation."""

    name: str
    histories: Sequence[History]
    protocol: str
    """Description of the protocol in a sentence or two; printed with the results."""
    level: Level = "memory"
    """Level of the headline measures."""
    depth: int = 50
    """Number of memories that a system returns for a question."""

    @property
    def questions(self) -> int:
        """Number of all questions."""
        return sum(len(history.questions) for history in self.histories)
