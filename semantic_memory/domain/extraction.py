"""Extraction: the conversation that an extractor reads, and what it finds in it.

An extractor by rules proposes statements. A language model also sees what is known already, and
decides what its statements replace and what ends: see `docs/decisions/0045-one-call.md`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Literal

from pydantic import Field

from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.messages import Message
from semantic_memory.domain.profile import ProfileField, WrittenField
from semantic_memory.domain.readings import Reading
from semantic_memory.domain.values import Content, Identifier, Metadata, Tag, Unit, Value

Certainty = Literal["stated", "implied", "hedged"]
"""Certainty of a statement: said outright, strongly implied, or said with a doubt."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages to extract from, and what an extractor may know beside them."""

    messages: Sequence[Message]
    known: Sequence[Fact] = ()
    """The facts that the messages may touch, in the order in which they are numbered from 1."""
    before: Sequence[Message] = ()
    """The messages before, for reference only: nothing is extracted from them."""
    profile: Mapping[WrittenField, str] = field(default_factory=dict)
    """The present texts of the user's profile."""

    @property
    def spoken(self) -> Conversation:
        """The conversation without the messages of the system, which nobody said."""
        said, before = (
            [one for one in part if one.role != "system"] for part in (self.messages, self.before)
        )
        return replace(self, messages=said, before=before)

    def halves(self, context: int) -> tuple[Conversation, Conversation]:
        """Return both halves; the later one follows the last `context` messages of the other."""
        middle = len(self.messages) // 2
        first, second = self.messages[:middle], self.messages[middle:]
        before = [*self.before, *first][-context:]
        return replace(self, messages=first), replace(self, messages=second, before=before)


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
    quote: str | None = None
    """The words of one of its messages that say so."""
    certainty: Certainty = "stated"
    temporary: bool = False
    """It holds for a time only, and replaces nothing that holds otherwise."""
    holds_from: date | None = None
    """The first day on which it holds, if that isn't the day on which it was said."""
    holds_until: date | None = None
    """The last day on which it holds."""
    replaces: tuple[Identifier, ...] = ()
    """Ids of the known facts that no longer hold because of it."""
    typed: Metadata = Field(default_factory=dict)
    """Its values as one of the application's types, by the name of the type."""


class Ending(Value):
    """A known fact that no longer holds, with nothing in its place."""

    fact_id: Identifier
    message_ids: tuple[Identifier, ...] = Field(min_length=1)
    quote: str


class HistoryLine(Value):
    """One sentence about an event in a stretch of conversation."""

    content: Content
    message_ids: tuple[Identifier, ...] = Field(min_length=1)


class Extraction(Value):
    """Results of extracting a stretch of conversation."""

    candidates: tuple[Candidate, ...] = ()
    endings: tuple[Ending, ...] = ()
    profile: Mapping[ProfileField, Content] = Field(default_factory=dict)
    """New texts of the user's profile fields; fields left out stay as they are."""
    history: tuple[HistoryLine, ...] = ()
    refused: Mapping[str, int] = Field(default_factory=dict)
    """Number of items of a model's answer that the extractor rejected, by reason."""
    decided: bool = False
    """The extractor saw what is known, and decided what its statements do to it."""


def proposed_by(extractor: str, found: Extraction) -> Extraction:
    """Return what was found, with an extractor named as the one that proposed the candidates."""
    named = (one.model_copy(update={"extractor": extractor}) for one in found.candidates)
    return found.model_copy(update={"candidates": tuple(named)})


def joined(extractions: Sequence[Extraction]) -> Extraction:
    """Join the extractions of stretches that follow each other; the later profile wins."""
    refused: Counter[str] = Counter()
    profile: dict[ProfileField, str] = {}
    for extraction in extractions:
        refused.update(extraction.refused)
        profile.update(extraction.profile)
    return Extraction(
        candidates=tuple(item for each in extractions for item in each.candidates),
        endings=tuple(item for each in extractions for item in each.endings),
        profile=profile,
        history=tuple(item for each in extractions for item in each.history),
        refused=refused,
        decided=any(each.decided for each in extractions),
    )
