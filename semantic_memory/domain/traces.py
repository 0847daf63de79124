"""Traces of recall: what a search or a block was made of, in ids and figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from semantic_memory.domain.recall import Omission, ScoreParts
from semantic_memory.domain.values import Timestamp, Value


class TracedHit(Value):
    """A memory that was found, with what its score was made of."""

    id: str
    score: float
    parts: ScoreParts
    space: str | None = None
    """The further user, such as a team, whose memory it is; None for the user's own."""
    in_block: bool = False


class TracedOmission(Value):
    """A memory that was found and left out of a block."""

    id: str
    reason: Omission


class Trace(Value):
    """A search or a context block, with its steps and candidates."""

    id: str
    at: Timestamp
    user_id: str
    kind: Literal["search", "context"]
    caller: str | None = None
    """The name of the API key, where there is one."""
    session_id: str | None = None
    """The session whose prompt the block entered, if that is known."""
    asked_for: int
    """`k` of a search; the budget of a block, in tokens."""
    found: int
    """Number of memories that were found."""
    narrowed: tuple[str, ...] = ()
    """Names of the filters that were given."""
    as_of: Timestamp | None = None
    steps_ms: Mapping[str, float]
    """Milliseconds by step, in the order of the steps."""
    candidates: tuple[TracedHit, ...]
    """The best of those found, best first."""
    shown: tuple[str, ...] = ()
    """Ids of the memories in the block, in its order; those that weren't recalled too."""
    left_out: tuple[TracedOmission, ...] = ()
    """The best of those that were left out of the block."""
    omitted: int = 0
    """Number of memories that were worth their tokens and did not fit."""
    tokens: int | None = None
    relevance: float | None = None
    query: str | None = None
    """The question; None unless `trace.texts` keeps it, or once something was forgotten."""
