"""Reports about a store: statistics, checks, runs of jobs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Self

from pydantic import Field

from semantic_memory.domain.facts import Fact
from semantic_memory.domain.values import Timestamp, Value


class Forgotten(int):
    """The number of memories forgotten, or that would be, with those of a dry run."""

    memories: tuple[Fact, ...]
    """The newest of those that a dry run would forget."""
    sentences: tuple[str, ...]
    """Those that messages lose which are kept."""

    def __new__(
        cls, number: int, memories: Iterable[Fact] = (), sentences: Iterable[str] = ()
    ) -> Self:
        """Make the number, with the memories of a dry run and the sentences of messages."""
        made = super().__new__(cls, number)
        made.memories = tuple(memories)
        made.sentences = tuple(sentences)
        return made


class Stats(Value):
    """Contents of a store in numbers."""

    users: int
    sessions: int
    memories: int
    by_category_and_status: Mapping[str, int]
    unembedded: int
    """Number of memories without vectors."""
    log_bytes: int
    store_bytes: int
    embedder: str
    deleted: int = 0
    """Number of memories that were deleted or forgotten."""
    corrupt_lines: int = 0
    """Number of lines of session logs that can't be read."""


class JobRun(Value):
    """One run of an upkeep job."""

    job: str
    started_at: Timestamp
    seconds: float
    dry_run: bool = False
    users: int
    """Number of users whose memories were examined."""
    counts: Mapping[str, int] = Field(default_factory=dict)
    """Number of changes made, or planned by a dry run, by kind."""
    planned: tuple[str, ...] = ()
    """Changes planned by a dry run, each in words."""
    error: str | None = None


class Finding(Value):
    """Outcome of one check."""

    check: str
    ok: bool
    detail: str
    remedy: str = ""
