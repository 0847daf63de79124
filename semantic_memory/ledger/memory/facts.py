"""Reading facts, their versions, and the beliefs among them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from itertools import islice
from operator import attrgetter
from typing import Any

from semantic_memory.domain.conditions import meets
from semantic_memory.domain.facts import Fact, FactVersion, Status
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.ports import Belief
from semantic_memory.domain.retention import Unexpired
from semantic_memory.domain.scope import SHARED, Scope
from semantic_memory.domain.values import normalised
from semantic_memory.ledger import rules
from semantic_memory.ledger.memory.store import Part, Row
from semantic_memory.ledger.rules import unknown

_NEVER = datetime.max.replace(tzinfo=UTC)
_REPLACED = (Status.SUPERSEDED, Status.ARCHIVED)


class FactReader(Part):
    """The roles `Facts` and `FactHistory`."""

    def get(self, fact_ids: Sequence[str], user_id: str | None = None) -> list[Fact]:
        """Return the facts with these ids, in their order; forgotten ones are left out."""
        facts = self._store.snapshot().facts
        rows = (facts[fact_id] for fact_id in fact_ids if fact_id in facts)
        return [row.fact for row in rows if row.kept and user_id in (None, row.fact.user_id)]

    def known(self, fact_ids: Sequence[str]) -> set[str]:
        """Return the ids that were ever written."""
        return self._store.snapshot().facts.keys() & set(fact_ids)

    def beginning(self, prefix: str, user_id: str | None = None, limit: int = 10) -> list[str]:
        """Return the first `limit` ids that begin with `prefix`, forgotten facts' included."""
        rows = self._store.snapshot().facts.values()
        found = [
            row.fact.id
            for row in rows
            if row.fact.id.startswith(prefix) and user_id in (None, row.fact.user_id)
        ]
        return sorted(found)[:limit]

    def ids(self, user_id: str, filters: Filters = NO_FILTERS) -> list[str]:
        """Return the ids of the user's facts in the order written, forgotten ones aside."""
        conditions = filters.narrowing()
        rows = self._store.snapshot().of(user_id)
        return [row.fact.id for row in rows if row.kept and meets(row.fact, conditions)]

    def resting_on(self, user_id: str, messages: Collection[tuple[str, str]]) -> list[Fact]:
        """Return the user's facts, in any status, that have one of these messages as a source."""
        wanted = {f"{session}/{message}" for session, message in messages}
        rows = (row for row in self._store.snapshot().of(user_id) if row.kept and not row.verbatim)
        return [row.fact for row in rows if not wanted.isdisjoint(rules.places(row.fact.sources))]

    def superseded_in(
        self,
        user_id: str,
        session_ids: Collection[str],
        places: Collection[str],
        positions: Collection[tuple[str, int]],
    ) -> list[Fact]:
        """Return the user's superseded facts that were said first in one of these sessions.

        Only those stated at one of `places` (`session/message`), or said first at one of
        `positions`, pairs of a session and a position in it.
        """
        sessions, said, at = set(session_ids), set(places), set(positions)
        facts = (row.fact for row in self._store.snapshot().of(user_id))
        return [
            fact
            for fact in facts
            if fact.status is Status.SUPERSEDED
            and fact.source.session_id in sessions
            and (
                (fact.source.session_id, fact.source.position) in at
                or not said.isdisjoint(rules.places(fact.sources))
            )
        ]

    def doubted(self, user_id: str) -> list[Fact]:
        """Return the user's active facts with links to newer statements, in the order written."""
        rows = self._store.snapshot().of(user_id)
        return [row.fact for row in rows if row.active and row.fact.perhaps_changed]

    def same_content(self, user_id: str, content: str, scope: Scope = SHARED) -> Fact | None:
        """Return the active fact of a scope with the same normalised content, messages aside."""
        wanted = normalised(content)
        facts = (row.fact for row in self._store.snapshot().of(user_id) if row.believed)
        same = (
            fact for fact in facts if fact.scope == scope and normalised(fact.content) == wanted
        )
        return max(same, key=lambda fact: fact.expires_at or _NEVER, default=None)

    def expired(self, user_id: str, condition: Unexpired, limit: int | None = None) -> list[Fact]:
        """Return the user's facts of any status, forgotten ones aside, that have expired."""
        rows = self._store.snapshot().of(user_id)
        facts = (row.fact for row in rows if row.kept and not condition.holds(row.fact))
        return list(islice(facts, limit))

    def history(self, fact_id: str, user_id: str | None = None) -> list[FactVersion]:
        """Return every version of a fact, oldest first. Raises NotFoundError."""
        row = self._store.snapshot().facts.get(fact_id)
        if row is None or user_id not in (None, row.fact.user_id):
            raise unknown(fact_id)
        return [*row.versions, row.version]

    def replaced(self, fact_id: str, user_id: str) -> list[Fact]:
        """Return the facts that this one superseded or absorbed, oldest first."""
        rows = [
            row
            for row in self._store.snapshot().of(user_id)
            if row.fact.superseded_by == fact_id and row.fact.status in _REPLACED
        ]
        return [row.fact for row in sorted(rows, key=_age)]


class BeliefReader(Part):
    """The role `Beliefs`."""

    def beliefs(self, user_id: str, *, since: int = 0, limit: int | None = None) -> list[Belief]:
        """Return the user's beliefs that changed after revision `since`, at most `limit`."""
        rows = self._store.snapshot().of(user_id)
        return _to_beliefs(row for row in rows if row.believed and row.revision > since)[:limit]

    def messages(self, user_id: str, *, since: int = 0, limit: int | None = None) -> list[Belief]:
        """Return the user's active verbatim messages changed after `since`, at most `limit`."""
        rows = self._store.snapshot().of(user_id)
        return _to_beliefs(
            row for row in rows if row.verbatim and row.active and row.revision > since
        )[:limit]

    def beliefs_among(
        self,
        user_id: str,
        fact_ids: Collection[str],
        keys: Collection[bytes],
        *,
        messages: bool = False,
    ) -> list[Belief]:
        """Return the user's beliefs with one of these ids or one of these keys."""
        ids, wanted = set(fact_ids), set(keys)
        return _to_beliefs(
            row
            for row in self._store.snapshot().of(user_id)
            if (row.believed or (messages and row.active))
            and (row.fact.id in ids or not row.keys.isdisjoint(wanted))
        )


def _to_beliefs(rows: Iterable[Row]) -> list[Belief]:
    beliefs = [
        Belief(row.fact, row.vectors.windows[0], row.revision)
        for row in rows
        if row.vectors is not None
    ]
    return sorted(beliefs, key=attrgetter("revision"))


def _age(row: Row) -> tuple[Any, ...]:
    return row.fact.created_at, row.num
