"""The Protocols that several parts share, each with only the methods its consumers call.

runtime     the clock and the observer of events
models      embedders, extractors and the other models of language
vectors     the vector index
facts       reading facts, their history, beliefs and profile lines
changes     committing changes and following them
events      the feed of what changed
listing     reading facts page by page, and along their references
feeds       reading the ledger to fill an index, a partition and the embedder's queue
items       reading items
records     sessions, jobs, statistics and small values
log         the session log
leases      who of several workers does what
ledger      `Ledger`, the composition of all roles of the ledger
"""

from __future__ import annotations

from semantic_memory.domain.ports.changes import ChangeLog
from semantic_memory.domain.ports.delivery import Delivery
from semantic_memory.domain.ports.events import EventFeed
from semantic_memory.domain.ports.facts import Belief, Beliefs, FactHistory, Facts, ProfileLines
from semantic_memory.domain.ports.feeds import (
    Claimed,
    Delta,
    EmbeddingBacklog,
    Outbox,
    PartitionFeed,
    SyncFeed,
    Trait,
    TraitRow,
    Traits,
    Unindexed,
    WordSearch,
)
from semantic_memory.domain.ports.items import Items, ItemTerms, ItemVectors, KeptItem
from semantic_memory.domain.ports.leases import Lease, Leases
from semantic_memory.domain.ports.ledger import Ledger
from semantic_memory.domain.ports.listing import Listed, Listing, Position
from semantic_memory.domain.ports.log import SessionLog
from semantic_memory.domain.ports.models import (
    Condensed,
    Condenser,
    DecidingExtractor,
    Embedder,
    EmbedderIdentity,
    Extractor,
    InputType,
    Summarizer,
    TokenCounter,
)
from semantic_memory.domain.ports.records import (
    Census,
    Erasure,
    JobMarks,
    JobRuns,
    KeyValues,
    Maintenance,
    Pending,
    Sessions,
)
from semantic_memory.domain.ports.runtime import Clock, Observer, Progress
from semantic_memory.domain.ports.vectors import IndexEntry, Match, VectorIndex, VectorSearch

__all__ = [
    "Belief",
    "Beliefs",
    "Census",
    "ChangeLog",
    "Claimed",
    "Clock",
    "Condensed",
    "Condenser",
    "DecidingExtractor",
    "Delivery",
    "Delta",
    "Embedder",
    "EmbedderIdentity",
    "EmbeddingBacklog",
    "Erasure",
    "EventFeed",
    "Extractor",
    "FactHistory",
    "Facts",
    "IndexEntry",
    "InputType",
    "ItemTerms",
    "ItemVectors",
    "Items",
    "JobMarks",
    "JobRuns",
    "KeptItem",
    "KeyValues",
    "Lease",
    "Leases",
    "Ledger",
    "Listed",
    "Listing",
    "Maintenance",
    "Match",
    "Observer",
    "Outbox",
    "PartitionFeed",
    "Pending",
    "Position",
    "ProfileLines",
    "Progress",
    "SessionLog",
    "Sessions",
    "Summarizer",
    "SyncFeed",
    "TokenCounter",
    "Trait",
    "TraitRow",
    "Traits",
    "Unindexed",
    "VectorIndex",
    "VectorSearch",
    "WordSearch",
]
