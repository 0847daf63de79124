"""The ledger's records beside facts: sessions, jobs, statistics, small values, erasure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from semantic_memory.domain.changes import Cursor, CursorStage, Redact
from semantic_memory.domain.messages import SessionInfo, SessionKey
from semantic_memory.domain.prompts import PromptRecord
from semantic_memory.domain.reports import JobRun


class Pending(NamedTuple):
    """A user with changes since a job's mark."""

    user_id: str
    revision: int
    """Revision of the latest change of the user's memories."""
    seen: int
    """Revision of the latest one that the job has processed; 0 if none."""
    seen_at: datetime | None


class Sessions(Protocol):
    """Reads the cursors of sessions, and summaries of them."""

    def cursor(self, user_id: str, session_id: str, stage: CursorStage) -> Cursor:
        """Return the session's cursor at a stage; at the beginning, if it has none."""
        ...

    def cursors(self, stage: CursorStage) -> list[Cursor]:
        """Return every session's cursor at a stage."""
        ...

    def unextracted(self) -> list[SessionKey]:
        """Return the sessions with stored messages that extraction hasn't come to, sorted."""
        ...

    def session_ids(self, user_id: str) -> list[str]:
        """Return the user's sessions that have a cursor at any stage, sorted."""
        ...

    def session_infos(self, user_id: str) -> list[SessionInfo]:
        """Return a summary of each session with a kept fact, newest first.

        Sizes of logs are left at 0.
        """
        ...

    def deleted(self, user_id: str) -> dict[str, int]:
        """Return the number of forgotten memories by session, erased ones included."""
        ...


class JobMarks(Protocol):
    """Finds the users that a job has to look at."""

    def pending(
        self, job: str, user_id: str | None = None, *, everyone: bool = False
    ) -> list[Pending]:
        """Return the users whose memories changed since the job's mark, or this one if they did.

        All who have memories, if `everyone`.
        """
        ...


class JobRuns(Protocol):
    """Keeps the runs of jobs."""

    def record_run(self, run: JobRun) -> None:
        """Record a run, and delete the oldest over the limit."""
        ...

    def runs(self, limit: int) -> list[JobRun]:
        """Return runs, the latest first."""
        ...


class PromptTrail(Protocol):
    """Keeps records of what entered prompts."""

    def record_prompts(self, records: Sequence[tuple[str, str]], most: int) -> None:
        """Add records, and delete the oldest of each of their users over `most`.

        Each is a user and a `PromptRecord` as JSON.
        """
        ...

    def prompts(self, user_id: str) -> list[PromptRecord]:
        """Return a user's records, the latest first."""
        ...

    def erase_prompts(self, user_id: str) -> None:
        """Delete a user's records."""
        ...


class Census(Protocol):
    """Counts users and facts."""

    def count(self, user_id: str | None = None) -> int:
        """Return the number of facts, of a user or of all, forgotten ones aside."""
        ...

    def tally(self, user_id: str | None = None) -> dict[str, int]:
        """Return the number of facts by `category/status`, forgotten ones included."""
        ...

    def users(self) -> list[str]:
        """Return every user with a memory that isn't forgotten, or an item, sorted."""
        ...


class KeyValues(Protocol):
    """Keeps small values by key."""

    def meta(self, key: str) -> str | None:
        """Return the value kept under `key`."""
        ...

    def metas(self, prefix: str) -> dict[str, str]:
        """Return the values kept under keys that begin with `prefix`, by key."""
        ...

    def set_meta(self, key: str, value: str) -> None:
        """Keep a value."""
        ...


class Erasure(Protocol):
    """Erases forgotten memories permanently."""

    def sessions_with_forgotten(self, user_id: str | None = None) -> list[SessionKey]:
        """Return the sessions with a message that is forgotten and not erased, sorted."""
        ...

    def forgotten(self, user_id: str | None = None) -> list[str]:
        """Return the ids of memories that are forgotten and not erased."""
        ...

    def redactions(self, session: SessionKey | None = None) -> list[Redact]:
        """Return what is still to be erased from the logs of all sessions, sorted, or of one."""
        ...

    def erase(self, user_id: str | None = None) -> Mapping[str, int]:
        """Erase the text of forgotten memories from every page and version.

        Return how many by user, messages of which sentences were cut since the last call included.
        Id, time and reason stay. Raises StoreUnavailableError if copies remain, which the next call
        erases.
        """
        ...


class Maintenance(Protocol):
    """Checks the ledger, accepts it after a recovery, and prepares it for another embedder."""

    def damage(self) -> list[str]:
        """Return the findings of the integrity checks, in words; none when sound."""
        ...

    def accept(self) -> None:
        """Take the present state for the latest from now on, after a recovery.

        Of an embedded ledger, which notes beside its file how many changes it has.
        """
        ...

    def drop_vectors(self, key: str, value: str) -> int:
        """Drop every vector and set `key`, in one transaction; return how many need new ones."""
        ...
