"""All exceptions of this library, as one tree.

    SemanticMemoryError
    ├── InvalidInputError (ValueError)      a value of the caller is invalid; nothing was written
    │   ├── SessionExistsError              the session to create is there already: load it
    │   ├── RecordRefusedError              a record can't be loaded; those before it are kept
    │   └── EventsRemovedError              the feed is kept from a later place on: names it
    ├── PromptTooLongError                  the required part of a prompt doesn't fit: gives sizes
    ├── NotFoundError (LookupError)         no such memory, session or file
    ├── SessionClosedError                  the session takes no messages: load it again
    ├── ConcurrentUpdateError               the memory has changed since it was read: read it again
    ├── ConfigurationError                  the settings are invalid, alone or together
    │   ├── MissingDependencyError          an optional package is needed: names the `pip install`
    │   └── EmbedderMismatchError           the store has another model's vectors: names `reembed`
    ├── ProviderError                       a model endpoint failed after its retries
    │   ├── ProviderRefusedError            it refuses every request: key, model name, quota
    │   ├── BudgetReachedError              the daily budget of a task is spent: says until when
    │   ├── AnswerUnusableError             its answer is too large, a refusal, or of another form
    │   └── InputRefusedError               it rejects this input; retrying won't help
    │       └── InputTooLongError           input or answer exceed what it takes: ask for less
    ├── ServiceError                        a memory service failed to serve a request
    │   ├── AccessDeniedError               the API key is missing, unknown or lacks the right
    │   └── ServiceUnavailableError         unreachable or overloaded, after the client's retries
    ├── DeliveryError                       an endpoint didn't take an event; it is sent again
    └── StoreError                          the data directory can't be used
        ├── LogFullError                    a session's log is full, and nothing can be removed
        ├── StoreLockedError                another process owns it: names its pid
        ├── StoreClosedError                used after `close()`
        ├── StoreUnavailableError (OSError) disk full, read-only, no permission
        ├── IndexUnavailableError           the vector index can't be started or reached now
        │   └── IndexBusyError              it is busy with a long operation
        ├── StoreCorruptError               a record or file is damaged beyond what opening repairs
        │   ├── LedgerBehindError           the ledger lacks what it had: names `recover`
        │   └── IndexBrokenError            the vector index must be rebuilt from the ledger
        └── SchemaTooNewError               a store or export of a newer version of this package

Adapters translate vendor errors into these; the public interface raises no others.
"""

from __future__ import annotations


class SemanticMemoryError(Exception):
    """Base of every error raised by this library."""


class InvalidInputError(SemanticMemoryError, ValueError):
    """A value given by the caller is invalid. Nothing was written."""


class SessionExistsError(InvalidInputError):
    """A session of this id is there already."""


class RecordRefusedError(InvalidInputError):
    """A record can't be loaded. Those before it are kept, and `loaded` of them were new."""

    def __init__(self, message: str, loaded: int) -> None:
        super().__init__(message)
        self.loaded = loaded


class EventsRemovedError(InvalidInputError):
    """Events behind a place of the feed are no longer kept; `resume` is the place before others."""

    def __init__(self, message: str, resume: int) -> None:
        super().__init__(message)
        self.resume = resume


class PromptTooLongError(SemanticMemoryError):
    """The required part of a prompt is longer than the model's context window."""


class NotFoundError(SemanticMemoryError, LookupError):
    """The memory, session or file doesn't exist."""


class SessionClosedError(SemanticMemoryError):
    """A closed session takes no messages until it is loaded again."""


class ConcurrentUpdateError(SemanticMemoryError):
    """A memory has changed since the caller read it."""


class ConfigurationError(SemanticMemoryError):
    """The settings are invalid, alone or together."""


class MissingDependencyError(ConfigurationError):
    """An optional package that the operation needs isn't installed."""


class EmbedderMismatchError(ConfigurationError):
    """The stored vectors were made by another embedding model."""


class ProviderError(SemanticMemoryError):
    """A model endpoint failed, retries included."""


class ProviderRefusedError(ProviderError):
    """A model endpoint refuses every request until its key, model name or quota is put right."""


class BudgetReachedError(ProviderError):
    """The daily budget of a task is spent; its model is asked again on the next day."""


class AnswerUnusableError(ProviderError):
    """A model's answer is too large, a refusal, or of another form than was asked for."""


class InputRefusedError(ProviderError):
    """A model endpoint rejects an input; retrying won't help."""


class InputTooLongError(InputRefusedError):
    """An input, or the answer to it, is longer than a model takes. Less of it may be accepted."""


class ServiceError(SemanticMemoryError):
    """A memory service failed to serve a request."""


class AccessDeniedError(ServiceError):
    """The API key is missing, unknown, or doesn't grant the right or the user requested."""


class ServiceUnavailableError(ServiceError):
    """A memory service is unreachable or overloaded, retries included."""


class DeliveryError(SemanticMemoryError):
    """The endpoint of a webhook can't be reached, or refuses an event."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        """The status of the answer; None without one."""


class StoreError(SemanticMemoryError):
    """The data directory can't be used."""


class LogFullError(StoreError):
    """The log of a session has reached its limit, and no message in it can be removed."""


class StoreLockedError(StoreError):
    """Another process owns the data directory."""


class StoreClosedError(StoreError):
    """The store was used after it had been closed."""


class StoreUnavailableError(StoreError, OSError):
    """The disk is full, read-only, or refuses access."""


class IndexUnavailableError(StoreError):
    """The vector index can't be started or reached now; it is kept and tried again."""


class IndexBusyError(IndexUnavailableError):
    """The vector index is busy with a long operation; it is not damaged."""


class StoreCorruptError(StoreError):
    """A file of the store is damaged beyond what opening repairs."""


class LedgerBehindError(StoreCorruptError):
    """The ledger is older than it has been, or gone: the end of it was lost or replaced."""


class IndexBrokenError(StoreCorruptError):
    """The vector index is unusable; it has to be rebuilt from the ledger."""


class SchemaTooNewError(StoreError):
    """The store, export or checkpoint was written by a newer version of this package."""
