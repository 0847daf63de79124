"""Extraction results: candidate facts, profile fields and history lines."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from semantic_memory.domain.facts import Category
from semantic_memory.domain.profile import ProfileField
from semantic_memory.domain.readings import Reading
from semantic_memory.domain.values import Content, Identifier, Tag, Unit, Value


class Candidate(Value):
    """A fact proposed by an extractor, before the gate."""

    content: Content
    category: Category
    confidence: Unit
    message_ids: tuple[Identifier, ...] = Field(min_length=1)
    tags: tuple[Tag, ...] = ()
    extractor: str | None = None
    """Name of the fall-back extractor that proposed it; None for the extractor in use."""
    reading: Reading | None = None
    """The judge's reading of its sentence; None if no judge read it."""


class HistoryLine(Value):
    """One sentence about an event in a stretch of conversation."""

    content: Content
    message_ids: tuple[Identifier, ...] = Field(min_length=1)


class Extraction(Value):
    """Results of extracting a stretch of conversation."""

    candidates: tuple[Candidate, ...] = ()
    profile: Mapping[ProfileField, Content] = Field(default_factory=dict)
    """New texts of the user's profile fields; fields left out stay as they are."""
    history: tuple[HistoryLine, ...] = ()
    refused: Mapping[str, int] = Field(default_factory=dict)
    """Number of items of a model's answer that the extractor rejected, by reason."""
