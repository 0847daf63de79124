"""What an extractor proposes."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from semantic_memory.domain.facts import Category
from semantic_memory.domain.profile import ProfileField
from semantic_memory.domain.values import Content, Identifier, Tag, Unit, Value


class Candidate(Value):
    """A fact proposed by an extractor, before the gate."""

    content: Content
    category: Category
    confidence: Unit
    message_ids: tuple[Identifier, ...] = Field(min_length=1)
    tags: tuple[Tag, ...] = ()
    extractor: str | None = None
    """Who proposed it, where that isn't the extractor that was asked but its fall-back."""


class HistoryLine(Value):
    """What happened in a stretch of conversation, in one sentence."""

    content: Content
    message_ids: tuple[Identifier, ...] = Field(min_length=1)


class Extraction(Value):
    """What an extractor made of a stretch of conversation."""

    candidates: tuple[Candidate, ...] = ()
    profile: Mapping[ProfileField, Content] = Field(default_factory=dict)
    """The fields of the user's profile that read differently now; the others stay."""
    history: tuple[HistoryLine, ...] = ()
    refused: Mapping[str, int] = Field(default_factory=dict)
    """What the extractor itself left out of a model's answer, by reason."""
