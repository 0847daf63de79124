"""The ledger as a whole."""

from __future__ import annotations

from typing import Protocol

from semantic_memory.domain.ports.changes import ChangeLog
from semantic_memory.domain.ports.events import EventFeed
from semantic_memory.domain.ports.facts import Beliefs, FactHistory, Facts, ProfileLines
from semantic_memory.domain.ports.feeds import (
    EmbeddingBacklog,
    PartitionFeed,
    SyncFeed,
    Traits,
    WordSearch,
)
from semantic_memory.domain.ports.items import Items
from semantic_memory.domain.ports.listing import Listing
from semantic_memory.domain.ports.records import (
    Census,
    Erasure,
    JobMarks,
    JobRuns,
    KeyValues,
    Maintenance,
    PromptTrail,
    Sessions,
)


class Ledger(
    Facts,
    Listing,
    FactHistory,
    Beliefs,
    ProfileLines,
    ChangeLog,
    EventFeed,
    SyncFeed,
    PartitionFeed,
    WordSearch,
    Traits,
    EmbeddingBacklog,
    Items,
    Sessions,
    JobMarks,
    JobRuns,
    PromptTrail,
    Census,
    KeyValues,
    Erasure,
    Maintenance,
    Protocol,
):
    """Every role of the ledger together: adapters satisfy it, bootstrap passes it on.

    Consumers declare the roles they use. Once closed, reading and writing raise
    StoreClosedError.
    """

    def close(self) -> None:
        """Close the ledger, after the transaction under way."""
        ...
