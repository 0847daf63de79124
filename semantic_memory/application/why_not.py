"""Explain why a memory isn't in the answer to a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from semantic_memory.application.recall import Recall
from semantic_memory.application.resolving import FilterResolver
from semantic_memory.domain.categories import Category, Status
from semantic_memory.domain.errors import NotFoundError
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.inspection import Absence, AbsenceReason
from semantic_memory.domain.ports import Ledger
from semantic_memory.domain.recall import Context, Hit
from semantic_memory.domain.requests.inspection import WhyNotRequest
from semantic_memory.domain.retention import Expiry
from semantic_memory.domain.values import normalised
from semantic_memory.retrieval.absence import (
    Standing,
    barred,
    most_alike,
    standing,
    teller,
    unranked_reason,
)
from semantic_memory.retrieval.search import Searcher

_RANKED = 1_000
_MEANT = 5
_ALIKE = 0.5
"""Cosine, or share of the words, from which on a memory may be what a text means."""
_KEPT = Filters(statuses=frozenset({"active", "superseded", "quarantined", "archived"}))


class WhyNot:
    """Look a memory up in every step of a search, or of the choice of a block. Thread-safe.

    Leaves no use, trace or event behind.
    """

    def __init__(
        self,
        ledger: Ledger,
        searcher: Searcher,
        recall: Recall,
        resolver: FilterResolver,
        expiry: Expiry,
        weakest: float,
        candidates: int,
    ) -> None:
        """`weakest` is the match below which nothing is said; blocks choose from `candidates`."""
        self._ledger = ledger
        self._searcher = searcher
        self._recall = recall
        self._resolver = resolver
        self._expiry = expiry
        self._weakest = weakest
        self._candidates = candidates

    def explain(self, asked: WhyNotRequest) -> Absence:
        """Return why a memory is or isn't in the answer, with the nearest that is."""
        fact, candidates = self._meant(asked)
        packed, hits = self._answer(asked, fact)
        answer = hits if packed is None else packed.hits
        found = Absence(
            reason="unknown",
            memory=fact,
            asked_for=asked.k if packed is None else self._candidates,
            needed=min((hit.score for hit in answer), default=None),
            answer=tuple(answer),
            candidates=tuple(candidates),
        )
        if fact is None:
            return found.model_copy(update=self._gone(asked))
        return found.model_copy(update=self._explained(asked, fact, packed, hits))

    def _answer(
        self, asked: WhyNotRequest, fact: Fact | None
    ) -> tuple[Context | None, Sequence[Hit]]:
        if asked.budget is None:
            return None, self._recall.searched(asked)
        return self._recall.explained(asked, asked.budget, "" if fact is None else fact.id)

    def _meant(self, asked: WhyNotRequest) -> tuple[Fact | None, list[Fact]]:
        """Return the memory that is asked about, and all that a text may mean, likeliest first."""
        if asked.memory_id is not None:
            known = self._ledger.get([asked.memory_id])
            return next((fact for fact in known if fact.user_id in asked.owners), None), []
        text = asked.text or ""
        hits = [
            hit for one in asked.owners for hit in self._searcher.search(text, one, _MEANT, _KEPT)
        ]
        said = normalised(text)
        hits.sort(key=lambda hit: (normalised(hit.fact.content) != said, -hit.score))
        found = {hit.fact.id: hit.fact for hit in hits}
        found |= {fact.id: fact for fact in self._drawn_from(hits, asked)}
        best = hits[0] if hits else None
        sure = best is not None and (
            normalised(best.fact.content) == said
            or max(best.parts.dense, best.parts.lexical) >= _ALIKE
        )
        return best.fact if best and sure else None, [*found.values()]

    def _drawn_from(self, hits: Sequence[Hit], asked: WhyNotRequest) -> list[Fact]:
        """Return the facts drawn from messages that a text may mean: they may have ended since."""
        found: list[Fact] = []
        for fact in (hit.fact for hit in hits):
            if fact.category is Category.CONVERSATION and fact.source.session_id is not None:
                places = [(fact.source.session_id, one) for one in fact.message_ids]
                found += self._ledger.resting_on(fact.user_id, places)
        return [fact for fact in found if fact.user_id in asked.owners]

    def _gone(self, asked: WhyNotRequest) -> Mapping[str, object]:
        """Return that a memory was forgotten; nothing for one of which the user knows nothing."""
        for owner in asked.owners:
            with suppress(NotFoundError):
                *_, last = self._ledger.history(asked.memory_id or "", owner)
                if last.fact.status is Status.FORGOTTEN:
                    return {"reason": "forgotten"}
        return {}

    def _explained(
        self, asked: WhyNotRequest, fact: Fact, packed: Context | None, hits: Sequence[Hit]
    ) -> Mapping[str, object]:
        owner = fact.user_id
        unexpired = self._expiry.now
        filters = self._resolver.resolved(asked.conditions, owner)
        shown = [hit.fact for hit in hits] if packed is None else [*packed.facts]
        update: dict[str, object] = {"reason": "came"}
        if any(one.id == fact.id for one in shown):
            came = standing(fact.id, hits)
            return update if came is None else update | _figures(came, len(hits))
        ranking = self._resolver.for_search(asked.conditions.unexpired(unexpired), owner)
        answer = hits if packed is None else packed.hits
        similar = self._searcher.search(fact.content[:1_000], owner, _RANKED, ranking)
        update["nearest"] = most_alike(similar, answer)
        if (bar := barred(fact, filters, unexpired)) is not None:
            by = self._ledger.get([fact.superseded_by or ""], owner)
            return update | {
                "reason": bar.reason,
                "fields": bar.fields,
                "by": by[0] if by else None,
            }
        ranked = self._searcher.search(asked.query, owner, _RANKED, ranking)
        own = standing(fact.id, ranked)
        if own is not None:
            update |= _figures(own, len(ranked))
        reason, by_fact = self._ranked_reason(fact, packed, hits, ranked)
        update |= {"reason": reason, "by": by_fact}
        if reason == "below rank" and own is not None:
            update["reason"] = unranked_reason(own, self._weakest)
        return update

    def _ranked_reason(
        self, fact: Fact, packed: Context | None, hits: Sequence[Hit], ranked: Sequence[Hit]
    ) -> tuple[AbsenceReason, Fact | None]:
        """Return why a memory that may be recalled wasn't, and what stands in its place."""
        shown = [hit.fact for hit in hits] if packed is None else [*packed.facts]
        tells = teller(fact, shown)
        if packed is not None:
            reasons = {one.fact.id: one.reason for one in packed.left_out}
            if (reason := reasons.get(fact.id)) is not None:
                return reason, tells if reason in ("repeats", "superseded") else None
            if any(hit.fact.id == fact.id for hit in hits):
                return ("told", tells) if tells is not None else ("weak", None)
        if tells is not None:
            return "told", tells
        if all(hit.fact.id != fact.id for hit in ranked):
            other = teller(fact, [hit.fact for hit in ranked])
            if other is not None:
                return "told", other
        return "below rank", None


def _figures(own: Standing, ranked: int) -> dict[str, object]:
    return {
        "place": own.place,
        "place_by_meaning": own.by_meaning,
        "place_by_words": own.by_words,
        "ranked": ranked,
        "score": own.hit.score,
        "parts": own.hit.parts,
    }
