"""Memory for AI agents: conversations in, dated and scored facts out, packed into a token budget.

from semantic_memory import Message, SemanticMemory

with SemanticMemory.open("memory") as memory:
    memory.observe([Message(role="user", content="I moved to Oslo in May.")],
                   user_id="u1", session_id="s1")
    memory.flush()
    block = memory.context("Where do I live?", user_id="u1", budget=500)
    print(block.text)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semantic_memory.aio import AsyncSemanticMemory
    from semantic_memory.domain.bodies import Decision, Procedure, Reference
    from semantic_memory.domain.errors import (
        AccessDeniedError,
        AnswerUnusableError,
        BudgetReachedError,
        ConcurrentUpdateError,
        ConfigurationError,
        DeliveryError,
        EmbedderMismatchError,
        EventsRemovedError,
        IndexBrokenError,
        IndexBusyError,
        IndexUnavailableError,
        InputRefusedError,
        InputTooLongError,
        InvalidInputError,
        LedgerBehindError,
        LogFullError,
        MissingDependencyError,
        NotFoundError,
        PromptTooLongError,
        ProviderError,
        ProviderRefusedError,
        RecordRefusedError,
        SchemaTooNewError,
        SemanticMemoryError,
        ServiceError,
        ServiceUnavailableError,
        SessionClosedError,
        SessionExistsError,
        StoreClosedError,
        StoreCorruptError,
        StoreError,
        StoreLockedError,
        StoreUnavailableError,
    )
    from semantic_memory.domain.extraction import Candidate, Extraction
    from semantic_memory.domain.facts import (
        Category,
        Cause,
        Explanation,
        Fact,
        FactVersion,
        Source,
        Status,
    )
    from semantic_memory.domain.feed import EventKind, EventPage, MemoryEvent
    from semantic_memory.domain.filters import Filters
    from semantic_memory.domain.layout import Layout
    from semantic_memory.domain.messages import Message, Receipt, SessionInfo, SessionOptions
    from semantic_memory.domain.ports import (
        Clock,
        Embedder,
        EmbedderIdentity,
        Extractor,
        IndexEntry,
        Match,
        Observer,
        Summarizer,
        TokenCounter,
        VectorIndex,
    )
    from semantic_memory.domain.profile import Line, Overview
    from semantic_memory.domain.recall import Context, Hit, ScoreParts
    from semantic_memory.domain.reports import (
        Finding,
        ForgetReceipt,
        Forgotten,
        JobRun,
        Loaded,
        Proof,
        Stats,
        TagCount,
        Trace,
        Verified,
    )
    from semantic_memory.domain.review import LabelledPair, Retirement, Unconfirmed
    from semantic_memory.domain.trust import Trust
    from semantic_memory.memory import SemanticMemory
    from semantic_memory.settings import Settings

_EXPORTS = {
    "aio": "AsyncSemanticMemory",
    "domain.errors": """
        AccessDeniedError AnswerUnusableError BudgetReachedError ConcurrentUpdateError
        ConfigurationError DeliveryError EmbedderMismatchError EventsRemovedError
        IndexBrokenError IndexBusyError IndexUnavailableError InputRefusedError
        InputTooLongError InvalidInputError LedgerBehindError LogFullError MissingDependencyError
        NotFoundError PromptTooLongError ProviderError ProviderRefusedError RecordRefusedError
        SchemaTooNewError SemanticMemoryError
        ServiceError ServiceUnavailableError SessionClosedError SessionExistsError StoreClosedError
        StoreCorruptError StoreError StoreLockedError StoreUnavailableError
    """,
    "domain.extraction": "Candidate Extraction",
    "domain.bodies": "Decision Procedure Reference",
    "domain.facts": "Category Cause Explanation Fact FactVersion Source Status",
    "domain.feed": "EventKind EventPage MemoryEvent",
    "domain.filters": "Filters",
    "domain.layout": "Layout",
    "domain.messages": "Message Receipt SessionInfo SessionOptions",
    "domain.ports": """
        Clock Embedder EmbedderIdentity Extractor IndexEntry Match Observer Summarizer
        TokenCounter VectorIndex
    """,
    "domain.profile": "Line Overview",
    "domain.recall": "Context Hit ScoreParts",
    "domain.reports": (
        "Finding ForgetReceipt Forgotten JobRun Loaded Proof Stats TagCount Trace Verified"
    ),
    "domain.review": "LabelledPair Retirement Unconfirmed",
    "domain.trust": "Trust",
    "memory": "SemanticMemory",
    "settings": "Settings",
}
_HOME = {name: module for module, names in _EXPORTS.items() for name in names.split()}

__all__ = [
    "AccessDeniedError",
    "AnswerUnusableError",
    "AsyncSemanticMemory",
    "BudgetReachedError",
    "Candidate",
    "Category",
    "Cause",
    "Clock",
    "ConcurrentUpdateError",
    "ConfigurationError",
    "Context",
    "Decision",
    "DeliveryError",
    "Embedder",
    "EmbedderIdentity",
    "EmbedderMismatchError",
    "EventKind",
    "EventPage",
    "EventsRemovedError",
    "Explanation",
    "Extraction",
    "Extractor",
    "Fact",
    "FactVersion",
    "Filters",
    "Finding",
    "ForgetReceipt",
    "Forgotten",
    "Hit",
    "IndexBrokenError",
    "IndexBusyError",
    "IndexEntry",
    "IndexUnavailableError",
    "InputRefusedError",
    "InputTooLongError",
    "InvalidInputError",
    "JobRun",
    "LabelledPair",
    "Layout",
    "LedgerBehindError",
    "Line",
    "Loaded",
    "LogFullError",
    "Match",
    "MemoryEvent",
    "Message",
    "MissingDependencyError",
    "NotFoundError",
    "Observer",
    "Overview",
    "Procedure",
    "PromptTooLongError",
    "Proof",
    "ProviderError",
    "ProviderRefusedError",
    "Receipt",
    "RecordRefusedError",
    "Reference",
    "Retirement",
    "SchemaTooNewError",
    "ScoreParts",
    "SemanticMemory",
    "SemanticMemoryError",
    "ServiceError",
    "ServiceUnavailableError",
    "SessionClosedError",
    "SessionExistsError",
    "SessionInfo",
    "SessionOptions",
    "Settings",
    "Source",
    "Stats",
    "Status",
    "StoreClosedError",
    "StoreCorruptError",
    "StoreError",
    "StoreLockedError",
    "StoreUnavailableError",
    "Summarizer",
    "TagCount",
    "TokenCounter",
    "Trace",
    "Trust",
    "Unconfirmed",
    "VectorIndex",
    "Verified",
]


def __getattr__(name: str) -> Any:
    # Loaded at first use: importing the package must not import every layer below the facade.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
