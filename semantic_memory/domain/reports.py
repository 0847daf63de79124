"""What a store says of itself: statistics, checks, runs of jobs."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from semantic_memory.domain.values import Timestamp, Value


class Stats(Value):
    """What a store holds."""

    users: int
    sessions: int
    memories: int
    by_category_and_status: Mapping[str, int]
    unembedded: int
    """Memories that have no vector yet."""
    log_bytes: int
    store_bytes: int
    embedder: str


class JobRun(Value):
    """One run of a job of upkeep."""

    job: str
    started_at: Timestamp
    seconds: float
    dry_run: bool = False
    users: int
    """Users whose memories were looked at."""
    counts: Mapping[str, int] = Field(default_factory=dict)
    """What was done, or would have been, by kind."""
    planned: tuple[str, ...] = ()
    """Of a dry run, in words: each thing that would be done."""
    error: str | None = None


class Finding(Value):
    """The outcome of one check."""

    check: str
    ok: bool
    detail: str
    remedy: str = ""
