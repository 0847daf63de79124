"""Clients of a running semantic-memory service, with what their calls take, return and raise."""

from semantic_memory.client import AsyncClient, Client
from semantic_memory.domain.bodies import Decision, Procedure, Reference
from semantic_memory.domain.errors import (
    AccessDeniedError,
    ConcurrentUpdateError,
    EventsRemovedError,
    InputRefusedError,
    InvalidInputError,
    LogFullError,
    NotFoundError,
    ProviderError,
    RecordRefusedError,
    SchemaTooNewError,
    SemanticMemoryError,
    ServiceError,
    ServiceUnavailableError,
    SessionClosedError,
    SessionExistsError,
)
from semantic_memory.domain.facts import Category, Fact, Source, Status
from semantic_memory.domain.feed import MemoryEvent
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.messages import Message, Receipt, SessionInfo, SessionOptions
from semantic_memory.domain.recall import Context, Hit
from semantic_memory.domain.trust import Trust

__all__ = [
    "AccessDeniedError",
    "AsyncClient",
    "Category",
    "Client",
    "ConcurrentUpdateError",
    "Context",
    "Decision",
    "EventsRemovedError",
    "Fact",
    "Filters",
    "Hit",
    "InputRefusedError",
    "InvalidInputError",
    "LogFullError",
    "MemoryEvent",
    "Message",
    "NotFoundError",
    "Procedure",
    "ProviderError",
    "Receipt",
    "RecordRefusedError",
    "Reference",
    "SchemaTooNewError",
    "SemanticMemoryError",
    "ServiceError",
    "ServiceUnavailableError",
    "SessionClosedError",
    "SessionExistsError",
    "SessionInfo",
    "SessionOptions",
    "Source",
    "Status",
    "Trust",
]
