"""Reading a user's facts page by page, and along their references."""

from __future__ import annotations

import json
from collections.abc import Mapping
from sqlite3 import Connection
from typing import Any

from semantic_memory.domain.errors import NotFoundError
from semantic_memory.domain.facts import Status
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.ports.listing import Listed, Order, Position
from semantic_memory.ledger import rules
from semantic_memory.ledger.sqlite.part import Part
from semantic_memory.ledger.sqlite.rows import FACT, MOST_ROWS, FactRow, to_fact
from semantic_memory.ledger.sqlite.where import Clause, where

_COLUMNS: Mapping[Order, str] = {
    "time": "created_at",
    "importance": "importance",
    "confidence": "confidence",
}
_SORTED = "ORDER BY key DESC, num DESC LIMIT ?"


class ListingReader(Part):
    """The role `Listing`."""

    def page(
        self,
        user_id: str,
        filters: Filters,
        *,
        status: Status | None = None,
        order: Order = "time",
        limit: int | None = None,
        behind: Position | None = None,
    ) -> Listed:
        """Return the user's facts that pass `filters`, sorted, behind a position."""
        clause = where(user_id, filters.conditions(status))
        most = MOST_ROWS if limit is None else min(limit + 1, MOST_ROWS)
        with self._connections.snapshot() as db:
            revision, last = _state(db, user_id)
            if behind is not None and behind.revision is not None:
                revision, last = behind.revision, behind.last
                rows = _continued(db, clause, order, behind, most)
            else:
                rows = _first(db, clause, order, behind, most)
        facts = [to_fact(FactRow._make(row)) for _, _, *row in rows]
        if limit is None or len(facts) <= limit:
            return Listed(facts, None)
        key, num, *_ = rows[limit - 1]
        return Listed(facts[:limit], Position(key, num, revision, last))

    def position(self, fact_id: str, user_id: str, order: Order) -> Position:
        """Return the present place of a fact. Raises NotFoundError if the user has none such."""
        with self._connections.snapshot() as db:
            found = db.execute(
                f"SELECT {_COLUMNS[order]}, num FROM facts WHERE id = ? AND user_id = ?",
                (fact_id, user_id),
            ).fetchone()
        if found is None:
            raise NotFoundError(f"no memory {fact_id!r} to continue from")
        return Position(*found)

    def linked(
        self, user_id: str, start: str, *, depth: int, backwards: bool = False
    ) -> frozenset[str]:
        """Return the ids at most `depth` references away from `start`, itself aside."""
        # Of the rows of other users, and of those without references, no JSON is read.
        found = (
            "FROM facts f JOIN json_each(f.detail, '$.references') r WHERE f.user_id = ?"
            " AND f.status <> 'forgotten' AND instr(f.detail, '\"references\"') AND"
        )
        query = (
            f"SELECT DISTINCT f.id {found} r.value IN (SELECT value FROM json_each(?))"
            if backwards
            else f"SELECT DISTINCT r.value {found} f.id IN (SELECT value FROM json_each(?))"
        )
        with self._connections.snapshot() as db:
            return rules.followed(
                start,
                depth,
                lambda ids: {one for (one,) in db.execute(query, (user_id, json.dumps([*ids])))},
            )


def _state(db: Connection, user_id: str) -> tuple[int, int | None]:
    """Return the latest revision of a user, and the latest number of all."""
    found: tuple[int, int] = db.execute(
        "SELECT coalesce((SELECT revision FROM users WHERE user_id = ?), 0),"
        " coalesce((SELECT max(num) FROM facts), 0)",
        (user_id,),
    ).fetchone()
    return found


def _first(
    db: Connection, clause: Clause, order: Order, behind: Position | None, most: int
) -> list[Any]:
    """Return facts in their present order."""
    condition, values = clause
    column = f"f.{_COLUMNS[order]}"
    if behind is not None:
        condition += f" AND ({column}, f.num) < (?, ?)"
        values = [*values, behind.key, behind.num]
    return db.execute(
        f"SELECT {column}, f.num, {FACT} FROM facts f WHERE {condition}"
        f" ORDER BY {column} DESC, f.num DESC LIMIT ?",
        [*values, most],
    ).fetchall()


def _continued(
    db: Connection, clause: Clause, order: Order, behind: Position, most: int
) -> list[Any]:
    """Return facts in the order of the first page.

    Those unchanged since by an index; of the others, the value that they had then.
    """
    condition, values = clause
    column = _COLUMNS[order]
    past = (
        f"coalesce((SELECT p.{column} FROM placings p WHERE p.num = f.num AND p.revision > ?"
        f" ORDER BY p.revision LIMIT 1), f.{column})"
    )
    place = [behind.key, behind.num]
    unchanged = (
        f"SELECT f.{column} AS key, f.num AS num, {FACT} FROM facts f WHERE {condition}"
        f" AND f.revision <= ? AND f.num <= ? AND (f.{column}, f.num) < (?, ?)"
        f" ORDER BY f.{column} DESC, f.num DESC LIMIT ?"
    )
    changed = (
        f"SELECT {past} AS key, f.num AS num, {FACT} FROM facts f WHERE {condition}"
        f" AND f.revision > ? AND f.num <= ? AND ({past}, f.num) < (?, ?)"
        f" {_SORTED}"
    )
    since = behind.revision
    return db.execute(
        f"SELECT * FROM ({unchanged}) UNION ALL SELECT * FROM ({changed}) {_SORTED}",
        [
            *(*values, since, behind.last, *place, most),
            *(since, *values, since, behind.last, since, *place, most),
            most,
        ],
    ).fetchall()
