"""Recall memories for a question: search, pack into a block, count the uses, report the events.

Everything that goes into a prompt passes here: `search`, `context`, and the payloads of sessions.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence

from semantic_memory.application.expiring import unexpired_lines
from semantic_memory.application.jobs.upkeep import Uses
from semantic_memory.application.resolving import FilterResolver
from semantic_memory.context.pack import Packer, Placed
from semantic_memory.domain.english.layers import asked_layers
from semantic_memory.domain.events import ContextPacked, Searched
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.ports import Clock, Ledger, Observer, TokenCounter
from semantic_memory.domain.profile import PROFILE_FIELDS, TIERS, Layer, as_fact
from semantic_memory.domain.recall import Context, Hit
from semantic_memory.domain.requests import ContextRequest, SearchRequest
from semantic_memory.domain.retention import Expiry
from semantic_memory.ledger.rules import placing
from semantic_memory.retrieval.contests import standing_rivals, trusted_first
from semantic_memory.retrieval.question import read
from semantic_memory.retrieval.search import Searcher
from semantic_memory.retrieval.successors import noted
from semantic_memory.session.memory_files import MemoryFiles

STANDING_IMPORTANCE = 0.8
"""Facts at least this important are shown whatever the question."""

_JOINT = 8  # tokens that joining files and block may cost
_STANDING = frozenset(Category) - {Category.CONVERSATION}
_LAYERS: tuple[Layer, ...] = (*PROFILE_FIELDS, *TIERS)
_LINES_LOOKED_AT = 24  # of profile and history; the standing share has no room for more
_STANDING_LOOKED_AT = 32  # the newest, of which the important ones are shown


class Recall:
    """Search one user's memories and pack them into blocks for prompts. Thread-safe.

    `candidates` memories are searched for each block. `files` may take up to `files_share` of a
    budget, in tokens of `counter`.
    """

    def __init__(
        self,
        ledger: Ledger,
        searcher: Searcher,
        packer: Packer,
        uses: Uses,
        resolver: FilterResolver,
        clock: Clock,
        expiry: Expiry,
        observe: Observer,
        candidates: int,
        files: MemoryFiles,
        counter: TokenCounter,
        files_share: float,
    ) -> None:
        self._ledger = ledger
        self._searcher = searcher
        self._packer = packer
        self._uses = uses
        self._resolver = resolver
        self._clock = clock
        self._expiry = expiry
        self._observe = observe
        self._candidates = candidates
        self._files = files
        self._counter = counter
        self._files_share = files_share

    def search(self, asked: SearchRequest) -> list[Hit]:
        """Return the user's `k` best memories for a query, best first."""
        filters = asked.filters.unexpired(self._expiry.now)
        hits = self._search(asked.query, asked.user_id, filters.limit or asked.k, filters)
        hits = [hit for hit in hits if hit.score >= filters.min_score]
        order = filters.sort
        if order is not None and order != "relevance":
            hits.sort(key=lambda hit: placing(hit.fact)[order], reverse=True)
        return hits

    def context(self, asked: ContextRequest) -> Context:
        """Pack a block for a query with the store's own packer, after memory files if asked."""
        asked.filters.unordered(asked.verb)
        budget, count = asked.budget, self._counter.count
        files = ""
        if asked.memory_files:
            files = self._files.within(int(budget * self._files_share), count)
        if not files:
            return self.pack(asked.query, asked.user_id, budget, asked.filters)
        left = max(0, budget - count(files) - _JOINT)
        packed = self.pack(asked.query, asked.user_id, left, asked.filters)
        text = f"{files}\n\n{packed.text}" if packed.text else files
        return packed.model_copy(update={"text": text, "tokens": count(text)})

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
        filters = self._resolver.for_search(filters.unexpired(self._expiry.now), user_id)
        hits = self._search(query, user_id, self._candidates, filters)
        asked = asked_layers(query)
        others = [layer for layer in _LAYERS if layer not in asked]
        packed = (packer or self._packer).pack(
            hits,
            budget=budget,
            standing=self._standing(user_id, filters),
            asked=self._of_layers(asked, user_id, filters),
            overview=self._of_layers(others, user_id, filters),
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
        found = self._searcher.search(query, user_id, k, wanted)
        then = wanted.believed_at
        question = read(query, then or self._clock.now())
        present = then is None and not question.past and not question.windows
        hits = noted(found, self._ledger, user_id, as_of=then, present=present)
        hits = [hit for hit in hits if wanted.admits(hit.fact)][:k]
        facts = standing_rivals([hit.fact for hit in hits], self._ledger, user_id)
        pairs = zip(hits, facts, strict=True)
        hits = trusted_first(
            hit if hit.fact is fact else hit.model_copy(update={"fact": fact})
            for hit, fact in pairs
        )
        self._observe(Searched(user_id, len(hits), time.perf_counter() - start))
        return hits

    def _standing(self, user_id: str, filters: Filters) -> list[Fact]:
        """Return the newest facts that are shown whatever the question."""
        categories = _STANDING & (filters.categories or _STANDING)
        narrowed = filters.model_copy(update={"categories": categories})
        newest = self._ledger.find(user_id, narrowed, limit=_STANDING_LOOKED_AT)
        important = [fact for fact in newest if fact.importance >= STANDING_IMPORTANCE]
        return standing_rivals(important, self._ledger, user_id)

    def _of_layers(self, layers: Sequence[Layer], user_id: str, filters: Filters) -> list[Placed]:
        """Return the facts of layers of profile and history with their section, in their order.

        Within a layer the latest come first. A derived line is shown as its facts, so that none of
        them is shown twice; a written one as a fact of its own, unless filters narrow the question.
        """
        if not layers:
            return []
        standing = self._ledger.lines(user_id, filters.believed_at)
        standing = [line for line in standing if line.layer in layers]
        lines = unexpired_lines(self._ledger, standing, self._expiry.now)
        lines.sort(key=lambda line: line.at, reverse=True)
        lines.sort(key=lambda line: layers.index(line.layer))
        lines = lines[:_LINES_LOOKED_AT]
        ids = [one for line in lines if line.origin == "derived" for one in line.fact_ids]
        admitted = [fact for fact in self._ledger.get(ids, user_id) if filters.admits(fact)]
        facts = {fact.id: fact for fact in standing_rivals(admitted, self._ledger, user_id)}
        narrowed = bool(filters.model_dump(exclude={"as_of"}, exclude_defaults=True))
        found: list[Placed] = []
        for line in lines:
            section = "history" if line.layer in TIERS else "profile"
            if line.origin == "derived":
                found += [(facts[one], section) for one in line.fact_ids if one in facts]
            elif not narrowed:
                found.append((as_fact(line), section))
        return found
