"""Recall memories for a question: search, pack into a block, count the uses, report the events.

Everything that goes into a prompt passes here: `search`, `context`, and the payloads of sessions.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice, product
from typing import NamedTuple

from semantic_memory.application.expiring import lines_kept, lines_standing, sources_of
from semantic_memory.application.jobs.upkeep import Uses
from semantic_memory.application.resolving import FilterResolver
from semantic_memory.application.told import told
from semantic_memory.application.tracing import Tracer
from semantic_memory.application.trail import Trail
from semantic_memory.context.excerpt import says_no_more
from semantic_memory.context.overview import Overview, Placed, placed_in
from semantic_memory.context.pack import NEWER, Packer
from semantic_memory.context.related import Related
from semantic_memory.context.render import Ending
from semantic_memory.context.topics import Pair, keys
from semantic_memory.domain.english.layers import asked_tiers
from semantic_memory.domain.events import ContextPacked, Searched
from semantic_memory.domain.facts import Category, Fact, Status
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.laps import Laps
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
from semantic_memory.language.own_speech import stated
from semantic_memory.ledger.rules import placing
from semantic_memory.pipeline.facts import verbatim_id
from semantic_memory.profile.core import in_turn
from semantic_memory.profile.rollup import Rollup
from semantic_memory.retrieval.contests import material_last, standing_rivals, trusted_first
from semantic_memory.retrieval.links import newest_first, standing_links
from semantic_memory.retrieval.nearby import FOUND, is_about
from semantic_memory.retrieval.question import Question, read
from semantic_memory.retrieval.reranking import Reranking
from semantic_memory.retrieval.search import Searcher
from semantic_memory.retrieval.spaces import merged
from semantic_memory.session.memory_files import MemoryFiles

STANDING_IMPORTANCE = 0.8
"""Facts at least this important are shown whatever the question."""

_JOINT = 8  # tokens that joining files and block may cost
_OF_SCOPES = ("agents", "not_agents", "runs", "not_runs")
_LOOKED_AROUND = 40  # of the best memories, for what stands near them
_STANDING_LOOKED_AT = 32  # the newest, of which the important ones are shown
_KEPT_IN_DOUBT = frozenset({"allergies", "instructions"})
"""Fields of the core that a statement about no known field leaves as they are."""


class _Made(NamedTuple):
    """A block, with what it was made of."""

    packed: Context
    hits: Sequence[Hit]
    overview: Overview
    standing: Sequence[Fact]
    filters: Filters


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
        tracer: Tracer,
        withheld: Callable[[str], Collection[str]],
        store: Callable[[Iterable[str]], None],
        rollup: Rollup,
        is_idle: Callable[[Fact], bool],
        reranking: Reranking | None = None,
    ) -> None:
        """Leave out of blocks the memories whose ids `withheld` returns for a user.

        `store` makes memories of what users have said and isn't stored yet, `rollup` brings the
        core level with what is committed, `is_idle` tells which messages concern their moment only,
        `reranking` reorders the best hits.
        """
        self._reranking = reranking
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
        self._tracer = tracer
        self._withheld = withheld
        self._store = store
        self._rollup = rollup
        self._is_idle = is_idle

    def search(self, asked: SearchRequest) -> list[Hit]:
        """Return the user's `k` best memories for a query, best first."""
        self._store(asked.owners)
        laps = Laps()
        filters = asked.conditions.unexpired(self._expiry.now)
        wanted = self._resolved(filters, asked.owners)
        k = filters.limit or asked.k
        looked_at = max(k, self._candidates) if asked.as_product else k
        hits = _in_order(asked, self._search(asked.query, looked_at, wanted, laps), k)
        hits = [hit for hit in hits if hit.score >= filters.min_score]
        order = filters.sort
        if order is not None and order != "relevance":
            hits.sort(key=lambda hit: placing(hit.fact)[order], reverse=True)
        self._tracer.note_search(asked.query, asked.user_id, wanted[asked.user_id], k, hits, laps)
        return hits

    def context(self, asked: ContextRequest) -> Context:
        """Pack a block for a query with the store's own packer, after memory files if asked."""
        asked.filters.unordered(asked.verb)
        self._store(asked.owners)
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
        laps = Laps()
        made = self._made(
            query, user_id, budget, filters, spaces, laps, packer=packer, without=without
        )
        packed, number = made.packed, len(made.packed.hits)
        now = self._clock.now()
        self._uses.note((hit.fact.id for hit in packed.hits), now)
        self._trail.note(now, user_id, session_id, packed, made.overview, made.standing)
        self._observe(
            ContextPacked(user_id, budget, packed.tokens, number, packed.omitted, laps.seconds)
        )
        self._tracer.note_context(
            query, user_id, session_id, made.filters, budget, made.hits, packed, laps
        )
        return packed

    def searched(self, asked: SearchRequest) -> list[Hit]:
        """Return the hits of a search of which no trace, use or event is to be left."""
        wanted = self._resolved(asked.conditions.unexpired(self._expiry.now), asked.owners)
        k = asked.conditions.limit or asked.k
        looked_at = max(k, self._candidates) if asked.as_product else k
        hits = self._search(asked.query, looked_at, wanted, Laps(), is_observed=False)
        return _in_order(asked, hits, k)

    def explained(
        self, asked: SearchRequest, budget: int, fact_id: str
    ) -> tuple[Context, Sequence[Hit]]:
        """Return a block that is shown to nobody, and the hits that it was chosen from.

        It says of the memory `fact_id` why it was left out, however far down it is.
        """
        made = self._made(
            asked.query,
            asked.user_id,
            budget,
            asked.conditions,
            asked.spaces,
            Laps(),
            explaining={fact_id},
        )
        return made.packed, made.hits

    def _made(
        self,
        query: str,
        user_id: str,
        budget: int,
        filters: Filters,
        spaces: Sequence[str],
        laps: Laps,
        *,
        packer: Packer | None = None,
        without: Collection[str] = (),
        explaining: Collection[str] = (),
    ) -> _Made:
        query = clipped(query, MAX_QUERY_BYTES)  # of a session it is a whole message
        wanted = self._resolved(filters.unexpired(self._expiry.now), (user_id, *spaces))
        hits = self._search(query, self._candidates, wanted, laps, for_block=True)
        filters = wanted[user_id]
        standing = self._standing(user_id, filters)
        overview = self._overview(user_id, asked_tiers(query), filters)
        if withheld := self._withheld(user_id):
            hits = [hit for hit in hits if hit.fact.id not in withheld]
            standing = [fact for fact in standing if fact.id not in withheld]
            overview = overview.without(withheld)
        laps.lap("profile")
        related = self._related(hits, standing, overview.core, wanted)
        laps.lap("related")
        packed = (packer or self._packer).pack(
            hits,
            budget=budget,
            query=query,
            standing=standing,
            overview=overview,
            without=without,
            related=related,
            explaining=explaining,
        )
        laps.lap("packing")
        return _Made(packed, hits, overview, standing, filters)

    def _related(
        self,
        hits: Sequence[Hit],
        standing: Sequence[Fact],
        core: Sequence[Placed],
        wanted: Mapping[str, Filters],
    ) -> Related:
        """Return the neighbours of the best hits, and of the facts that are always shown."""
        shown = [*standing, *(one.fact for one in core)]
        near_by = [hit.fact for hit in hits[:_LOOKED_AROUND]]
        facts = {fact.id: fact for fact in (*(hit.fact for hit in hits), *shown)}
        ending = self._endings([hit for hit in hits if hit.changed], facts.values(), wanted)
        newer = {one: [fact] for one, (_, fact) in ending.items() if fact is not None}
        alike: set[Pair] = set()
        for owner, filters in wanted.items():
            own = [fact.id for fact in near_by if fact.user_id == owner]
            if not own:
                continue
            bearing = {hit.fact.id for hit in hits[:FOUND]}
            near = self._searcher.nearby(owner, own, filters)
            alike |= near.alike
            ids = sorted({one for found in near.newer.values() for one, _ in found})
            found = {fact.id: fact for fact in filters.admitted(self._ledger.get(ids, owner))}
            for one, later in near.newer.items():
                known = newer.setdefault(one, [])
                known += [
                    found[other]
                    for other, cosine in later
                    if other in found
                    and is_about(found[other], facts[one], cosine, is_found=other in bearing)
                ]
        beside = [fact for found in newer.values() for fact in found]
        linked = {
            pair
            for one, found in newer.items()
            for fact in found[:NEWER]
            for pair in product(keys(facts[one]), keys(fact))
        }
        return Related(
            newer=newer,
            linked=linked | alike,
            endings={one: ending for one, (ending, _) in ending.items()},
            displaced=self._displaced(newer, facts, core),
            messages=self._messages_of([*near_by, *shown, *beside], wanted),
            is_idle=self._is_idle,
        )

    def _displaced(
        self,
        newer: Mapping[str, Sequence[Fact]],
        facts: Mapping[str, Fact],
        core: Sequence[Placed],
    ) -> frozenset[Pair]:
        """Return the pairs of a fact of the core and a newer statement about the same matter.

        A statement that repeats a fact changes nothing, nor does one that is trusted less than the
        fact or isn't own speech from end to end, as facts are drawn from what is. Of the facts that
        one message states, a newer statement is about those of its field only. One that no field is
        read in is about the only fact or the one it names, and never about an allergy: one that is
        missing may harm. An order among the notes is no order any more, so instructions stay where
        they are.
        """
        found: set[Pair] = set()
        for one, later in newer.items():
            for statement in later[:NEWER]:
                said = keys(facts[one]) | keys(statement)
                told = [
                    placed
                    for placed in core
                    if statement.trust >= placed.fact.trust
                    and not said.isdisjoint(keys(placed.fact))
                ]
                speaker = statement.source.speaker or ""
                if (
                    not told
                    or stated(statement) != statement.content
                    or says_no_more(statement.content, facts[one].content, speaker)
                ):
                    continue
                fields = self._rollup.fields_of(statement)
                own: dict[str, set[str]] = defaultdict(set)
                for placed in told:
                    own[placed.fact.id].add(PROFILE_FIELDS[placed.rank])
                for fact in {placed.fact.id: placed.fact for placed in told}.values():
                    if self._rollup.is_of_pet(fact) != self._rollup.is_of_pet(statement):
                        continue  # both are family: "Lena and I broke up" leaves the cat
                    is_own = fact.id == one or len(own) == 1
                    is_meant = is_own or is_about(statement, fact, 0.0, is_found=False)
                    stays = own[fact.id] & _KEPT_IN_DOUBT
                    if own[fact.id] <= fields or (not fields and not stays and is_meant):
                        found.add((fact.id, statement.id))
        return frozenset(found)

    def _endings(
        self, changed: Sequence[Hit], facts: Iterable[Fact], wanted: Mapping[str, Filters]
    ) -> Mapping[str, tuple[Ending, Fact | None]]:
        """Return what ended memories, or perhaps did, with the newer memory if it is known.

        `changed` are hits that are messages of which a statement no longer holds.
        """
        found: dict[str, tuple[datetime, str | None, bool]] = {}
        for owner, filters in wanted.items():
            messages = [hit.fact for hit in changed if hit.fact.user_id == owner]
            current = self._searcher.current(owner, messages) if messages else {}
            for hit in changed:
                if hit.fact.user_id == owner and hit.changed is not None:
                    found[hit.fact.id] = (hit.changed, current.get(hit.fact.id), True)
            for fact in facts:
                then = filters.believed_at
                if fact.user_id != owner:
                    continue
                if fact.valid_to is not None and (then is None or fact.valid_to <= then):
                    cause = fact.ended_by.newer if fact.ended_by else fact.superseded_by
                    found[fact.id] = (fact.valid_to, cause, True)
                elif fact.perhaps_changed and then is None:
                    doubt = fact.perhaps_changed[-1]
                    found[fact.id] = (doubt.at, doubt.newer, False)
        ids = sorted({newer for _, newer, _ in found.values() if newer})
        known = {fact.id: fact for fact in self._ledger.get(ids)} if ids else {}
        return {
            one: (_ending(at, newer, is_certain=certain), newer)
            for one, (at, cause, certain) in found.items()
            for newer in [known.get(cause or "")]
        }

    def _messages_of(
        self, facts: Iterable[Fact], wanted: Mapping[str, Filters]
    ) -> Mapping[str, Fact]:
        """Return the message that each fact was drawn from, if it may be shown, by fact."""
        said_in = {
            fact.id: (fact, one)
            for fact in facts
            if fact.category is not Category.CONVERSATION and not fact.corroborations
            for one in _message_of(fact)
        }
        messages: dict[str, Fact] = {}
        for owner, filters in wanted.items():
            ids = sorted({one for fact, one in said_in.values() if fact.user_id == owner})
            read = filters.admitted(self._ledger.get(ids, owner)) if ids else []
            messages |= {one.id: one for one in read}
        return {
            one: message
            for one, (fact, message_id) in said_in.items()
            for message in [messages.get(message_id)]
            if message is not None
            and message.status is Status.ACTIVE
            and message.trust.rank >= fact.trust.rank
        }

    def _resolved(self, filters: Filters, owners: Sequence[str]) -> Mapping[str, Filters]:
        return {owner: self._resolver.for_search(filters, owner) for owner in owners}

    def _search(
        self,
        query: str,
        k: int,
        wanted: Mapping[str, Filters],
        laps: Laps,
        *,
        for_block: bool = False,
        is_observed: bool = True,
    ) -> list[Hit]:
        """Return the `k` best memories of all owners, the first of whom is the user."""
        start = time.perf_counter()
        reranking = self._reranking
        first = 0
        if reranking is not None:
            first = reranking.most.for_blocks if for_block else reranking.most.for_searches
        most = max(k, first)
        found = {owner: self._found(query, owner, most, own, laps) for owner, own in wanted.items()}
        best = [*islice(merged(found), most)]
        if reranking is not None and first:
            facts = [hit.fact for hit in best[:first]]
            texts = [fact.text for fact in facts]
            if reranking.in_context:
                texts = told(query, facts, self._ledger, wanted)
            best = reranking.reordered(query, best, texts)[:k]
            laps.lap("reranking")
        hits = material_last(newest_first(trusted_first(best)))
        laps.lap("ordering")
        if is_observed:
            user_id, *_ = wanted
            self._observe(Searched(user_id, len(hits), time.perf_counter() - start))
        return hits

    def _found(self, query: str, user_id: str, k: int, wanted: Filters, laps: Laps) -> list[Hit]:
        found = self._searcher.search(query, user_id, k, wanted, laps)
        then = wanted.believed_at
        question = read(query, then or self._clock.now())
        present = _is_of_present(question, wanted)
        hits = self._searcher.noted(found, user_id, as_of=then, present=present)
        admitted = {hit.fact.id for hit in found}
        if added := [hit.fact for hit in hits if hit.fact.id not in admitted]:
            admitted.update(fact.id for fact in wanted.admitted(added))
            hits = [hit for hit in hits if hit.fact.id in admitted][:k]
        facts = standing_rivals([hit.fact for hit in hits], self._ledger, user_id)
        facts = standing_links(facts, self._ledger, user_id)
        pairs = zip(hits, facts, strict=True)
        return [
            hit if hit.fact is fact else hit.model_copy(update={"fact": fact})
            for hit, fact in pairs
        ]

    def _standing(self, user_id: str, filters: Filters) -> list[Fact]:
        """Return the newest facts that are shown whatever the question: important and vetted."""
        left_out = filters.not_categories | {Category.CONVERSATION}
        narrowed = filters.model_copy(update={"not_categories": left_out})
        newest = self._ledger.newest(user_id, narrowed, _STANDING_LOOKED_AT)
        important = [fact for fact in newest if _stands(fact)]
        return standing_rivals(important, self._ledger, user_id)

    def _overview(self, user_id: str, tiers: Collection[HistoryTier], filters: Filters) -> Overview:
        """Return the written profile, the core, and the history, `tiers` of it apart.

        Lines derived from facts are shown as their facts, so that none of them is shown twice, and
        derived texts of the profile not at all, since their facts are in core and history; written
        ones as facts of their own, unless filters narrow the question.
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
                rest = found.events if line.origin == "derived" else found.history
                told = found.asked if line.layer in tiers else rest
                told.append(Placed(fact, "history"))
            elif line.origin == "derived" and line.layer in CORE_FIELDS:
                core[line.layer].append(fact)
            elif line.origin != "derived" and line.layer in PROFILE_FIELDS:
                placed = placed_in(line.layer, fact)
                (found.texts if placed.section == "profile" else found.written).append(placed)
        now = filters.believed_at or self._clock.now()
        if filters.believed_at is None:
            core |= self._fresh(user_id, core, lines, filters)
        found.core.extend(placed_in(name, fact) for name, fact in in_turn(core, now))
        return found

    def _fresh(
        self,
        user_id: str,
        core: Mapping[CoreField, Sequence[Fact]],
        lines: Sequence[Line],
        filters: Filters,
    ) -> dict[CoreField, list[Fact]]:
        """Return the fields of the core as committed facts have them, before they are derived."""
        anew = self._rollup.fresh(user_id, [fact for own in core.values() for fact in own])
        by_hand = {line.layer for line in lines if line.origin != "derived"}
        return {
            name: list(filters.admitted(own))
            for name, own in (anew or {}).items()
            if name not in by_hand
        }

    def _facts_of(
        self, lines: Sequence[Line], sources: Mapping[str, Fact], user_id: str, filters: Filters
    ) -> dict[str, Fact]:
        """Return the facts that derived lines rest on, by id: those that filters admit."""
        ids = [one for line in lines if line.origin == "derived" for one in line.fact_ids]
        known = (sources[one] for one in ids if one in sources)
        admitted = filters.admitted(fact for fact in known if fact.user_id == user_id)
        return {fact.id: fact for fact in standing_rivals(admitted, self._ledger, user_id)}


def _by_product(hit: Hit) -> Hit:
    """Return a hit with the plain product for a score."""
    parts = hit.parts
    score = parts.importance * parts.retention * parts.recency * parts.match
    return hit.model_copy(update={"score": score})


def _in_order(asked: SearchRequest, hits: Sequence[Hit], k: int) -> list[Hit]:
    """Return the `k` best hits by the score that the request asks for."""
    if asked.as_product:
        return sorted(map(_by_product, hits), key=lambda hit: hit.score, reverse=True)[:k]
    return [*hits]


def _message_of(fact: Fact) -> list[str]:
    """Return the id of the memory of the message from which a fact was drawn first, if any."""
    source = fact.source
    if source.session_id is None:
        return []
    key = SessionKey(fact.user_id, source.session_id)
    return [verbatim_id(key, one) for one in source.message_ids[:1]]


def _ending(at: datetime, newer: Fact | None, *, is_certain: bool) -> Ending:
    if newer is None:
        return Ending(at, is_certain=is_certain)
    return Ending(at if is_certain else newer.stated_at, frozenset(keys(newer)), is_certain)


def _is_of_present(question: Question, filters: Filters) -> bool:
    return filters.believed_at is None and not question.past and not question.windows


def _stands(fact: Fact) -> bool:
    return fact.importance >= STANDING_IMPORTANCE and fact.trust.is_vetted
