"""Sessions, jobs and small values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from semantic_memory.domain.changes import Cursor, CursorStage
from semantic_memory.domain.messages import SessionInfo, SessionKey
from semantic_memory.domain.ports import Pending
from semantic_memory.domain.prompts import PromptRecord
from semantic_memory.domain.reports import JobRun
from semantic_memory.ledger import rules
from semantic_memory.ledger.sql.part import Part
from semantic_memory.ledger.sql.rows import maybe_moment, micros, moment


class SessionReader(Part):
    """The role `Sessions`."""

    def cursor(self, user_id: str, session_id: str, stage: CursorStage) -> Cursor:
        """Return the session's cursor at a stage; at the beginning, if it has none."""
        with self._connections.snapshot() as db:
            row = db.execute(
                'SELECT position, "offset", message_id FROM cursors'
                " WHERE user_id = ? AND session_id = ? AND stage = ?",
                (user_id, session_id, stage),
            ).fetchone()
        return Cursor(user_id, session_id, stage, *(row or ()))

    def cursors(self, stage: CursorStage) -> list[Cursor]:
        """Return every session's cursor at a stage."""
        query = (
            'SELECT user_id, session_id, stage, position, "offset", message_id FROM cursors'
            " WHERE stage = ? ORDER BY user_id, session_id"
        )
        with self._connections.snapshot() as db:
            return [Cursor(*row) for row in db.execute(query, (stage,))]

    def unextracted(self) -> list[SessionKey]:
        """Return the sessions with stored messages that extraction hasn't come to, sorted."""
        query = (
            "SELECT s.user_id, s.session_id FROM cursors s LEFT JOIN cursors e"
            " ON e.user_id = s.user_id AND e.session_id = s.session_id AND e.stage = 'extracted'"
            " WHERE s.stage = 'stored' AND s.position > coalesce(e.position, 0) ORDER BY 1, 2"
        )
        with self._connections.snapshot() as db:
            return [SessionKey(*row) for row in db.execute(query)]

    def session_ids(self, user_id: str) -> list[str]:
        """Return the user's sessions that have a cursor at any stage, sorted."""
        query = "SELECT DISTINCT session_id FROM cursors WHERE user_id = ? ORDER BY 1"
        with self._connections.snapshot() as db:
            return [session_id for (session_id,) in db.execute(query, (user_id,))]

    def session_infos(self, user_id: str) -> list[SessionInfo]:
        """Return a summary of each session with a kept fact, newest first."""
        dialect = self._connections.dialect
        seen_at = dialect.greater("recorded_at", "coalesce(last_used_at, 0)")
        query = (
            "SELECT session_id, category, count(*), min(created_at), max(created_at),"
            f" min(recorded_at), max({seen_at}) FROM facts"
            " WHERE user_id = ? AND session_id IS NOT NULL AND status <> 'forgotten'"
            " GROUP BY session_id, category"
        )
        with self._connections.snapshot() as db:
            found = db.execute(query, (user_id,)).fetchall()
        return rules.session_infos(
            rules.SessionPart(session_id, category, number, *map(moment, times))
            for session_id, category, number, *times in found
        )

    def deleted(self, user_id: str) -> dict[str, int]:
        """Return the number of forgotten memories by session, erased ones included."""
        query = (
            "SELECT session_id, count(*) FROM facts WHERE user_id = ? AND status = 'forgotten'"
            " AND session_id IS NOT NULL GROUP BY session_id"
        )
        with self._connections.snapshot() as db:
            return dict(db.execute(query, (user_id,)).fetchall())


class JobRecords(Part):
    """The roles `JobMarks`, `JobRuns` and `PromptTrail`."""

    def pending(
        self, job: str, user_id: str | None = None, *, everyone: bool = False
    ) -> list[Pending]:
        """Return the users whose memories changed since the job's mark, or this one if they did."""
        query = (
            "SELECT u.user_id, u.revision, coalesce(m.revision, 0), m.at FROM users u"
            " LEFT JOIN marks m ON m.job = ? AND m.user_id = u.user_id WHERE u.memories > 0"
        )
        if not everyone:
            query += " AND u.revision > coalesce(m.revision, 0)"
        values: tuple[Any, ...] = (job,)
        if user_id is not None:
            query, values = f"{query} AND u.user_id = ?", (*values, user_id)
        with self._connections.snapshot() as db:
            found = db.execute(query + " ORDER BY u.user_id", values).fetchall()
        return [
            Pending(user, revision, seen, maybe_moment(at)) for user, revision, seen, at in found
        ]

    def record_run(self, run: JobRun) -> None:
        """Record a run, and delete the oldest over the limit."""
        with self._connections.transaction() as db:
            db.execute(
                "INSERT INTO runs (job, started_at, record) VALUES (?, ?, ?)",
                (run.job, micros(run.started_at), run.model_dump_json()),
            )
            db.execute(
                "DELETE FROM runs WHERE num <= (SELECT max(num) FROM runs) - ?", (rules.MOST_RUNS,)
            )

    def runs(self, limit: int) -> list[JobRun]:
        """Return runs, the latest first."""
        query = "SELECT record FROM runs ORDER BY num DESC LIMIT ?"
        with self._connections.snapshot() as db:
            return [JobRun.model_validate_json(record) for (record,) in db.execute(query, (limit,))]

    def record_prompts(self, records: Sequence[tuple[str, str]], most: int) -> None:
        """Add records, and delete the oldest of each of their users over `most`."""
        users = sorted({user_id for user_id, _ in records})
        with self._connections.transaction() as db:
            db.executemany("INSERT INTO prompts (user_id, record) VALUES (?, ?)", records)
            db.executemany(
                "DELETE FROM prompts WHERE user_id = ? AND num <= (SELECT num FROM prompts"
                " WHERE user_id = ? ORDER BY num DESC LIMIT 1 OFFSET ?)",
                [(user_id, user_id, most) for user_id in users],
            )

    def prompts(self, user_id: str) -> list[PromptRecord]:
        """Return a user's records, the latest first."""
        query = "SELECT record FROM prompts WHERE user_id = ? ORDER BY num DESC"
        with self._connections.snapshot() as db:
            rows = db.execute(query, (user_id,)).fetchall()
        return [PromptRecord.model_validate_json(record) for (record,) in rows]

    def erase_prompts(self, user_id: str) -> None:
        """Delete a user's records."""
        with self._connections.transaction() as db:
            db.execute("DELETE FROM prompts WHERE user_id = ?", (user_id,))
