"""What happened, as frozen values handed to an `Observer`.

Logging and metrics are observers; nothing here carries the text of a message.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class MessagesObserved:
    """Messages were appended to a session's log."""

    user_id: str
    session_id: str
    accepted: int
    duplicates: int
    seconds: float


@dataclass(frozen=True, slots=True)
class MemoriesStored:
    """A transaction of the ledger was committed."""

    count: int
    seconds: float


@dataclass(frozen=True, slots=True)
class LockWaited:
    """Somebody had to wait for another: to write the ledger, or for a turn to search."""

    lock: str
    seconds: float


@dataclass(frozen=True, slots=True)
class MemoriesEmbedded:
    """Vectors were made and stored for memories."""

    count: int
    seconds: float


@dataclass(frozen=True, slots=True)
class FactsExtracted:
    """An extractor read a stretch of a session."""

    user_id: str
    session_id: str
    messages: int
    admitted: int
    quarantined: int = 0
    """Read like instructions to a model."""
    refused: Mapping[str, int] = field(default_factory=dict)
    """Candidates that the gate kept out, by reason."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ExtractionFailed:
    """An extractor raised; its messages stay queued and findable."""

    user_id: str
    session_id: str
    error: str


@dataclass(frozen=True, slots=True)
class ModelCalled:
    """A language model answered."""

    purpose: str
    model: str
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    """By the prices in the settings; None for a model without one."""
    seconds: float


@dataclass(frozen=True, slots=True)
class ExtractionFellBack:
    """A model's answer couldn't be used, so the rules read these messages instead."""

    extractor: str
    reason: str
    """`malformed`, `refused`, `rejected` or `too_long`."""
    messages: int


@dataclass(frozen=True, slots=True)
class ExtractionBatched:
    """Stretches went to a provider's batch API, or came back from it."""

    batch_id: str
    status: Literal["submitted", "taken", "failed"]
    stretches: int
    error: str | None = None


@dataclass(frozen=True, slots=True)
class BreakerOpened:
    """A model endpoint failed several times in a row and is left alone for a while."""

    extractor: str
    failures: int
    seconds: float


@dataclass(frozen=True, slots=True)
class IndexSynced:
    """The vector index caught up with the ledger."""

    upserted: int
    deleted: int
    seconds: float


@dataclass(frozen=True, slots=True)
class IndexSetAside:
    """The vector index was damaged or doubtful and is being rebuilt from the ledger."""

    reason: str
    kept_at: str | None


@dataclass(frozen=True, slots=True)
class LogRepaired:
    """Damage was found in a session's log: a torn last line cut off, corrupt lines skipped."""

    user_id: str
    session_id: str
    torn_bytes: int
    corrupt_lines: int


@dataclass(frozen=True, slots=True)
class LogNearlyFull:
    """A session's log has come to 90 % of what it may take before it is made shorter."""

    user_id: str
    session_id: str
    size: int
    limit: int


@dataclass(frozen=True, slots=True)
class LogShortened:
    """A session's log was too long, and was written anew without its least useful messages."""

    user_id: str
    session_id: str
    messages: int
    """That are left to the ledger."""
    freed: int
    """Bytes."""


@dataclass(frozen=True, slots=True)
class CursorLost:
    """A session's log isn't the one that was read before; it is read again from its beginning."""

    user_id: str
    session_id: str
    stage: str


@dataclass(frozen=True, slots=True)
class EmbeddingFailed:
    """The embedding model can't be reached; memories are found by words until it can."""

    error: str


@dataclass(frozen=True, slots=True)
class EmbeddingRefused:
    """The embedding model won't take these memories; they stay found by words."""

    fact_ids: tuple[str, ...]
    error: str


@dataclass(frozen=True, slots=True)
class Searched:
    """A search was answered."""

    user_id: str
    hits: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ContextPacked:
    """A prompt block was packed."""

    user_id: str
    budget: int
    tokens: int
    hits: int
    left_out: int
    seconds: float


@dataclass(frozen=True, slots=True)
class BeliefsResolved:
    """Duplicates of a user were merged, or what no longer holds superseded, as it was written."""

    user_id: str
    counts: Mapping[str, int]
    seconds: float


@dataclass(frozen=True, slots=True)
class JudgingFellBack:
    """The model that judges how facts stand to each other failed; the rules decided."""

    judge: str
    error: str
    pairs: int


@dataclass(frozen=True, slots=True)
class JobFinished:
    """A job of upkeep has run."""

    job: str
    users: int
    counts: Mapping[str, int]
    seconds: float
    error: str | None


@dataclass(frozen=True, slots=True)
class WindowCompacted:
    """A level of compaction made a session's window shorter."""

    user_id: str
    session_id: str
    level: str
    saved: int
    """Tokens."""
    dropped: int
    """Messages that are no longer in the window; the session's log keeps them."""
    tokens: int
    """What the window takes now."""


@dataclass(frozen=True, slots=True)
class CompactionFailed:
    """A step of compaction that needs a model or the disk failed; the next one is taken."""

    user_id: str
    session_id: str
    step: str
    error: str
    failures: int
    """In a row; at three the step is no longer tried in this session."""


@dataclass(frozen=True, slots=True)
class CheckpointRestored:
    """A checkpoint was damaged; the state before it is in use."""

    path: str
    reason: str
    kept_at: str


@dataclass(frozen=True, slots=True)
class MemoryFileSkipped:
    """A memory file was found and not used."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class WorkerFailed:
    """A background step raised; it is tried again later."""

    step: str
    error: str
    retry_seconds: float


Event = (
    MessagesObserved
    | MemoriesStored
    | LockWaited
    | MemoriesEmbedded
    | FactsExtracted
    | ExtractionFailed
    | ModelCalled
    | ExtractionFellBack
    | ExtractionBatched
    | BreakerOpened
    | IndexSynced
    | IndexSetAside
    | LogRepaired
    | LogNearlyFull
    | LogShortened
    | CursorLost
    | EmbeddingFailed
    | EmbeddingRefused
    | Searched
    | ContextPacked
    | BeliefsResolved
    | JudgingFellBack
    | JobFinished
    | WindowCompacted
    | CompactionFailed
    | CheckpointRestored
    | MemoryFileSkipped
    | WorkerFailed
)
