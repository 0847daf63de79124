"""Leave out, and erase, what has expired."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from semantic_memory.consolidation.resolver import Outcome
from semantic_memory.consolidation.restore import absorbed_into
from semantic_memory.domain.actor import actor
from semantic_memory.domain.changes import Forget, Unquote
from semantic_memory.domain.events import MemoriesForgotten
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.ports import Facts, Ledger, Observer
from semantic_memory.domain.profile import Line
from semantic_memory.domain.retention import EXPIRED, Expiry, Unexpired
from semantic_memory.domain.scope import SHARED, Scope
from semantic_memory.domain.trust import Trust, of_lineage
from semantic_memory.domain.values import derived_id
from semantic_memory.pipeline.facts import verbatim_id

_BATCH = 500


def whole(ledger: Ledger, fact: Fact) -> list[str]:
    """Return the ids of a fact, of the facts merged into it, and of the states that updates left.

    All of them are one memory, which is forgotten as a whole.
    """
    parts = [fact, *absorbed_into(ledger, fact)]
    past = [
        derived_id(part.id, str(version)) for part in parts for version in range(1, part.version)
    ]
    return [part.id for part in (*parts, *ledger.get(past, fact.user_id))]


def unexpired_lines(ledger: Facts, lines: Sequence[Line], now: Unexpired) -> list[Line]:
    """Return the lines that rest on no expired fact or message."""
    return lines_kept(lines, sources_of(ledger, lines), now)


def sources_of(ledger: Facts, lines: Sequence[Line]) -> dict[str, Fact]:
    """Return the facts and the memories of messages that lines rest on, by id."""
    ids = dict.fromkeys(one for line in lines for one in _sources(line))
    return {fact.id: fact for fact in ledger.get(list(ids))}


def lines_kept(lines: Sequence[Line], sources: Mapping[str, Fact], now: Unexpired) -> list[Line]:
    """Return the lines that rest on none of `sources` that has expired."""
    return _without(lines, {fact.id for fact in sources.values() if not now.holds(fact)})


def lines_seen(ledger: Facts, lines: Sequence[Line], filters: Filters) -> list[Line]:
    """Return the lines that rest on nothing of a scope outside of `filters`."""
    sources = sources_of(ledger, lines).values()
    return _without(lines, {fact.id for fact in sources if not filters.covers(fact.scope)})


def _without(lines: Sequence[Line], sources: set[str]) -> list[Line]:
    """Return the lines that rest on none of these facts and messages."""
    return [line for line in lines if not sources or sources.isdisjoint(_sources(line))]


class LineStanding(NamedTuple):
    """The trust in a written line, and the scopes that it belongs to."""

    trust: Trust
    scopes: Collection[Scope]


def lines_standing(ledger: Ledger, lines: Sequence[Line]) -> dict[str, LineStanding]:
    """Return the trust in written lines, and their scopes, by id.

    A user's own is trusted as such and shared. A model's has the lowest trust of what it rests on,
    of which what is gone counts as external, and belongs to the scopes of all of that.
    """
    known = sources_of(ledger, [line for line in lines if line.origin == "model"])

    def standing(line: Line) -> LineStanding:
        if line.origin != "model":
            return LineStanding(Trust.USER, {SHARED})
        sources = [known.get(one) for one in _sources(line)]
        said = [
            (None, Trust.EXTERNAL) if fact is None else (fact.source.role, fact.trust)
            for fact in sources
        ]
        return LineStanding(of_lineage(said), {fact.scope for fact in sources if fact is not None})

    return {line.id: standing(line) for line in lines}


def _sources(line: Line) -> list[str]:
    """Return the ids of the facts and of the memories of the messages that a line rests on."""
    said = (place.split("/") for place in line.said_in)
    messages = [verbatim_id(SessionKey(line.user_id, session), one) for session, one in said]
    return [*line.fact_ids, *messages]


class Expiring:
    """Erase a user's expired memories, as forgetting does. Thread-safe."""

    def __init__(self, ledger: Ledger, expiry: Expiry, observe: Observer) -> None:
        self._ledger = ledger
        self._expiry = expiry
        self._observe = observe

    def expire(self, user_id: str, *, dry_run: bool) -> Outcome:
        """Forget what has expired by now, with the reason "expired"; a dry run names it only."""
        outcome = Outcome()
        now = self._expiry.now
        if dry_run:
            facts = self._ledger.expired(user_id, now)
            outcome.counts["expired"] += len(facts)
            outcome.planned += [f"erase “{fact.content}” (expired)" for fact in facts]
            return outcome
        while number := self._expire_some(user_id, now):
            outcome.counts["expired"] += number
        if total := outcome.counts["expired"]:
            self._observe(MemoriesForgotten(user_id, total, 0))
        return outcome

    def _expire_some(self, user_id: str, now: Unexpired) -> int:
        with self._ledger.exclusive(user_id):
            facts = self._ledger.expired(user_id, now, limit=_BATCH)
            ids = dict.fromkeys(one for fact in facts for one in self._unpinned(fact))
            forgets = [Forget(one, now.at, EXPIRED, actor()) for one in ids]
            self._ledger.apply([*forgets, Unquote(user_id, frozenset(ids))])
        return len(facts)

    def _unpinned(self, fact: Fact) -> Iterable[str]:
        if fact.category is Category.CONVERSATION:
            return [fact.id]  # messages are never merged or updated
        parts = self._ledger.get(whole(self._ledger, fact))
        return [one.id for one in parts if not one.is_pinned]
