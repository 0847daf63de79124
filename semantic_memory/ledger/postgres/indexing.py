"""Filling an index beside any number of writers, who mark memories in an order of their own."""

from __future__ import annotations

from collections.abc import Sequence

from semantic_memory.domain.ports import Unindexed
from semantic_memory.ledger.sql import indexing
from semantic_memory.ledger.sql.part import Database

# Mark again what has a later revision: a process that was paused wrote an older state over it.
_REMARK = """
    INSERT INTO unindexed SELECT f.user_id, f.num, f.revision
    FROM facts f JOIN unnest(?::text[], ?::bigint[], ?::bigint[]) d(user_id, num, revision)
        ON f.user_id = d.user_id AND f.num = d.num AND f.revision > d.revision
    ORDER BY f.user_id, f.num
    ON CONFLICT DO NOTHING
"""
# A mark that a writer holds stays: waiting for it could end in a deadlock.
_UNMARK = """
    DELETE FROM unindexed u USING (
        SELECT m.user_id, m.num
        FROM unindexed m JOIN unnest(?::text[], ?::bigint[], ?::bigint[]) d(user_id, num, revision)
            ON m.user_id = d.user_id AND m.num = d.num AND m.revision = d.revision
        FOR UPDATE OF m SKIP LOCKED
    ) d WHERE u.user_id = d.user_id AND u.num = d.num
"""
_ALONE = "LOCK TABLE unindexed IN SHARE ROW EXCLUSIVE MODE"


class IndexFeed(indexing.IndexFeed):
    """The role `SyncFeed`."""

    def _unmark(self, db: Database, done: Sequence[Unindexed]) -> None:
        columns = (
            [one.user_id for one in done],
            [one.num for one in done],
            [one.revision for one in done],
        )
        db.execute(_REMARK, columns)
        db.execute(_UNMARK, columns)

    def _mark(self, db: Database, done: Sequence[Unindexed]) -> None:
        db.execute(_ALONE)  # else a writer and this could wait for each other
        super()._mark(db, done)

    def _unmark_all(self, db: Database) -> None:
        db.execute(_ALONE)
        super()._unmark_all(db)
