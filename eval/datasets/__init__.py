"""Data sets: conversations, questions about them, and where the answers are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from semantic_memory.models import Message


@dataclass(frozen=True, slots=True)
class Session:
    """A session of a user's history."""

    id: str
    messages: Sequence[Message]


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the ids of what answers it."""

    id: str
    kind: str
    text: str
    relevant: frozenset[str]


@dataclass(frozen=True, slots=True)
class History:
    """All that one user said, in order, and the questions about it."""

    user_id: str
    sessions: Sequence[Session]
    questions: Sequence[Question]
    asked_at: datetime
    """When the questions are asked: at the end."""
