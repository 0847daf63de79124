"""Filling an index: the memories that it lacks, in their present state, and which it then has."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.facts import Status
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.ports import IndexEntry, Match, Outbox, Unindexed
from semantic_memory.ledger.sql.part import Database, Part, set_meta
from semantic_memory.ledger.sql.rows import (
    FACT,
    VECTORS,
    FactRow,
    nearest_windows,
    of_user,
    to_fact,
    to_vectors,
)

_SCAN_BATCH = 250
_HELD = "f.embedded = 1 AND f.status <> 'forgotten'"


class IndexFeed(Part):
    """The role `SyncFeed`. Triggers note in `unindexed` what an index lacks."""

    def outbox(self, limit: int) -> Outbox:
        """Return at most `limit` of the memories that the index lacks, by user."""
        with self._connections.snapshot() as db:
            found = db.execute(
                f"SELECT {FACT}, f.num, f.embedded, f.revision, {VECTORS} FROM unindexed u"
                " JOIN facts f ON f.user_id = u.user_id AND f.num = u.num"
                f" LEFT JOIN vectors v ON {self._connections.dialect.same('v', 'f')}"
                " ORDER BY u.user_id, u.num LIMIT ?",
                (limit,),
            ).fetchall()
            (changes,) = db.execute(self._connections.dialect.changes).fetchone()
        entries: list[IndexEntry] = []
        removed: list[str] = []
        taken: list[Unindexed] = []
        for *columns, num, embedded, revision, windows, sentences, data in found:
            fact = to_fact(FactRow._make(columns))
            if embedded == 1 and fact.status is not Status.FORGOTTEN:
                entries.append(IndexEntry(fact, to_vectors(windows, sentences, data).windows))
            else:
                removed.append(fact.id)
            taken.append(Unindexed(fact.user_id, num, revision))
        return Outbox(entries, removed, taken, changes)

    def note_indexed(
        self, done: Sequence[Unindexed], key: str, was: str | None, value: str
    ) -> bool:
        """Take memories that haven't changed since as indexed, and set `key`, unless it changed."""
        locking = self._connections.dialect.locking
        with self._connections.transaction() as db:
            kept = db.execute(f"SELECT value FROM meta WHERE key = ?{locking}", (key,)).fetchone()
            if (kept and kept[0]) != was:
                self._mark(db, done)
                return False
            self._unmark(db, done)
            set_meta(db, key, value)
        return True

    def unindex(self, key: str, value: str) -> None:
        """Take no memory as indexed, and set `key`, in one transaction."""
        with self._connections.transaction() as db:
            self._unmark_all(db)
            db.execute(
                "INSERT INTO unindexed SELECT f.user_id, f.num, f.revision FROM facts f"
                f" WHERE {_HELD} ORDER BY f.user_id, f.num"
            )
            set_meta(db, key, value)

    def _unmark(self, db: Database, done: Sequence[Unindexed]) -> None:
        """Remove the marks of memories that haven't changed since."""
        db.executemany("DELETE FROM unindexed WHERE user_id = ? AND num = ? AND revision = ?", done)

    def _mark(self, db: Database, done: Sequence[Unindexed]) -> None:
        """Mark memories again."""
        db.executemany(
            "INSERT INTO unindexed SELECT f.user_id, f.num, f.revision FROM facts f"
            " WHERE f.user_id = ? AND f.num = ? ON CONFLICT DO NOTHING",
            [(one.user_id, one.num) for one in done],
        )

    def _unmark_all(self, db: Database) -> None:
        """Remove every mark; none comes until the transaction ends."""
        db.execute("DELETE FROM unindexed")

    def count_unindexed(self) -> int:
        """Return the number of memories that the index lacks."""
        return self._number("SELECT count(*) FROM unindexed")

    def unindexed(self, limit: int, user_id: str | None = None) -> set[str]:
        """Return the ids of at most `limit` memories that the index lacks, of a user or of all."""
        lacked, values = of_user("SELECT user_id, num FROM unindexed", (), user_id)
        query = f"SELECT f.id FROM ({lacked} LIMIT ?) u JOIN facts f USING (user_id, num)"
        with self._connections.snapshot() as db:
            return {fact_id for (fact_id,) in db.execute(query, (*values, limit))}

    def held(self) -> tuple[int, int]:
        """Return how many memories the index holds at least, and at most."""
        with self._connections.snapshot() as db:
            least, lacked = db.execute(
                f"SELECT count(*) FILTER (WHERE u.num IS NULL AND {_HELD}), count(u.num)"
                " FROM facts f LEFT JOIN unindexed u ON u.user_id = f.user_id AND u.num = f.num"
            ).fetchone()
        return least, least + lacked

    def embedded_ids(self) -> set[str]:
        """Return the ids of all memories that an index should hold."""
        with self._connections.snapshot() as db:
            query = f"SELECT f.id FROM facts f WHERE {_HELD}"
            return {fact_id for (fact_id,) in db.execute(query)}

    def similarities(
        self,
        vector: Matrix,
        user_id: str,
        filters: Filters,
        among: Collection[str] | None = None,
    ) -> Iterator[list[Match]]:
        """Yield the cosine of `vector` to each memory's nearest window, in batches."""
        dialect = self._connections.dialect
        condition, values = dialect.where(user_id, filters.conditions())
        if among is not None:
            clause, ids = dialect.among("f.id", among)
            condition, values = f"{condition} AND {clause}", [*values, *ids]
        with self._connections.snapshot() as db:
            found = db.execute(
                f"SELECT f.id, {VECTORS} FROM facts f JOIN vectors v ON {dialect.same('v', 'f')}"
                f" WHERE f.embedded = 1 AND {condition}",
                values,
            )
            while batch := found.fetchmany(_SCAN_BATCH):
                nearest = nearest_windows([stored for _, *stored in batch], vector)
                yield [
                    Match(fact_id, cosine)
                    for (fact_id, *_), cosine in zip(batch, nearest.tolist(), strict=True)
                ]
