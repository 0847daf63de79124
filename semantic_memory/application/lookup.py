"""Look memories up: one by its id, its states, or a page of a user's."""

from __future__ import annotations

from semantic_memory.application.cursors import Cursor, opened, sealed
from semantic_memory.application.resolving import FilterResolver
from semantic_memory.domain.errors import InvalidInputError, NotFoundError
from semantic_memory.domain.facts import Fact, FactVersion, Page, Status
from semantic_memory.domain.filters import NO_FILTERS
from semantic_memory.domain.ports import Clock, Ledger, Position
from semantic_memory.domain.reports import TagCount
from semantic_memory.domain.requests import (
    GetRequest,
    HistoryRequest,
    IdsRequest,
    ListRequest,
    TagsRequest,
)
from semantic_memory.domain.retention import Expiry, Unexpired
from semantic_memory.retrieval.links import standing_links
from semantic_memory.retrieval.to_review import marked


class Lookup:
    """Return memories as the ledger holds them. Thread-safe."""

    def __init__(
        self, ledger: Ledger, resolver: FilterResolver, clock: Clock, expiry: Expiry
    ) -> None:
        self._ledger = ledger
        self._resolver = resolver
        self._clock = clock
        self._expiry = expiry

    def get(self, asked: GetRequest) -> Fact:
        """Return a memory. Raises NotFoundError, also for a deleted or expired one."""
        fact = one_fact(self._ledger, asked.fact_id, asked.user_id, self._expiry.now)
        (found,) = marked([fact], self._ledger, fact.user_id, self._clock.now())
        return found

    def find(self, asked: ListRequest) -> Page:
        """Return a page of a user's memories, sorted by the filters' `sort` or that of the request.

        Raises NotFoundError for an unknown `after`.
        """
        if asked.filters.min_score:
            raise InvalidInputError("list: min_score needs a question: search, or leave it out")
        now = self._clock.now()
        behind: Position | None = None
        if asked.after is not None and asked.is_continued:
            behind, now = opened(asked.after, asked)
        elif asked.after is not None:
            behind = self._ledger.position(asked.after, asked.user_id, asked.order)
        filters = self._resolver.resolved(asked.filters, asked.user_id, now)
        listed = self._ledger.page(
            asked.user_id,
            filters.unexpired(self._expiry.now),
            status=None if asked.status is None else Status(asked.status),
            order=asked.order,
            limit=asked.most,
            behind=behind,
        )
        place = listed.next
        facts = standing_links(listed.facts, self._ledger, asked.user_id)
        facts = marked(facts, self._ledger, asked.user_id, self._clock.now())
        return Page(facts, None if place is None else sealed(Cursor(place, now), asked))

    def ids(self, asked: IdsRequest) -> list[str]:
        """Return the ids that begin with a prefix, at most ten, also of deleted memories."""
        return self._ledger.beginning(asked.prefix, asked.user_id)

    def tags(self, asked: TagsRequest) -> list[TagCount]:
        """Return a user's tags and the topics above them, by name, with counts."""
        counts = self._ledger.tags(asked.user_id, NO_FILTERS.unexpired(self._expiry.now))
        return [TagCount(tag=tag, memories=number) for tag, number in sorted(counts.items())]

    def history(self, asked: HistoryRequest) -> list[FactVersion]:
        """Return every state of a memory, oldest first. Raises NotFoundError."""
        return self._ledger.history(asked.fact_id, asked.user_id)


def one_fact(
    ledger: Ledger, fact_id: str, user_id: str | None, unexpired: Unexpired | None = None
) -> Fact:
    """Return a memory if it is the user's and `unexpired`; no user stands for every one.

    Raises NotFoundError.
    """
    found = ledger.get([fact_id], user_id)
    if not found or (unexpired is not None and not unexpired.holds(found[0])):
        raise NotFoundError(f"no memory {fact_id!r}")
    return found[0]
