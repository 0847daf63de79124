"""Reading facts and their versions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from semantic_memory.domain.errors import NotFoundError
from semantic_memory.domain.facts import Fact, FactVersion, Status
from semantic_memory.domain.fields import Sort
from semantic_memory.domain.filters import Filters, narrowing
from semantic_memory.domain.retention import Unexpired
from semantic_memory.ledger.rules import audited, unknown
from semantic_memory.ledger.sqlite.part import Part
from semantic_memory.ledger.sqlite.rows import (
    FACT,
    MOST_ROWS,
    FactRow,
    chunks,
    content_key,
    moment,
    of_user,
    to_fact,
)
from semantic_memory.ledger.sqlite.where import expired, where

_BY_TIME = ("f.created_at", "f.num")
_KEYS: Mapping[Sort, Sequence[str]] = {
    "time": _BY_TIME,
    "relevance": ("f.importance * f.confidence * f.retention * f.recency", *_BY_TIME),
}
_KEPT = "f.status <> 'forgotten'"


class FactReader(Part):
    """The roles `Facts` and `FactHistory`."""

    def get(self, fact_ids: Sequence[str], user_id: str | None = None) -> list[Fact]:
        """Return the facts with these ids, in their order; forgotten ones are left out."""
        found: dict[str, Fact] = {}
        with self._connections.snapshot() as db:
            for chunk, marks in chunks(fact_ids):
                query, values = of_user(
                    f"SELECT {FACT} FROM facts f WHERE f.id IN ({marks}) AND {_KEPT}",
                    tuple(chunk),
                    user_id,
                )
                rows = map(FactRow._make, db.execute(query, values))
                found.update((row.id, to_fact(row)) for row in rows)
        return [found[fact_id] for fact_id in fact_ids if fact_id in found]

    def known(self, fact_ids: Sequence[str]) -> set[str]:
        """Return those of the ids that have ever been written."""
        found: set[str] = set()
        with self._connections.snapshot() as db:
            for chunk, marks in chunks(fact_ids):
                query = f"SELECT id FROM facts WHERE id IN ({marks})"
                found.update(fact_id for (fact_id,) in db.execute(query, tuple(chunk)))
        return found

    def find(
        self,
        user_id: str,
        filters: Filters,
        *,
        status: Status | None = None,
        limit: int | None = None,
        after: str | None = None,
        sort: Sort = "time",
    ) -> list[Fact]:
        """Return the user's facts that pass `filters`, behind the fact `after`."""
        keys = _KEYS[sort]
        condition, values = where(user_id, filters.conditions(status))
        with self._connections.snapshot() as db:
            if after is not None:
                anchor = db.execute(
                    f"SELECT {', '.join(keys)} FROM facts f WHERE f.id = ? AND f.user_id = ?",
                    (after, user_id),
                ).fetchone()
                if anchor is None:
                    raise NotFoundError(f"no memory {after!r} to continue from")
                condition += f" AND ({', '.join(keys)}) < ({', '.join('?' * len(keys))})"
                values += anchor
            query = (
                f"SELECT {FACT}, f.action, f.changed_at, f.reason, f.changed_by"
                f" FROM facts f WHERE {condition}"
                f" ORDER BY {', '.join(f'{key} DESC' for key in keys)} LIMIT ?"
            )
            most = -1 if limit is None else min(limit, MOST_ROWS)
            return [_shown(row) for row in db.execute(query, [*values, most])]

    def ids(
        self,
        user_id: str,
        *,
        tag: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        session_id: str | None = None,
    ) -> list[str]:
        """Return the ids of the user's facts in the order written, forgotten ones aside."""
        tags = () if tag is None else (tag,)
        narrowed = narrowing(tags=tags, since=since, until=until, session_id=session_id)
        condition, values = where(user_id, narrowed)
        with self._connections.snapshot() as db:
            query = f"SELECT f.id FROM facts f WHERE {condition} AND {_KEPT} ORDER BY f.num"
            return [fact_id for (fact_id,) in db.execute(query, values)]

    def superseded_in(self, user_id: str, session_ids: Collection[str]) -> list[Fact]:
        """Return the user's superseded facts that were said first in one of these sessions."""
        found: list[Fact] = []
        with self._connections.snapshot() as db:
            for chunk, marks in chunks(list(dict.fromkeys(session_ids))):
                query = (
                    f"SELECT {FACT} FROM facts f WHERE f.user_id = ? AND f.session_id IN ({marks})"
                    " AND f.status = 'superseded' ORDER BY f.num"
                )
                rows = map(FactRow._make, db.execute(query, (user_id, *chunk)))
                found += map(to_fact, rows)
        return found

    def same_content(self, user_id: str, content: str) -> Fact | None:
        """Return the active fact with the same normalised content, verbatim messages aside."""
        with self._connections.snapshot() as db:
            row = db.execute(
                f"SELECT {FACT} FROM facts f WHERE f.user_id = ? AND f.content_key = ?"
                " AND f.category <> 'conversation' AND f.status = 'active'"
                " ORDER BY f.expires_at IS NOT NULL, f.expires_at DESC, f.num LIMIT 1",
                (user_id, content_key(content)),
            ).fetchone()
        return None if row is None else to_fact(FactRow._make(row))

    def expired(self, user_id: str, condition: Unexpired, limit: int | None = None) -> list[Fact]:
        """Return the user's facts of any status, forgotten ones aside, that have expired."""
        clause, values = expired(user_id, condition)
        with self._connections.snapshot() as db:
            query = f"SELECT {FACT} FROM facts f WHERE {clause} ORDER BY f.num LIMIT ?"
            rows = db.execute(query, [*values, MOST_ROWS if limit is None else limit])
            return [to_fact(FactRow._make(row)) for row in rows]

    def history(self, fact_id: str, user_id: str | None = None) -> list[FactVersion]:
        """Return every version of a fact, oldest first. Raises NotFoundError."""
        query, values = of_user(
            f"SELECT {FACT}, f.num, f.changed_at, f.action, f.reason FROM facts f WHERE f.id = ?",
            (fact_id,),
            user_id,
        )
        with self._connections.snapshot() as db:
            found = db.execute(query, values).fetchone()
            if found is None:
                raise unknown(fact_id)
            *columns, num, changed_at, action, reason = found
            past = db.execute(
                "SELECT at, action, reason, snapshot FROM versions WHERE num = ? ORDER BY version",
                (num,),
            ).fetchall()
        versions = [
            _version(Fact.model_validate_json(snapshot), at, did, why)
            for at, did, why, snapshot in past
        ]
        now = to_fact(FactRow._make(columns))
        return [*versions, _version(now, changed_at, action, reason)]

    def replaced(self, fact_id: str, user_id: str) -> list[Fact]:
        """Return the facts that this one superseded or absorbed, oldest first."""
        query = (
            f"SELECT {FACT} FROM facts f WHERE f.superseded_by = ? AND +f.user_id = ?"
            " AND +f.status IN ('superseded', 'archived') ORDER BY f.created_at, f.num"
        )
        with self._connections.snapshot() as db:
            rows = map(FactRow._make, db.execute(query, (fact_id, user_id)))
            return [to_fact(row) for row in rows]


def _shown(row: tuple[Any, ...]) -> Fact:
    """Return the fact of a listing; of a forgotten one, its tombstone."""
    *columns, action, at, reason, by = row
    fact = to_fact(FactRow._make(columns))
    if fact.status is not Status.FORGOTTEN:
        return fact
    return audited(fact, action, moment(at), reason, by)


def _version(fact: Fact, at: int, action: str, reason: str) -> FactVersion:
    return FactVersion(version=fact.version, at=moment(at), action=action, reason=reason, fact=fact)
