"""Everything this library raises, as one tree.

    SemanticMemoryError
    ├── InvalidInputError (ValueError)      the caller's value can't be used; nothing was written
    ├── PromptTooLongError                  what can't be left out doesn't fit, with the figures
    ├── NotFoundError (LookupError)         no such memory, session or file
    ├── ConcurrentUpdateError               the memory was changed meanwhile: read it again
    ├── ConfigurationError                  settings that can't work together
    │   ├── MissingDependencyError          an optional package is needed: names the `pip install`
    │   └── EmbedderMismatchError           the store has another model's vectors: names `reembed`
    ├── ProviderError                       a model endpoint failed after its retries
    │   └── InputRefusedError               it won't take this input, however often it is sent
    ├── ServiceError                        a memory service didn't do what it was asked
    │   ├── AccessDeniedError               no key, an unknown one, or one that doesn't reach as far
    │   └── ServiceUnavailableError         unreachable or overloaded, after the client's retries
    └── StoreError                          the data directory can't serve
        ├── StoreLockedError                another process owns it: names its pid
        ├── StoreClosedError                used after `close()`
        ├── StoreUnavailableError (OSError) disk full, read-only, no permission
        ├── IndexUnavailableError           the vector index can't be started or reached at present
        │   └── IndexBusyError              it is occupied with something longer
        ├── StoreCorruptError               a record or file is damaged beyond what opening repairs
        │   └── IndexBrokenError            the vector index fails however often it is rebuilt
        └── SchemaTooNewError               written by a newer version of this package

Adapters translate their vendors' errors into these; nothing else escapes the public surface.
"""

from __future__ import annotations


class SemanticMemoryError(Exception):
    """Root of every error raised by this library."""


class InvalidInputError(SemanticMemoryError, ValueError):
    """A value given by the caller can't be used. Nothing was written."""


class PromptTooLongError(SemanticMemoryError):
    """What can't be left out of a prompt is longer than the model's window."""


class NotFoundError(SemanticMemoryError, LookupError):
    """No memory, session or file of that name."""


class ConcurrentUpdateError(SemanticMemoryError):
    """A memory was changed between being read and being written."""


class ConfigurationError(SemanticMemoryError):
    """The settings can't work, alone or together."""


class MissingDependencyError(ConfigurationError):
    """An optional package is needed for what was asked."""


class EmbedderMismatchError(ConfigurationError):
    """The stored vectors were made by another embedding model."""


class ProviderError(SemanticMemoryError):
    """A model endpoint failed, after its retries."""


class InputRefusedError(ProviderError):
    """A model endpoint refuses an input; sending it again won't help."""


class ServiceError(SemanticMemoryError):
    """A memory service didn't do what it was asked."""


class AccessDeniedError(ServiceError):
    """The API key is missing, unknown, or doesn't cover the user or the right that is needed."""


class ServiceUnavailableError(ServiceError):
    """A memory service can't be reached or is overloaded, after the client's retries."""


class StoreError(SemanticMemoryError):
    """The data directory can't serve."""


class StoreLockedError(StoreError):
    """Another process owns the data directory."""


class StoreClosedError(StoreError):
    """The memory was used after it had been closed."""


class StoreUnavailableError(StoreError, OSError):
    """The disk is full, read-only, or refuses access."""


class IndexUnavailableError(StoreError):
    """The vector index can't be started or reached at present; it is kept, and tried again."""


class IndexBusyError(IndexUnavailableError):
    """The vector index is occupied with something longer; nothing is wrong with it."""


class StoreCorruptError(StoreError):
    """A file of the store is damaged beyond what opening repairs."""


class IndexBrokenError(StoreCorruptError):
    """The vector index can't be used as it is; it has to be rebuilt from the ledger."""


class SchemaTooNewError(StoreError):
    """The store was written by a newer version of this package."""
