"""Sessions, jobs, counts, small values and erasure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from semantic_memory.domain.changes import Cursor, CursorStage, Redact
from semantic_memory.domain.messages import SessionInfo, SessionKey
from semantic_memory.domain.ports import Pending
from semantic_memory.domain.prompts import PromptRecord
from semantic_memory.domain.reports import JobRun
from semantic_memory.ledger import rules
from semantic_memory.ledger.memory.store import Part, Row


class SessionReader(Part):
    """The role `Sessions`."""

    def cursor(self, user_id: str, session_id: str, stage: CursorStage) -> Cursor:
        """Return the session's cursor at a stage; at the beginning, if it has none."""
        found = self._store.snapshot().cursors.get((user_id, session_id, stage))
        return found or Cursor(user_id, session_id, stage)

    def cursors(self, stage: CursorStage) -> list[Cursor]:
        """Return every session's cursor at a stage."""
        cursors = sorted(self._store.snapshot().cursors.items())
        return [cursor for _, cursor in cursors if cursor.stage == stage]

    def unextracted(self) -> list[SessionKey]:
        """Return the sessions with stored messages that extraction hasn't come to, sorted."""
        cursors = self._store.snapshot().cursors
        return [
            SessionKey(user_id, session_id)
            for (user_id, session_id, at), cursor in sorted(cursors.items())
            if at == "stored"
            and cursor.position > self.cursor(user_id, session_id, "extracted").position
        ]

    def session_ids(self, user_id: str) -> list[str]:
        """Return the user's sessions that have a cursor at any stage, sorted."""
        cursors = self._store.snapshot().cursors.values()
        return sorted({cursor.session_id for cursor in cursors if cursor.user_id == user_id})

    def session_infos(self, user_id: str) -> list[SessionInfo]:
        """Return a summary of each session with a kept fact, newest first."""
        rows = self._store.snapshot().of(user_id)
        return rules.session_infos(
            rules.SessionPart(
                session_id=fact.source.session_id,
                category=fact.category.value,
                number=1,
                first_at=fact.created_at,
                last_at=fact.created_at,
                recorded_at=fact.recorded_at,
                seen_at=max(fact.recorded_at, fact.last_used_at or fact.recorded_at),
            )
            for fact in (row.fact for row in rows if row.kept)
            if fact.source.session_id is not None
        )

    def deleted(self, user_id: str) -> dict[str, int]:
        """Return the number of forgotten memories by session, erased ones included."""
        rows = (row for row in self._store.snapshot().of(user_id) if not row.kept)
        sessions = Counter(row.session_id or row.fact.source.session_id for row in rows)
        return {session: number for session, number in sessions.items() if session is not None}


class JobRecords(Part):
    """The roles `JobMarks` and `JobRuns`."""

    def pending(
        self, job: str, user_id: str | None = None, *, everyone: bool = False
    ) -> list[Pending]:
        """Return the users whose memories changed since the job's mark, or this one if they did."""
        tables = self._store.snapshot()
        found = []
        for one in sorted({row.fact.user_id for row in tables.of(user_id) if row.kept}):
            mark = tables.marks.get((job, one))
            seen, seen_at = (0, None) if mark is None else (mark.revision or 0, mark.at)
            if everyone or tables.revisions[one] > seen:
                found.append(Pending(one, tables.revisions[one], seen, seen_at))
        return found

    def record_run(self, run: JobRun) -> None:
        """Record a run, and delete the oldest over the limit."""
        with self._store.transaction() as tables:
            tables.runs = (*tables.runs, run)[-rules.MOST_RUNS :]

    def runs(self, limit: int) -> list[JobRun]:
        """Return runs, the latest first."""
        return list(self._store.snapshot().runs[::-1][:limit])

    def record_prompts(self, records: Sequence[tuple[str, str]], most: int) -> None:
        """Add records, and delete the oldest of each of their users over `most`."""
        with self._store.transaction() as tables:
            for user_id, record in records:
                before = tables.prompts.get(user_id, ())
                tables.prompts[user_id] = (*before, record)[-most:]

    def prompts(self, user_id: str) -> list[PromptRecord]:
        """Return a user's records, the latest first."""
        found = self._store.snapshot().prompts.get(user_id, ())
        return [PromptRecord.model_validate_json(record) for record in reversed(found)]

    def erase_prompts(self, user_id: str) -> None:
        """Delete a user's records."""
        with self._store.transaction() as tables:
            tables.prompts.pop(user_id, None)


class Administration(Part):
    """The roles `Census`, `KeyValues`, `Erasure` and `Maintenance`."""

    def count(self, user_id: str | None = None) -> int:
        """Return the number of facts, forgotten ones aside."""
        return sum(row.kept for row in self._store.snapshot().of(user_id))

    def tally(self, user_id: str | None = None) -> dict[str, int]:
        """Return the number of facts by `category/status`, forgotten ones included."""
        facts = (row.fact for row in self._store.snapshot().of(user_id))
        found = Counter(f"{fact.category}/{fact.status}" for fact in facts)
        return dict(sorted(found.items()))

    def users(self) -> list[str]:
        """Return every user with a memory that isn't forgotten, or an item, sorted."""
        tables = self._store.snapshot()
        owners = {user_id for user_id, _, _ in tables.items}
        return sorted(owners | {row.fact.user_id for row in tables.of(None) if row.kept})

    def meta(self, key: str) -> str | None:
        """Return the value kept under `key`."""
        return self._store.snapshot().meta.get(key)

    def metas(self, prefix: str) -> dict[str, str]:
        """Return the values kept under keys that begin with `prefix`, by key."""
        kept = self._store.snapshot().meta.items()
        return {key: value for key, value in kept if key.startswith(prefix)}

    def set_meta(self, key: str, value: str) -> None:
        """Keep a value."""
        with self._store.transaction() as tables:
            tables.meta[key] = value

    def sessions_with_forgotten(self, user_id: str | None = None) -> list[SessionKey]:
        """Return the sessions with a message that is forgotten and not erased, sorted."""
        rows = (row for row in self._unerased(user_id) if row.verbatim)
        return sorted(
            {
                SessionKey(row.fact.user_id, row.fact.source.session_id)
                for row in rows
                if row.fact.source.session_id is not None
            }
        )

    def forgotten(self, user_id: str | None = None) -> list[str]:
        """Return the ids of memories that are forgotten and not erased."""
        return [row.fact.id for row in self._unerased(user_id)]

    def erase(self, user_id: str | None = None) -> int:
        """Erase the text of forgotten memories from every version; return how many."""
        with self._store.transaction() as tables:
            rows = self._unerased(user_id)
            cuts = [row for row in tables.of(user_id) if row.cut]
            for row in cuts:
                tables.facts[row.fact.id] = replace(row, cut=False)
            for row in rows:
                tables.facts[row.fact.id] = replace(
                    row,
                    fact=rules.erased(row.fact),
                    session_id=row.session_id or row.fact.source.session_id,
                    words={},
                    versions=(),
                    vectors=None,
                    refused=True,
                    keys=frozenset(),
                    cut=False,
                )
        return len(rows) + len(cuts)

    def redactions(self, session: SessionKey | None = None) -> list[Redact]:
        """Return what is still to be erased from the logs of all sessions, sorted, or of one."""
        redactions = sorted(self._store.snapshot().redactions.items())
        return [redact for key, redact in redactions if session in (None, key)]

    def drop_vectors(self, key: str, value: str) -> int:
        """Drop every vector and set `key`, in one transaction; return how many need new ones."""
        with self._store.transaction() as tables:
            for row in list(tables.facts.values()):
                tables.facts[row.fact.id] = replace(row, vectors=None, refused=False)
            for place, item in tables.items.items():
                tables.items[place] = replace(item, vectors={}, waiting=bool(item.item.index))
            tables.meta[key] = value
        return sum(row.waiting for row in tables.facts.values())

    def accept(self) -> None:
        """Do nothing: no ledger of an earlier process can be older."""

    def damage(self) -> list[str]:
        """Return nothing: there is no file to be damaged."""
        self._store.snapshot()
        return []

    def _unerased(self, user_id: str | None) -> list[Row]:
        rows = self._store.snapshot().of(user_id)
        return [row for row in rows if not row.kept and row.fact.content]
