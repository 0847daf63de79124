"""Reading facts and their versions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from semantic_memory.domain.facts import Fact, FactVersion
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.retention import Unexpired
from semantic_memory.domain.scope import SHARED, Scope
from semantic_memory.ledger.rules import unknown
from semantic_memory.ledger.sql.part import Connections, Database, Part
from semantic_memory.ledger.sql.rows import (
    FACT,
    MOST_ROWS,
    FactRow,
    chunks,
    content_key,
    moment,
    of_user,
    to_fact,
    to_old_fact,
)

_KEPT = "f.status <> 'forgotten'"
_LAST = "\x7f"  # sorts behind all characters of an id


class FactReader(Part):
    """The roles `Facts` and `FactHistory`."""

    def __init__(self, connections: Connections) -> None:
        super().__init__(connections)
        self._dialect = connections.dialect

    def get(self, fact_ids: Sequence[str], user_id: str | None = None) -> list[Fact]:
        """Return the facts with these ids, in their order; forgotten ones are left out."""
        if not fact_ids:
            return []
        with self._connections.snapshot() as db:
            return self._read(db, fact_ids, user_id)

    def known(self, fact_ids: Sequence[str]) -> set[str]:
        """Return the ids that were ever written."""
        found: set[str] = set()
        with self._connections.snapshot() as db:
            for chunk, marks in chunks(fact_ids):
                query = f"SELECT id FROM facts WHERE id IN ({marks})"
                found.update(fact_id for (fact_id,) in db.execute(query, tuple(chunk)))
        return found

    def beginning(self, prefix: str, user_id: str | None = None) -> list[str]:
        """Return the first ten ids that begin with `prefix`, forgotten facts' included."""
        query, values = of_user(
            "SELECT id FROM facts WHERE id >= ? AND id < ?", (prefix, prefix + _LAST), user_id
        )
        with self._connections.snapshot() as db:
            rows = db.execute(f"{query} ORDER BY id LIMIT 10", values)
            return [fact_id for (fact_id,) in rows]

    def newest(self, user_id: str, filters: Filters, limit: int) -> list[Fact]:
        """Return the user's `limit` newest facts that pass `filters`, forgotten ones aside."""
        condition, values = self._dialect.where(user_id, filters.conditions())
        query = (
            f"SELECT f.id FROM facts f WHERE {condition}"
            " ORDER BY f.created_at DESC, f.num DESC LIMIT ?"
        )
        with self._connections.snapshot() as db:
            return self._read(db, [one for (one,) in db.execute(query, (*values, limit))])

    def ids(self, user_id: str, filters: Filters = NO_FILTERS) -> list[str]:
        """Return the ids of the user's facts in the order written, forgotten ones aside."""
        condition, values = self._dialect.where(user_id, filters.narrowing())
        with self._connections.snapshot() as db:
            query = f"SELECT f.id FROM facts f WHERE {condition} AND {_KEPT} ORDER BY f.num"
            return [fact_id for (fact_id,) in db.execute(query, values)]

    def resting_on(self, user_id: str, messages: Collection[tuple[str, str]]) -> list[Fact]:
        """Return the user's facts, in any status, that have one of these messages as a source."""
        wanted = {f"{session}/{message}" for session, message in messages}
        with self._connections.snapshot() as db:
            rows = db.execute(
                f"SELECT f.id, f.said_in FROM facts f WHERE f.user_id = ? AND {_KEPT}"
                " AND f.category <> 'conversation' AND f.said_in <> '' ORDER BY f.num",
                (user_id,),
            ).fetchall()
        return self.get([one for one, said in rows if not wanted.isdisjoint(said.split())])

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
        said, at = set(places), set(positions)
        dialect = self._dialect
        stated, places_stated = dialect.among("f.said_in", said)
        first, places_first = dialect.among("f.position", {place for _, place in at})
        several = dialect.holds("f.said_in", "' '")
        maybe = f"({stated} OR {several} OR {first})"  # most facts were said in one place
        found: list[str] = []
        with self._connections.snapshot() as db:
            for chunk, marks in chunks(list(dict.fromkeys(session_ids))):
                query = (
                    "SELECT f.id, f.session_id, f.position, f.said_in FROM facts f"
                    f" WHERE f.user_id = ? AND f.session_id IN ({marks})"
                    f" AND f.status = 'superseded' AND {maybe} ORDER BY f.num"
                )
                rows = db.execute(query, (user_id, *chunk, *places_stated, *places_first))
                found += [
                    fact_id
                    for fact_id, session_id, position, said_in in rows
                    if (session_id, position) in at or not said.isdisjoint(said_in.split())
                ]
            return self._read(db, found)

    def doubted(self, user_id: str) -> list[Fact]:
        """Return the user's active facts with links to newer statements, in the order written."""
        linked = self._dialect.holds("f.detail", "'\"perhaps_changed\"'")
        query = (
            f"SELECT {FACT} FROM facts f WHERE f.user_id = ? AND f.status = 'active' AND {linked}"
            " ORDER BY f.num"
        )
        with self._connections.snapshot() as db:
            facts = [to_fact(FactRow._make(row)) for row in db.execute(query, (user_id,))]
        return [fact for fact in facts if fact.perhaps_changed]  # others' texts may hold the word

    def same_content(self, user_id: str, content: str, scope: Scope = SHARED) -> Fact | None:
        """Return the active fact of a scope with the same normalised content, messages aside."""
        with self._connections.snapshot() as db:
            row = db.execute(
                f"SELECT {FACT} FROM facts f WHERE f.user_id = ? AND f.content_key = ?"
                " AND f.agent_id = ? AND f.run_id = ?"
                " AND f.category <> 'conversation' AND f.status = 'active'"
                " ORDER BY f.expires_at IS NOT NULL, f.expires_at DESC, f.num LIMIT 1",
                (user_id, content_key(content), *scope.columns),
            ).fetchone()
        return None if row is None else to_fact(FactRow._make(row))

    def expired(self, user_id: str, condition: Unexpired, limit: int | None = None) -> list[Fact]:
        """Return the user's facts of any status, forgotten ones aside, that have expired."""
        clause, values = self._dialect.expired(user_id, condition)
        with self._connections.snapshot() as db:
            query = f"SELECT {FACT} FROM facts f WHERE {clause} ORDER BY f.num LIMIT ?"
            rows = db.execute(query, [*values, MOST_ROWS if limit is None else limit])
            return [to_fact(FactRow._make(row)) for row in rows]

    def history(self, fact_id: str, user_id: str | None = None) -> list[FactVersion]:
        """Return every version of a fact, oldest first. Raises NotFoundError."""
        query, values = of_user(
            f"SELECT {FACT}, f.changed_at, f.action, f.reason FROM facts f WHERE f.id = ?",
            (fact_id,),
            user_id,
        )
        with self._connections.snapshot() as db:
            found = db.execute(query, values).fetchone()
            if found is None:
                raise unknown(fact_id)
            *columns, changed_at, action, reason = found
            past = db.execute(
                "SELECT v.at, v.action, v.reason, v.snapshot"
                f" FROM facts f JOIN versions v ON {self._dialect.same('v', 'f')}"
                " WHERE f.id = ? ORDER BY v.version",
                (fact_id,),
            ).fetchall()
        versions = [
            _version(to_old_fact(snapshot), at, did, why) for at, did, why, snapshot in past
        ]
        now = to_fact(FactRow._make(columns))
        return [*versions, _version(now, changed_at, action, reason)]

    def replaced(self, fact_id: str, user_id: str) -> list[Fact]:
        """Return the facts that this one superseded or absorbed, oldest first."""
        owner, status = map(self._dialect.unindexed, ("f.user_id", "f.status"))
        query = (
            f"SELECT {FACT} FROM facts f WHERE f.superseded_by = ? AND {owner} = ?"
            f" AND {status} IN ('superseded', 'archived') ORDER BY f.created_at, f.num"
        )
        with self._connections.snapshot() as db:
            rows = map(FactRow._make, db.execute(query, (fact_id, user_id)))
            return [to_fact(row) for row in rows]

    def _found(self, db: Database, fact_ids: Sequence[str]) -> dict[str, Fact]:
        """Return the facts with these ids that aren't forgotten."""
        return {row.id: to_fact(row) for row in fact_rows(db, fact_ids)}

    def _read(
        self, db: Database, fact_ids: Sequence[str], user_id: str | None = None
    ) -> list[Fact]:
        found = self._found(db, fact_ids)
        facts = [found[one] for one in fact_ids if one in found]
        return [one for one in facts if user_id is None or one.user_id == user_id]


def fact_rows(db: Database, fact_ids: Sequence[str]) -> Iterator[FactRow]:
    """Yield the rows of the facts with these ids that aren't forgotten."""
    for chunk, marks in chunks(fact_ids):
        query = f"SELECT {FACT} FROM facts f WHERE f.id IN ({marks}) AND {_KEPT}"
        yield from map(FactRow._make, db.execute(query, tuple(chunk)))


def _version(fact: Fact, at: int, action: str, reason: str) -> FactVersion:
    return FactVersion(version=fact.version, at=moment(at), action=action, reason=reason, fact=fact)
