"""Surroundings of the memories found for a question: newer statements, endings, messages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from semantic_memory.context.render import Ending
from semantic_memory.context.topics import Pair
from semantic_memory.domain.facts import Fact


@dataclass(frozen=True, slots=True)
class Related:
    """The surroundings of memories, all by their ids."""

    newer: Mapping[str, Sequence[Fact]] = field(default_factory=dict)
    """Newer statements of the same speaker about the same subject, the nearest first."""
    linked: Collection[Pair] = frozenset()
    """Pairs that are about one subject."""
    endings: Mapping[str, Ending] = field(default_factory=dict)
    """The cause that ended a memory, or perhaps did."""
    displaced: Collection[Pair] = frozenset()
    """Pairs of a fact of the core and a newer statement about the same field of it."""
    messages: Mapping[str, Fact] = field(default_factory=dict)
    """The message that a fact was drawn from."""
    is_idle: Callable[[Fact], bool] = field(default=lambda _: False)
    """Tells whether a message concerns its moment only, as thanks do."""


NOTHING_RELATED = Related()
