"""Reports about a store: statistics, checks, runs of jobs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Self

from pydantic import Field

from semantic_memory.domain.facts import Fact
from semantic_memory.domain.values import Timestamp, Value


class Trace(Value):
    """A file in which texts that were forgotten were found."""

    file: str
    """Path below the data directory."""
    stretches: int
    """Stretches of forgotten texts that no kept memory has; none if only words were found."""
    words: tuple[str, ...] = ()
    """Words of forgotten texts that no kept memory has; they may be words of the file's format."""


class Proof(Value):
    """Outcome of a search for the texts of what was forgotten, in every file of a store."""

    files: int
    bytes: int
    texts: int
    """Texts that were searched for: of all versions, with the sentences that messages lost."""
    found: tuple[Trace, ...]


class Forgotten(int):
    """The number of memories forgotten, or that would be, with those of a dry run."""

    memories: tuple[Fact, ...]
    """The newest of those that a dry run would forget."""
    sentences: tuple[str, ...]
    """Those that messages lose which are kept."""
    proof: Proof | None
    """The outcome of a search for what was forgotten, if that was asked for."""
    items: int
    """The number of items that go with everything of the user."""

    def __new__(
        cls,
        number: int,
        memories: Iterable[Fact] = (),
        sentences: Iterable[str] = (),
        proof: Proof | None = None,
        items: int = 0,
    ) -> Self:
        """Make the number, with the memories of a dry run and the sentences of messages."""
        made = super().__new__(cls, number)
        made.memories = tuple(memories)
        made.sentences = tuple(sentences)
        made.proof = proof
        made.items = items
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
    items: int = 0
    """Number of items: JSON values under exact keys."""


class TagCount(Value):
    """A tag, and the number of a user's memories that a query for it finds."""

    tag: str
    memories: int
    """Memories with this tag or one below it."""


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
