"""Events, as frozen values passed to an `Observer`.

Logging and metrics are observers. No event carries the text of a message.
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
class ForgetRequested:
    """A user asked in a conversation to forget something; the application decides on it.

    Nothing is hidden or erased until the request is settled.
    """

    user_id: str
    session_id: str
    message_id: str
    scope: str
    """"subject", "this", "previous" or "everything"."""
    subject: str
    """The subject, as `forget(query=...)` takes it; empty for other scopes."""


@dataclass(frozen=True, slots=True)
class ForgetSettled:
    """A request to forget was done or declined."""

    user_id: str
    session_id: str
    message_id: str
    answer: str
    """"forget", "done" or "decline"."""


@dataclass(frozen=True, slots=True)
class MemoriesForgotten:
    """Memories or items were forgotten, or lost sentences, as a caller asked for or by expiry."""

    user_id: str
    number: int
    cut: int
    """Number of messages that lost sentences and stay."""


@dataclass(frozen=True, slots=True)
class PinnedForgotten:
    """Pinned memories were forgotten, as a caller asked for."""

    user_id: str
    number: int


@dataclass(frozen=True, slots=True)
class SessionChanged:
    """A session began with its first message, was opened or closed, configured or forgotten."""

    user_id: str
    session_id: str
    change: Literal["begun", "opened", "closed", "configured", "forgotten"]


@dataclass(frozen=True, slots=True)
class MemoriesStored:
    """Messages were stored as memories, in one transaction."""

    count: int
    seconds: float


@dataclass(frozen=True, slots=True)
class LockWaited:
    """A thread waited for the ledger's write lock or for a search slot."""

    lock: str
    seconds: float


@dataclass(frozen=True, slots=True)
class MemoriesEmbedded:
    """Memories were embedded and their vectors stored."""

    count: int
    seconds: float


@dataclass(frozen=True, slots=True)
class FactsExtracted:
    """An extractor processed a stretch of a session."""

    user_id: str
    session_id: str
    messages: int
    admitted: int
    quarantined: int = 0
    """Number of facts that read like instructions to a model."""
    refused: Mapping[str, int] = field(default_factory=dict)
    """Number of candidates that the gate refused, by reason."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ExtractionFailed:
    """An extractor failed; its messages stay queued and searchable."""

    user_id: str
    session_id: str
    error: str


@dataclass(frozen=True, slots=True)
class MemoryQuarantined:
    """A text made reading fail; its memory is quarantined, and the rest went on."""

    user_id: str
    memory_id: str
    error: str
    """The type of the error."""


@dataclass(frozen=True, slots=True)
class ModelCalled:
    """A language model answered a request."""

    purpose: str
    model: str
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    """Computed from the prices in the settings; None for a model without a price."""
    seconds: float
    user_id: str = ""
    """The user on whose behalf it was asked; empty for nobody."""


@dataclass(frozen=True, slots=True)
class BudgetReached:
    """A task has spent its daily budget; its model isn't asked any more today."""

    task: str
    tokens: int
    cost_usd: float


@dataclass(frozen=True, slots=True)
class ExtractionFellBack:
    """A model's answer was unusable, so the offline rules extracted from these messages."""

    extractor: str
    reason: str
    """`malformed`, `refused`, `rejected` or `too_long`."""
    messages: int


@dataclass(frozen=True, slots=True)
class ExtractionBatched:
    """Stretches were sent to a provider's batch API, returned from it, or failed there."""

    batch_id: str
    status: Literal["submitted", "taken", "failed"]
    stretches: int
    error: str | None = None


@dataclass(frozen=True, slots=True)
class BreakerOpened:
    """A model endpoint failed several times in a row; requests to it pause for `seconds`."""

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
    """The vector index was damaged or suspect and is being rebuilt from the ledger."""

    reason: str
    kept_at: str | None


@dataclass(frozen=True, slots=True)
class OpenedToRead:
    """A store was opened to read only, as its directory can't be written."""

    reason: str


@dataclass(frozen=True, slots=True)
class LogRepaired:
    """A damaged session log was repaired: a torn last line cut off, corrupt lines skipped."""

    user_id: str
    session_id: str
    torn_bytes: int
    corrupt_lines: int


@dataclass(frozen=True, slots=True)
class WriteDelayed:
    """The disk failed to take messages at first, and then took them; they were held in RAM."""

    user_id: str
    session_id: str
    size: int
    """Bytes held."""
    attempts: int
    seconds: float


@dataclass(frozen=True, slots=True)
class LogNearlyFull:
    """A session's log has reached 90 % of its limit, where it is shortened."""

    user_id: str
    session_id: str
    size: int
    limit: int


@dataclass(frozen=True, slots=True)
class LogShortened:
    """A session's log was too long and was rewritten without its least useful messages."""

    user_id: str
    session_id: str
    messages: int
    """Number of messages removed from the log; the ledger keeps their memories."""
    before: int
    """Size before, in bytes."""
    after: int
    """Size now, in bytes."""
    because: Mapping[str, int] = field(default_factory=dict)
    """Number of messages by why they were removed: superseded, relevance below 0.05, or least
    relevant."""


@dataclass(frozen=True, slots=True)
class CursorLost:
    """A session's log was replaced since it was last read; it is read again from the start."""

    user_id: str
    session_id: str
    stage: str


@dataclass(frozen=True, slots=True)
class EmbeddingFailed:
    """The embedding model is unreachable; until it is back, memories are found by words only."""

    error: str


@dataclass(frozen=True, slots=True)
class EmbeddingRefused:
    """The embedding model refuses these memories; they are found by words only."""

    fact_ids: tuple[str, ...]
    error: str


@dataclass(frozen=True, slots=True)
class Searched:
    """A search was answered."""

    user_id: str
    hits: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Reranked:
    """The best hits of a search were given to a reranker."""

    hits: int
    seconds: float
    error: str | None = None
    """Why it failed, and left the order as it was."""


@dataclass(frozen=True, slots=True)
class ContextPacked:
    """A context block was packed."""

    user_id: str
    budget: int
    tokens: int
    hits: int
    left_out: int
    seconds: float


@dataclass(frozen=True, slots=True)
class BeliefsResolved:
    """New facts of a user were consolidated: duplicates merged, conflicts resolved."""

    user_id: str
    counts: Mapping[str, int]
    seconds: float


@dataclass(frozen=True, slots=True)
class JudgingFellBack:
    """The model that judges pairs of facts failed; the rules decided."""

    judge: str
    error: str
    pairs: int


@dataclass(frozen=True, slots=True)
class JobFinished:
    """An upkeep job ran."""

    job: str
    users: int
    counts: Mapping[str, int]
    seconds: float
    error: str | None


@dataclass(frozen=True, slots=True)
class WindowCompacted:
    """A compaction step shortened a session's window."""

    user_id: str
    session_id: str
    step: str
    before: int
    """Tokens in the window before."""
    dropped: int
    """Number of messages removed from the window; the session's log keeps them."""
    tokens: int
    """Tokens in the window now."""


@dataclass(frozen=True, slots=True)
class CompactionFailed:
    """A compaction step that needs a model or the disk failed; the next step is taken."""

    user_id: str
    session_id: str
    step: str
    error: str
    failures: int
    """Consecutive failures; after three the step is no longer tried in this session."""


@dataclass(frozen=True, slots=True)
class CheckpointRestored:
    """A checkpoint was damaged; the previous one is in use."""

    path: str
    reason: str
    kept_at: str


@dataclass(frozen=True, slots=True)
class MemoryFileSkipped:
    """A memory file was found but not used."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class WorkerFailed:
    """A background step failed and will be retried after `retry_seconds`."""

    step: str
    error: str
    retry_seconds: float
    repeated: bool = False
    """True if the step failed with the same error in the last ten minutes."""


@dataclass(frozen=True, slots=True)
class DatabaseUsed:
    """A transaction on a database server has ended."""

    statements: int
    seconds: float


@dataclass(frozen=True, slots=True)
class QueryEmbedded:
    """A question was embedded."""

    seconds: float


@dataclass(frozen=True, slots=True)
class EventsDelivered:
    """Events were sent to the endpoint of the webhook."""

    outcome: Literal["delivered", "failed", "dead"]
    """`dead`: given up after the last attempt."""
    number: int


@dataclass(frozen=True, slots=True)
class WebhookDisabled:
    """The endpoint of the webhook wants no further events: it answered 410."""


Event = (
    MessagesObserved
    | SessionChanged
    | MemoriesStored
    | ForgetRequested
    | ForgetSettled
    | MemoriesForgotten
    | PinnedForgotten
    | LockWaited
    | MemoriesEmbedded
    | FactsExtracted
    | ExtractionFailed
    | MemoryQuarantined
    | ModelCalled
    | BudgetReached
    | ExtractionFellBack
    | ExtractionBatched
    | BreakerOpened
    | IndexSynced
    | IndexSetAside
    | OpenedToRead
    | LogRepaired
    | WriteDelayed
    | LogNearlyFull
    | LogShortened
    | CursorLost
    | EmbeddingFailed
    | EmbeddingRefused
    | Searched
    | Reranked
    | ContextPacked
    | BeliefsResolved
    | JudgingFellBack
    | JobFinished
    | WindowCompacted
    | CompactionFailed
    | CheckpointRestored
    | MemoryFileSkipped
    | WorkerFailed
    | DatabaseUsed
    | QueryEmbedded
    | EventsDelivered
    | WebhookDisabled
)
