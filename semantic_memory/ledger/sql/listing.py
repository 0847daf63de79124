"""Reading a user's facts page by page, and along their references."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from semantic_memory.domain.errors import NotFoundError
from semantic_memory.domain.facts import Fact, Status
from semantic_memory.domain.fields import Sort
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.ports.listing import Listed, Position
from semantic_memory.ledger import rules
from semantic_memory.ledger.sql.dialect import Clause
from semantic_memory.ledger.sql.part import Database, Part
from semantic_memory.ledger.sql.rows import FACT, MOST_ROWS, FactRow, moment, to_fact

_KEYS: Mapping[Sort, str] = {
    "time": "{0}.created_at",
    "importance": "{0}.importance",
    "confidence": "{0}.confidence",
    "relevance": "{0}.importance * {0}.confidence * f.retention * f.recency",
}
"""The value that facts are sorted by, of `{0}`: of `facts f`, or of their past in `placings p`."""
_SHOWN = f"{FACT}, f.action, f.changed_at, f.reason, f.changed_by"
_SORTED = "ORDER BY key DESC, num DESC LIMIT ?"


class ListingReader(Part):
    """The role `Listing`."""

    def find(
        self,
        user_id: str,
        filters: Filters,
        *,
        status: Status | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> list[Fact]:
        """Return the user's facts that pass `filters`, newest first, behind the fact `after`."""
        behind = None if after is None else self.position(after, user_id, "time")
        clause = self._connections.dialect.where(user_id, filters.conditions(status))
        most = MOST_ROWS if limit is None else min(limit, MOST_ROWS)
        with self._connections.snapshot() as db:
            rows = _first(db, clause, "time", behind, most)
        return [_shown(row) for _, _, *row in rows]

    def page(
        self,
        user_id: str,
        filters: Filters,
        *,
        status: Status | None = None,
        order: Sort = "time",
        limit: int | None = None,
        behind: Position | None = None,
    ) -> Listed:
        """Return the user's facts that pass `filters`, sorted, behind a position."""
        clause = self._connections.dialect.where(user_id, filters.conditions(status))
        most = MOST_ROWS if limit is None else min(limit + 1, MOST_ROWS)
        with self._connections.snapshot() as db:
            revision, last = self._state(db, user_id)
            if behind is not None and behind.revision is not None:
                revision, last = behind.revision, behind.last
                rows = self._continued(db, clause, order, behind, most)
            else:
                rows = _first(db, clause, order, behind, most)
        facts = [_shown(row) for _, _, *row in rows]
        if limit is None or len(facts) <= limit:
            return Listed(facts, None)
        key, num, *_ = rows[limit - 1]
        return Listed(facts[:limit], Position(key, num, revision, last))

    def position(self, fact_id: str, user_id: str, order: Sort) -> Position:
        """Return the present place of a fact. Raises NotFoundError if the user has none such."""
        with self._connections.snapshot() as db:
            found = db.execute(
                f"SELECT {_key(order)}, f.num FROM facts f WHERE f.id = ? AND f.user_id = ?",
                (fact_id, user_id),
            ).fetchone()
        if found is None:
            raise NotFoundError(f"no memory {fact_id!r} to continue from")
        return Position(*found)

    def tags(self, user_id: str, filters: Filters) -> dict[str, int]:
        """Return the number of the user's active facts by tag, of those that pass `filters`."""
        condition, values = self._connections.dialect.where(user_id, filters.conditions())
        query = (
            f"SELECT f.tags, count(*) FROM facts f WHERE {condition} AND f.tags <> ''"
            " GROUP BY f.tags"
        )
        with self._connections.snapshot() as db:
            found = db.execute(query, values).fetchall()
        return rules.tag_counts((tags.split(), number) for tags, number in found)

    def linked(
        self, user_id: str, start: str, *, depth: int, backwards: bool = False
    ) -> frozenset[str]:
        """Return the ids at most `depth` references away from `start`, itself aside."""
        # Of the rows of other users, and of those without references, no JSON is read.
        dialect = self._connections.dialect
        some = dialect.holds("f.detail", "'\"references\"'")
        found = (
            f"FROM facts f {dialect.references} WHERE f.user_id = ?"
            f" AND f.status <> 'forgotten' AND {some} AND"
        )
        read, given = ("f.id", "r.value") if backwards else ("r.value", "f.id")
        with self._connections.snapshot() as db:

            def step(ids: Collection[str]) -> set[str]:
                clause, values = dialect.among(given, ids)
                query = f"SELECT DISTINCT {read} {found} {clause}"
                return {one for (one,) in db.execute(query, (user_id, *values))}

            return rules.followed(start, depth, step)

    def _state(self, db: Database, user_id: str) -> tuple[int, int | None]:
        """Return the latest revision of a user, and the latest number of all."""
        found: tuple[int, int] = db.execute(
            "SELECT coalesce((SELECT revision FROM users WHERE user_id = ?), 0),"
            " coalesce((SELECT max(num) FROM facts), 0)",
            (user_id,),
        ).fetchone()
        return found

    def _continued(
        self, db: Database, clause: Clause, order: Sort, behind: Position, most: int
    ) -> list[Any]:
        """Return facts in the order of the first page.

        Those unchanged since by an index; of the others, the value that they had then.
        """
        condition, values = clause
        column = _key(order)
        before = _KEYS[order].format("p")
        own = self._connections.dialect.same("p", "f")
        past = (
            f"coalesce((SELECT {before} FROM placings p WHERE {own} AND p.revision > ?"
            f" ORDER BY p.revision LIMIT 1), {column})"
        )
        place = [behind.key, behind.num]
        unchanged = (
            f"SELECT {column} AS key, f.num AS num, {_SHOWN} FROM facts f WHERE {condition}"
            f" AND f.revision <= ? AND f.num <= ? AND ({column}, f.num) < (?, ?)"
            f" ORDER BY {column} DESC, f.num DESC LIMIT ?"
        )
        changed = (
            f"SELECT {past} AS key, f.num AS num, {_SHOWN} FROM facts f WHERE {condition}"
            f" AND f.revision > ? AND f.num <= ? AND ({past}, f.num) < (?, ?)"
            f" {_SORTED}"
        )
        since = behind.revision
        return db.execute(
            f"SELECT * FROM ({unchanged}) u UNION ALL SELECT * FROM ({changed}) c {_SORTED}",
            [
                *(*values, since, behind.last, *place, most),
                *(since, *values, since, behind.last, since, *place, most),
                most,
            ],
        ).fetchall()


def _key(order: Sort) -> str:
    return _KEYS[order].format("f")


def _shown(row: tuple[Any, ...]) -> Fact:
    """Return the fact of a listing; of a forgotten one, its tombstone."""
    *columns, action, at, reason, by = row
    fact = to_fact(FactRow._make(columns))
    if fact.status is not Status.FORGOTTEN:
        return fact
    return rules.audited(fact, action, moment(at), reason, by)


def _first(
    db: Database, clause: Clause, order: Sort, behind: Position | None, most: int
) -> list[Any]:
    """Return facts in their present order."""
    condition, values = clause
    column = _key(order)
    if behind is not None:
        condition += f" AND ({column}, f.num) < (?, ?)"
        values = [*values, behind.key, behind.num]
    return db.execute(
        f"SELECT {column}, f.num, {_SHOWN} FROM facts f WHERE {condition}"
        f" ORDER BY {column} DESC, f.num DESC LIMIT ?",
        [*values, most],
    ).fetchall()
