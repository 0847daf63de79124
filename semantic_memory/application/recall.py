"""Recall memories for a question: search, pack into a block, count the uses, report the events.

Everything that goes into a prompt passes here: `search`, `context`, and the payloads of sessions.
"""

from __future__ import annotations

import time
from collections.abc import Collection

from semantic_memory.application.jobs.upkeep import Uses
from semantic_memory.application.resolving import FilterResolver
from semantic_memory.context.pack import Packer
from semantic_memory.domain.events import ContextPacked, Searched
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.ports import Clock, Ledger, Observer
from semantic_memory.domain.profile import PROFILE_FIELDS, TIERS, as_fact
from semantic_memory.domain.recall import Context, Hit
from semantic_memory.domain.requests import ContextRequest, SearchRequest
from semantic_memory.ledger.rules import placing
from semantic_memory.retrieval.search import Searcher

STANDING_IMPORTANCE = 0.8
"""Facts at least this important are shown whatever the question."""

_STANDING = frozenset(Category) - {Category.CONVERSATION}
_LAYERS = (*PROFILE_FIELDS, *TIERS)
_LINES_LOOKED_AT = 24  # of profile and history; the standing share has no room for more
_STANDING_LOOKED_AT = 32  # the newest, of which the important ones are shown


class Recall:
    """Search one user's memories and pack them into blocks for prompts. Thread-safe.

    `candidates` memories are searched for each block.
    """

    def __init__(
        self,
        ledger: Ledger,
        searcher: Searcher,
        packer: Packer,
        uses: Uses,
        resolver: FilterResolver,
        clock: Clock,
        observe: Observer,
        candidates: int,
    ) -> None:
        self._ledger = ledger
        self._searcher = searcher
        self._packer = packer
        self._uses = uses
        self._resolver = resolver
        self._clock = clock
        self._observe = observe
        self._candidates = candidates

    def search(self, asked: SearchRequest) -> list[Hit]:
        """Return the user's `k` best memories for a query, best first."""
        filters = asked.filters
        hits = self._search(asked.query, asked.user_id, filters.limit or asked.k, filters)
        hits = [hit for hit in hits if hit.score >= filters.min_score]
        order = filters.sort
        if order is not None and order != "relevance":
            hits.sort(key=lambda hit: placing(hit.fact)[order], reverse=True)
        return hits

    def context(self, asked: ContextRequest) -> Context:
        """Pack a block for a query with the store's own packer."""
        asked.filters.unordered(asked.verb)
        return self.pack(asked.query, asked.user_id, asked.budget, asked.filters)

    def pack(
        self,
        query: str,
        user_id: str,
        budget: int,
        filters: Filters = NO_FILTERS,
        *,
        packer: Packer | None = None,
        without: Collection[str] = (),
    ) -> Context:
        """Pack a block of at most `budget` tokens, and count the memories in it as used.

        `packer` replaces the store's own, for a model that counts tokens otherwise. `without` are
        ids of messages that the reader has already.
        """
        start = time.perf_counter()
        filters = self._resolver.for_search(filters, user_id)
        hits = self._search(query, user_id, self._candidates, filters)
        packed = (packer or self._packer).pack(
            hits,
            budget=budget,
            standing=self._standing(user_id, filters),
            overview=self._overview(user_id, filters),
            without=without,
        )
        self._uses.note((hit.fact.id for hit in packed.hits), self._clock.now())
        seconds = time.perf_counter() - start
        number = len(packed.hits)
        self._observe(
            ContextPacked(user_id, budget, packed.tokens, number, packed.left_out, seconds)
        )
        return packed

    def _search(self, query: str, user_id: str, k: int, filters: Filters) -> list[Hit]:
        start = time.perf_counter()
        wanted = self._resolver.for_search(filters, user_id)
        hits = self._searcher.search(query, user_id, k, wanted)
        self._observe(Searched(user_id, len(hits), time.perf_counter() - start))
        return hits

    def _standing(self, user_id: str, filters: Filters) -> list[Fact]:
        """Return the newest facts that are shown whatever the question."""
        categories = _STANDING & (filters.categories or _STANDING)
        narrowed = filters.model_copy(update={"categories": categories})
        newest = self._ledger.find(user_id, narrowed, limit=_STANDING_LOOKED_AT)
        return [fact for fact in newest if fact.importance >= STANDING_IMPORTANCE]

    def _overview(self, user_id: str, filters: Filters) -> list[tuple[Fact, str]]:
        """Return the facts of profile and history with their section, the profile first.

        Within a layer the latest come first. A derived line is shown as its facts, so that none of
        them is shown twice; a written one as a fact of its own, unless filters narrow the question.
        """
        lines = self._ledger.lines(user_id, filters.believed_at)
        lines.sort(key=lambda line: line.at, reverse=True)
        lines.sort(key=lambda line: _LAYERS.index(line.layer))
        lines = lines[:_LINES_LOOKED_AT]
        ids = [one for line in lines if line.origin == "derived" for one in line.fact_ids]
        facts = {fact.id: fact for fact in self._ledger.get(ids, user_id) if filters.admits(fact)}
        narrowed = filters.model_copy(update={"as_of": None}) != NO_FILTERS
        found: list[tuple[Fact, str]] = []
        for line in lines:
            section = "history" if line.layer in TIERS else "profile"
            if line.origin == "derived":
                found += [(facts[one], section) for one in line.fact_ids if one in facts]
            elif not narrowed:
                found.append((as_fact(line), section))
        return found
