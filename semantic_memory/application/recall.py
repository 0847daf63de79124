"""Recall memories for a question: search, pack into a block, count the uses, report the events.

Everything that goes into a prompt passes here: `search`, `context`, and the payloads of sessions.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice

from semantic_memory.application.expiring import lines_kept, lines_standing, sources_of
from semantic_memory.application.jobs.upkeep import Uses
from semantic_memory.application.resolving import FilterResolver
from semantic_memory.application.trail import Trail
from semantic_memory.context.overview import Overview, Placed, placed_in
from semantic_memory.context.pack import Packer
from semantic_memory.domain.english.core import shortened, tells_on_others
from semantic_memory.domain.english.layers import asked_tiers
from semantic_memory.domain.events import ContextPacked, Searched
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.ports import Clock, Ledger, Observer, TokenCounter
from semantic_memory.domain.profile import (
    CORE_FIELDS,
    PROFILE_FIELDS,
    TIERS,
    CoreField,
    HistoryTier,
    Line,
    as_fact,
)
from semantic_memory.domain.recall import Context, Hit
from semantic_memory.domain.requests import ContextRequest, SearchRequest
from semantic_memory.domain.retention import Expiry
from semantic_memory.domain.values import MAX_QUERY_BYTES, clipped
from semantic_memory.ledger.rules import placing
from semantic_memory.pipeline.facts import verbatim_id
from semantic_memory.profile.core import in_turn
from semantic_memory.retrieval.contests import material_last, standing_rivals, trusted_first
from semantic_memory.retrieval.doubts import lifted
from semantic_memory.retrieval.question import Question, read
from semantic_memory.retrieval.search import Searcher
from semantic_memory.retrieval.spaces import merged
from semantic_memory.session.memory_files import MemoryFiles

STANDING_IMPORTANCE = 0.8
"""Facts at least this important are shown whatever the question."""

_JOINT = 8  # tokens that joining files and block may cost
_STANDING = frozenset(Category) - {Category.CONVERSATION}
_OF_SCOPES = ("agents", "not_agents", "runs", "not_runs")
_COMPARED = 10  # of the best memories, which a later one may have made untrue
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
        trail: Trail,
        withheld: Callable[[str], Collection[str]],
    ) -> None:
        """Leave out of blocks the memories whose ids `withheld` returns for a user."""
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
        self._trail = trail
        self._withheld = withheld

    def search(self, asked: SearchRequest) -> list[Hit]:
        """Return the user's `k` best memories for a query, best first."""
        filters = asked.conditions.unexpired(self._expiry.now)
        wanted = self._resolved(filters, asked.owners)
        hits = self._search(asked.query, filters.limit or asked.k, wanted)
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
            return self._packed_for(asked, budget)
        left = max(0, budget - count(files) - _JOINT)
        packed = self._packed_for(asked, left)
        text = f"{files}\n\n{packed.text}" if packed.text else files
        return packed.model_copy(update={"text": text, "tokens": count(text)})

    def _packed_for(self, asked: ContextRequest, budget: int) -> Context:
        return self.pack(asked.query, asked.user_id, budget, asked.conditions, spaces=asked.spaces)

    def pack(
        self,
        query: str,
        user_id: str,
        budget: int,
        filters: Filters = NO_FILTERS,
        *,
        packer: Packer | None = None,
        without: Collection[str] = (),
        session_id: str | None = None,
        spaces: Sequence[str] = (),
    ) -> Context:
        """Pack a block of at most `budget` tokens, and count the memories in it as used.

        `packer` replaces the store's own, for a model that counts tokens otherwise. `without` are
        ids of messages that the reader has already. `session_id` is that of the prompt, if known.
        `spaces` are searched too; what is shown whatever the query is the user's alone.
        """
        start = time.perf_counter()
        query = clipped(query, MAX_QUERY_BYTES)  # of a session it is a whole message
        wanted = self._resolved(filters.unexpired(self._expiry.now), (user_id, *spaces))
        hits = self._search(query, self._candidates, wanted)
        filters = wanted[user_id]
        standing = self._standing(user_id, filters)
        overview = self._overview(user_id, asked_tiers(query), filters)
        if withheld := self._withheld(user_id):
            hits = [hit for hit in hits if hit.fact.id not in withheld]
            standing = [fact for fact in standing if fact.id not in withheld]
            overview = overview.without(withheld)
        best = [hit.fact for hit in hits[:_COMPARED]]
        later = self._later(query, [*best, *standing, *overview.likely_shown(best)], filters)
        packed = (packer or self._packer).pack(
            lifted(hits, later),
            budget=budget,
            query=query,
            standing=standing,
            overview=overview,
            without=without,
            doubted={one: fact.stated_at for one, fact in later.items()},
        )
        now = self._clock.now()
        self._uses.note((hit.fact.id for hit in packed.hits), now)
        self._trail.note(now, user_id, session_id, packed, overview, standing)
        seconds = time.perf_counter() - start
        number = len(packed.hits)
        self._observe(
            ContextPacked(user_id, budget, packed.tokens, number, packed.left_out, seconds)
        )
        return packed

    def _later(self, query: str, facts: Sequence[Fact], filters: Filters) -> Mapping[str, Fact]:
        """Return what likely made some of `facts` untrue, for a question about the present."""
        if not _is_of_present(read(query, self._clock.now()), filters):
            return {}
        told_in = {one for fact in facts for one in _messages_of(fact)}
        messages = self._ledger.get(sorted(told_in))
        compared = {fact.id: fact for fact in (*facts, *messages)}
        return self._searcher.doubted(list(compared.values()))

    def _resolved(self, filters: Filters, owners: Sequence[str]) -> Mapping[str, Filters]:
        return {owner: self._resolver.for_search(filters, owner) for owner in owners}

    def _search(self, query: str, k: int, wanted: Mapping[str, Filters]) -> list[Hit]:
        """Return the `k` best memories of all owners, the first of whom is the user."""
        start = time.perf_counter()
        found = {owner: self._found(query, owner, k, own) for owner, own in wanted.items()}
        hits = material_last(trusted_first(islice(merged(found), k)))
        user_id, *_ = wanted
        self._observe(Searched(user_id, len(hits), time.perf_counter() - start))
        return hits

    def _found(self, query: str, user_id: str, k: int, wanted: Filters) -> list[Hit]:
        found = self._searcher.search(query, user_id, k, wanted)
        then = wanted.believed_at
        question = read(query, then or self._clock.now())
        present = _is_of_present(question, wanted)
        hits = self._searcher.noted(found, user_id, as_of=then, present=present)
        admitted = {hit.fact.id for hit in found}
        if added := [hit.fact for hit in hits if hit.fact.id not in admitted]:
            admitted.update(fact.id for fact in wanted.admitted(added))
            hits = [hit for hit in hits if hit.fact.id in admitted][:k]
        facts = standing_rivals([hit.fact for hit in hits], self._ledger, user_id)
        pairs = zip(hits, facts, strict=True)
        return [
            hit if hit.fact is fact else hit.model_copy(update={"fact": fact})
            for hit, fact in pairs
        ]

    def _standing(self, user_id: str, filters: Filters) -> list[Fact]:
        """Return the newest facts that are shown whatever the question: important and vetted."""
        categories = _STANDING & (filters.categories or _STANDING)
        narrowed = filters.model_copy(update={"categories": categories})
        newest = self._ledger.newest(user_id, narrowed, _STANDING_LOOKED_AT)
        important = [fact for fact in newest if _stands(fact)]
        return standing_rivals(important, self._ledger, user_id)

    def _overview(self, user_id: str, tiers: Collection[HistoryTier], filters: Filters) -> Overview:
        """Return the written profile, the core, and the history, `tiers` of it apart.

        Lines derived from facts are shown as their facts, so that none of them is shown twice;
        written ones as facts of their own, unless filters narrow the question.
        """
        standing = self._ledger.lines(user_id, filters.believed_at)
        sources = sources_of(self._ledger, standing)
        lines = lines_kept(standing, sources, self._expiry.now)
        lines.sort(key=lambda line: line.at, reverse=True)
        facts = self._facts_of(lines, sources, user_id, filters)
        narrowed = filters.goes_beyond("as_of", "min_trust", *_OF_SCOPES)
        written = [line for line in lines if line.origin != "derived" and not narrowed]
        standings = lines_standing(self._ledger, written)
        facts |= {
            line.id: as_fact(line, trust)
            for line in written
            for trust, scopes in [standings[line.id]]
            if trust >= filters.min_trust and all(map(filters.covers, scopes))
        }
        core: dict[CoreField, list[Fact]] = defaultdict(list)
        found = Overview()
        for line in lines:
            fact = facts.get(line.fact_ids[0] if line.origin == "derived" else line.id)
            if fact is None:
                continue
            if line.layer in TIERS:
                if line.origin == "derived" and tells_on_others(fact.content):
                    continue
                rest = found.events if line.origin == "derived" else found.history
                told = found.asked if line.layer in tiers else rest
                told.append(Placed(fact, "history"))
            elif line.origin == "derived" and line.layer in CORE_FIELDS:
                core[line.layer].append(fact)
            elif line.layer in PROFILE_FIELDS:
                found.written.append(placed_in(line.layer, fact))
        now = filters.believed_at or self._clock.now()
        found.core.extend(
            placed_in(name, fact, shortened(fact.content, fact.category))
            for name, fact in in_turn(core, now)
        )
        return found

    def _facts_of(
        self, lines: Sequence[Line], sources: Mapping[str, Fact], user_id: str, filters: Filters
    ) -> dict[str, Fact]:
        """Return the facts that derived lines rest on, by id: those that filters admit."""
        ids = [one for line in lines if line.origin == "derived" for one in line.fact_ids]
        known = (sources[one] for one in ids if one in sources)
        admitted = filters.admitted(fact for fact in known if fact.user_id == user_id)
        return {fact.id: fact for fact in standing_rivals(admitted, self._ledger, user_id)}


def _messages_of(fact: Fact) -> list[str]:
    """Return the id of the memory of the message from which a fact was drawn first."""
    source = fact.source
    if fact.category is Category.CONVERSATION or source.session_id is None:
        return []
    key = SessionKey(fact.user_id, source.session_id)
    return [verbatim_id(key, one) for one in source.message_ids[:1]]


def _is_of_present(question: Question, filters: Filters) -> bool:
    return filters.believed_at is None and not question.past and not question.windows


def _stands(fact: Fact) -> bool:
    return fact.importance >= STANDING_IMPORTANCE and fact.trust.is_vetted
