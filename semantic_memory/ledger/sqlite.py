"""The ledger on SQLite: `apply` writes, everything else reads.

Every change takes the next revision number. What changed after a revision can be asked for, so the
vector index and the in-memory partitions follow by remembering one number each; that number and the
rows behind it are the outbox.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import stamina

from semantic_memory.concurrency import Contended
from semantic_memory.domain.changes import (
    Change,
    Cursor,
    Matrix,
    Stage,
)
from semantic_memory.domain.errors import NotFoundError, StoreCorruptError, StoreUnavailableError
from semantic_memory.domain.events import Event
from semantic_memory.domain.facts import Category, Fact, FactVersion, Status
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.messages import SessionInfo, SessionKey
from semantic_memory.domain.ports import Belief, Delta, IndexEntry, Match, Outbox, Pending, TraitRow
from semantic_memory.domain.profile import Layer, Line
from semantic_memory.domain.reports import JobRun
from semantic_memory.ledger import lines, rows
from semantic_memory.ledger.batch import Batch, erase
from semantic_memory.ledger.connections import Connections

_TRIES = 3
_PAUSE_SECONDS = 0.02  # before the second try, twice that before the third
_MOST_ROWS = 2**63 - 1
_MOST_RUNS = 1_000
_KNOWN = "f.status <> 'forgotten'"
_SCAN_BATCH = 2_000
_CHUNK = 500  # ids bound to one statement; SQLite's own limit is far above
_BELIEFS = (
    f"SELECT {rows.FACT}, v.windows, v.sentences, v.data, f.revision FROM facts f"
    " JOIN vectors v ON v.num = f.num WHERE f.user_id = ? AND f.status = 'active'"
    " AND f.category <> 'conversation' AND f.embedded = 1"
)


Value = TypeVar("Value", str, bytes)


def _ignore(event: Event) -> None:
    del event


class SqliteLedger:
    """The `Ledger` on one SQLite file, for many threads of one process."""

    def __init__(self, path: Path, observe: Callable[[Event], None] = _ignore) -> None:
        self._path = path
        self._connections = Connections(path)
        self._lock = Contended("ledger", threading.RLock(), observe)
        self._revisions: dict[str, int] = {}
        with self._connections.snapshot() as db:
            (latest,) = db.execute("SELECT coalesce(max(revision), 0) FROM facts").fetchone()
        self._revision: int = latest

    # ---------------------------------------------------------------- writing

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Held while reading and then writing what follows from it; other writers wait."""
        with self._lock:
            yield

    def apply(self, changes: Sequence[Change]) -> int:
        """Commit all of `changes`, durably, or none; returns how many had an effect.

        Tried three times if the disk refuses.
        """
        if not changes:
            return 0
        for attempt in stamina.retry_context(
            on=StoreUnavailableError, attempts=_TRIES, wait_initial=_PAUSE_SECONDS, wait_jitter=0.0
        ):
            with attempt:
                return self._apply(changes)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _apply(self, changes: Sequence[Change]) -> int:
        with self._lock:
            batch = Batch(self._revision)
            with self._connections.transaction() as db:
                effects = sum(batch.write(db, change) for change in changes)
            self._revision = batch.revision
            self._revisions.update(batch.touched)
        return effects

    # ---------------------------------------------------------------- reading

    def get(self, fact_ids: Sequence[str], user_id: str | None = None) -> list[Fact]:
        """Facts that are known, not forgotten and this user's, in the order asked for."""
        found: dict[str, Fact] = {}
        with self._connections.snapshot() as db:
            for chunk, marks in _chunks(fact_ids):
                query, values = _of_user(
                    f"SELECT {rows.FACT} FROM facts f WHERE f.id IN ({marks}) AND {_KNOWN}",
                    tuple(chunk),
                    user_id,
                )
                found.update((row[0], rows.to_fact(row)) for row in db.execute(query, values))
        return [found[fact_id] for fact_id in fact_ids if fact_id in found]

    def known(self, fact_ids: Sequence[str]) -> set[str]:
        """Which of these ids have ever been written, forgotten ones included."""
        found: set[str] = set()
        with self._connections.snapshot() as db:
            for chunk, marks in _chunks(fact_ids):
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
    ) -> list[Fact]:
        """Facts that pass `filters`, newest first, from the one behind id `after`."""
        condition, values = rows.where(user_id, filters, status)
        with self._connections.snapshot() as db:
            if after is not None:
                anchor = db.execute(
                    "SELECT created_at, num FROM facts WHERE id = ? AND user_id = ?",
                    (after, user_id),
                ).fetchone()
                if anchor is None:
                    raise NotFoundError(f"no memory {after!r} to continue from")
                condition += " AND (f.created_at, f.num) < (?, ?)"
                values += anchor
            query = (
                f"SELECT {rows.FACT} FROM facts f WHERE {condition}"
                " ORDER BY f.created_at DESC, f.num DESC LIMIT ?"
            )
            found = db.execute(query, [*values, -1 if limit is None else min(limit, _MOST_ROWS)])
            return [rows.to_fact(row) for row in found]

    def replaced(self, fact_id: str, user_id: str) -> list[Fact]:
        """The facts that this one superseded or took in, oldest first."""
        query = (
            f"SELECT {rows.FACT} FROM facts f WHERE f.superseded_by = ? AND +f.user_id = ?"
            " AND +f.status IN ('superseded', 'archived') ORDER BY f.created_at, f.num"
        )
        with self._connections.snapshot() as db:
            return [rows.to_fact(row) for row in db.execute(query, (fact_id, user_id))]

    def ids(
        self,
        user_id: str,
        *,
        tag: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        session_id: str | None = None,
    ) -> list[str]:
        """Ids of every memory of a user that isn't forgotten, whatever its status, narrowed."""
        condition, values = rows.narrowed(
            user_id, () if tag is None else (tag,), since, until, session_id
        )
        with self._connections.snapshot() as db:
            query = f"SELECT f.id FROM facts f WHERE {condition} AND {_KNOWN} ORDER BY f.num"
            return [fact_id for (fact_id,) in db.execute(query, values)]

    def session_ids(self, user_id: str) -> list[str]:
        """The user's sessions of which something has ever been remembered."""
        with self._connections.snapshot() as db:
            query = "SELECT DISTINCT session_id FROM cursors WHERE user_id = ? ORDER BY 1"
            return [session_id for (session_id,) in db.execute(query, (user_id,))]

    def session_infos(self, user_id: str) -> list[SessionInfo]:
        """What is remembered of each of a user's sessions, newest first; sizes left at 0."""
        found: dict[str, dict[str, int]] = {}
        spans: dict[str, tuple[int, int, int, int]] = {}
        with self._connections.snapshot() as db:
            query = (
                "SELECT f.session_id, f.category, count(*), min(f.created_at), max(f.created_at),"
                " min(f.recorded_at), max(max(f.recorded_at, coalesce(f.last_used_at, 0)))"
                f" FROM facts f WHERE f.user_id = ? AND f.session_id IS NOT NULL AND {_KNOWN}"
                " GROUP BY f.session_id, f.category"
            )
            for session_id, category, number, *span in db.execute(query, (user_id,)):
                found.setdefault(session_id, {})[category] = number
                first, last, made, seen = span
                start, end, new, old = spans.get(session_id, span)
                spans[session_id] = (
                    min(start, first),
                    max(end, last),
                    min(new, made),
                    max(old, seen),
                )
        infos = [
            SessionInfo(
                session_id=session_id,
                messages=numbers.get(Category.CONVERSATION, 0),
                first_at=rows.moment(spans[session_id][0]),
                last_at=rows.moment(spans[session_id][1]),
                created_at=rows.moment(spans[session_id][2]),
                last_accessed_at=rows.moment(spans[session_id][3]),
                by_category=numbers,
                log_bytes=0,
            )
            for session_id, numbers in found.items()
        ]
        return sorted(infos, key=lambda info: (info.last_at, info.session_id), reverse=True)

    def matching(self, user_id: str, filters: Filters, limit: int) -> list[str]:
        """Ids of at most `limit` facts that pass `filters`, in no order."""
        condition, values = rows.where(user_id, filters)
        with self._connections.snapshot() as db:
            query = f"SELECT f.id FROM facts f WHERE {condition} LIMIT ?"
            return [fact_id for (fact_id,) in db.execute(query, [*values, limit])]

    def beliefs(self, user_id: str, *, since: int = 0, limit: int | None = None) -> list[Belief]:
        """The user's active facts that have vectors, verbatim messages aside.

        Only those changed after revision `since`, and at most `limit`.
        """
        with self._connections.snapshot() as db:
            found = db.execute(
                f"{_BELIEFS} AND f.revision > ? LIMIT ?",
                (user_id, since, -1 if limit is None else limit),
            ).fetchall()
        return [_to_belief(row) for row in found]

    def beliefs_among(
        self, user_id: str, fact_ids: Collection[str], keys: Collection[bytes]
    ) -> list[Belief]:
        """Of `beliefs`, those with one of these ids or one of these keys (see `Keyed`)."""
        found: dict[int, tuple[Any, ...]] = {}
        with self._connections.snapshot() as db:
            for chunk, marks in _chunks(list(fact_ids)):
                query = f"{_BELIEFS} AND f.id IN ({marks})"
                found.update((row[-1], row) for row in db.execute(query, (user_id, *chunk)))
            for some, marks in _chunks(list(keys)):
                query = (
                    f"{_BELIEFS} AND f.num IN"
                    f" (SELECT num FROM claim_keys WHERE user_id = ? AND key IN ({marks}))"
                )
                found.update((row[-1], row) for row in db.execute(query, (user_id, user_id, *some)))
        return [_to_belief(row) for row in found.values()]

    def pending(
        self, job: str, user_id: str | None = None, *, everyone: bool = False
    ) -> list[Pending]:
        """Users whose memories changed since the job's mark, or this one if they did."""
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
            Pending(user, revision, seen, None if at is None else rows.moment(at))
            for user, revision, seen, at in found
        ]

    def sessions_with_forgotten(self, user_id: str | None = None) -> list[SessionKey]:
        """Sessions of which a message is forgotten and not erased."""
        query, values = _of_user(
            "SELECT DISTINCT user_id, session_id FROM facts WHERE status = 'forgotten'"
            " AND content <> '' AND category = 'conversation' AND session_id IS NOT NULL",
            (),
            user_id,
        )
        with self._connections.snapshot() as db:
            return [SessionKey(*row) for row in db.execute(query + " ORDER BY 1, 2", values)]

    def forgotten(self, user_id: str | None = None) -> list[str]:
        """Ids of memories that are forgotten and not erased."""
        query, values = _of_user(
            "SELECT id FROM facts WHERE status = 'forgotten' AND content <> ''", (), user_id
        )
        with self._connections.snapshot() as db:
            return [fact_id for (fact_id,) in db.execute(query, values)]

    def erase(self, user_id: str | None = None) -> int:
        """Make forgetting permanent: no text of what was forgotten stays in any page or version."""
        ids = self.forgotten(user_id)
        with self._lock:
            with self._connections.transaction() as db:
                for chunk, marks in _chunks(ids):
                    nums = [
                        num
                        for (num,) in db.execute(
                            f"SELECT num FROM facts WHERE id IN ({marks})", tuple(chunk)
                        )
                    ]
                    erase(db, nums)
                if ids:  # deleted words stay in their segments until these are merged
                    db.execute("INSERT INTO words (words) VALUES ('optimize')")
            self._connections.checkpoint()
        return len(ids)

    def lines(self, user_id: str, as_of: datetime | None = None) -> list[Line]:
        """The profile and history that stand, or stood at a time, oldest first in each layer."""
        with self._connections.snapshot() as db:
            return lines.read(db, *lines.standing(user_id, as_of), "l.layer, l.at, l.id")

    def past_lines(self, user_id: str, layer: Layer) -> list[Line]:
        """Every line that stands or stood in a layer, in the order in which they came."""
        condition = "l.user_id = ? AND l.layer = ?"
        with self._connections.snapshot() as db:
            return lines.read(db, condition, (user_id, layer), "l.valid_from, l.num")

    def record_run(self, run: JobRun) -> None:
        """Keep what a job did; old ones make room."""
        with self._lock, self._connections.transaction() as db:
            db.execute(
                "INSERT INTO runs (job, started_at, record) VALUES (?, ?, ?)",
                (run.job, rows.micros(run.started_at), run.model_dump_json()),
            )
            db.execute(
                "DELETE FROM runs WHERE num <= (SELECT max(num) FROM runs) - ?", (_MOST_RUNS,)
            )

    def runs(self, limit: int) -> list[JobRun]:
        """What jobs did, the latest first."""
        with self._connections.snapshot() as db:
            query = "SELECT record FROM runs ORDER BY num DESC LIMIT ?"
            return [JobRun.model_validate_json(record) for (record,) in db.execute(query, (limit,))]

    def same_content(self, user_id: str, content: str) -> Fact | None:
        """The active fact with the same normalised content (verbatim messages aside)."""
        with self._connections.snapshot() as db:
            row = db.execute(
                f"SELECT {rows.FACT} FROM facts f WHERE f.user_id = ? AND f.content_key = ?"
                " AND f.category <> 'conversation' AND f.status = 'active' ORDER BY f.num LIMIT 1",
                (user_id, rows.content_key(content)),
            ).fetchone()
        return None if row is None else rows.to_fact(row)

    def history(self, fact_id: str, user_id: str | None = None) -> list[FactVersion]:
        """Every state of a fact, oldest first."""
        query, values = _of_user(
            f"SELECT {rows.FACT}, f.num, f.changed_at, f.action, f.reason FROM facts f"
            " WHERE f.id = ?",
            (fact_id,),
            user_id,
        )
        with self._connections.snapshot() as db:
            row = db.execute(query, values).fetchone()
            if row is None:
                raise NotFoundError(f"no memory {fact_id!r}")
            *_, num, at, action, reason = row
            past = db.execute(
                "SELECT version, at, action, reason, snapshot FROM versions WHERE num = ?"
                " ORDER BY version",
                (num,),
            ).fetchall()
        versions = [
            FactVersion(
                version=version,
                at=rows.moment(then),
                action=did,
                reason=why,
                fact=Fact.model_validate_json(snapshot),
            )
            for version, then, did, why, snapshot in past
        ]
        fact = rows.to_fact(row)
        versions.append(
            FactVersion(
                version=fact.version, at=rows.moment(at), action=action, reason=reason, fact=fact
            )
        )
        return versions

    def count(self, user_id: str | None = None) -> int:
        """Facts that are not forgotten."""
        query = "SELECT coalesce(sum(memories), 0) FROM users"
        return self._number(*_of_user(query, (), user_id))

    def users(self) -> list[str]:
        """Every user with a memory."""
        with self._connections.snapshot() as db:
            query = "SELECT user_id FROM users WHERE memories > 0 ORDER BY user_id"
            return [user_id for (user_id,) in db.execute(query)]

    def tally(self, user_id: str | None = None) -> dict[str, int]:
        """How many facts there are by category and by status, as `category/status`."""
        query, values = _of_user("SELECT category, status, count(*) FROM facts", (), user_id)
        with self._connections.snapshot() as db:
            found = db.execute(query + " GROUP BY category, status ORDER BY 1, 2", values)
            return {f"{category}/{status}": number for category, status, number in found}

    def words(
        self, user_id: str, terms: Sequence[str], *, limit: int, filters: Filters = NO_FILTERS
    ) -> list[Match]:
        """Memories holding any of `terms`, by BM25, best first; similarity is minus FTS5's rank."""
        if not terms:
            return []
        alternatives = " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)
        condition, values = rows.where(user_id, filters)
        match = f"owner : {rows.owner_token(user_id)} AND text : ({alternatives})"
        with self._connections.snapshot() as db:
            # The owner's token narrows the match; the user's id decides.
            query = (
                "SELECT f.id, -bm25(words, 0.0, 1.0) AS score"
                " FROM words JOIN facts f ON f.num = words.rowid"
                f" WHERE words MATCH ? AND {condition} ORDER BY score DESC LIMIT ?"
            )
            return [Match(*row) for row in db.execute(query, (match, *values, limit))]

    # ---------------------------------------------------------------- following

    def revision(self, user_id: str | None = None) -> int:
        """Number of the latest change, of one user or of all; 0 before any."""
        if user_id is None:
            return self._revision
        known = self._revisions.get(user_id)
        if known is None:
            with self._lock:
                known = self._number(
                    "SELECT coalesce(max(revision), 0) FROM facts WHERE user_id = ?", (user_id,)
                )
                if known:  # whoever asks about users that don't exist must not fill the memory
                    self._revisions[user_id] = known
        return known

    def delta(self, user_id: str, since: int, limit: int = _MOST_ROWS) -> Delta:
        """The first `limit` changes for a user after revision `since`."""
        with self._connections.snapshot() as db:
            found = db.execute(
                f"SELECT {rows.TRAIT_COLUMNS}, f.revision FROM facts f"
                " LEFT JOIN vectors v ON v.num = f.num"
                " WHERE f.user_id = ? AND f.revision > ? ORDER BY f.revision LIMIT ?",
                (user_id, since, limit),
            ).fetchall()
        gone = [row[0] for row in found if row[7] == Status.FORGOTTEN]
        kept = [rows.to_trait(row) for row in found if row[7] != Status.FORGOTTEN]
        return Delta(revision=found[-1][-1] if found else since, rows=kept, removed=gone)

    def traits(self, fact_ids: Sequence[str]) -> list[TraitRow]:
        """The ranking columns of some memories."""
        found: list[TraitRow] = []
        with self._connections.snapshot() as db:
            for chunk, marks in _chunks(fact_ids):
                query = (
                    f"SELECT {rows.TRAIT_COLUMNS} FROM facts f LEFT JOIN vectors v ON v.num = f.num"
                    f" WHERE f.id IN ({marks}) AND f.status <> 'forgotten'"
                )
                found.extend(rows.to_trait(row) for row in db.execute(query, chunk))
        return found

    def neighbours(self, fact_ids: Sequence[str]) -> list[str]:
        """Ids of the memories one place before or behind these in their sessions."""
        found: dict[str, None] = {}
        with self._connections.snapshot() as db:
            for chunk, marks in _chunks(fact_ids):
                query = f"""
                    SELECT n.id FROM facts f JOIN facts n INDEXED BY facts_by_place
                    ON n.user_id = f.user_id AND n.session_id = f.session_id
                       AND n.position BETWEEN f.position - 1 AND f.position + 1
                    WHERE f.id IN ({marks}) AND n.status <> 'forgotten'"""
                found.update(dict.fromkeys(row[0] for row in db.execute(query, chunk)))
        return list(found)

    def similarities(
        self, vector: Matrix, user_id: str, filters: Filters, since: int = 0
    ) -> Iterator[list[Match]]:
        """Cosine of `vector` to the nearest window of every memory that passes, in batches.

        Only of those changed after revision `since`.
        """
        condition, values = rows.where(user_id, filters)
        with self._connections.snapshot() as db:
            found = db.execute(
                "SELECT f.id, v.windows, v.sentences, v.data FROM facts f"
                " JOIN vectors v ON v.num = f.num"
                f" WHERE f.embedded = 1 AND f.revision > ? AND {condition}",
                (since, *values),
            )
            while batch := found.fetchmany(_SCAN_BATCH):
                yield [
                    Match(fact_id, float((rows.to_vectors(*stored).windows @ vector).max()))
                    for fact_id, *stored in batch
                ]

    def changed(self, user_id: str, since: int, limit: int, *, messages: bool = True) -> set[str]:
        """Ids of at most `limit` of a user's memories that changed after revision `since`.

        Forgotten ones are among them; verbatim messages are, or aren't.
        """
        facts = "" if messages else " AND category <> 'conversation'"
        with self._connections.snapshot() as db:
            query = f"SELECT id FROM facts WHERE user_id = ? AND revision > ?{facts} LIMIT ?"
            return {fact_id for (fact_id,) in db.execute(query, (user_id, since, limit))}

    def footprint(self, user_id: str) -> tuple[int, int]:
        """How many memories a user has, and the bytes of their texts and vectors."""
        with self._connections.snapshot() as db:
            number, size = db.execute(
                "SELECT count(*), coalesce(sum(length(f.content) + coalesce(length(v.data), 0)), 0)"
                " FROM facts f LEFT JOIN vectors v ON v.num = f.num"
                " WHERE f.user_id = ? AND f.status <> 'forgotten'",
                (user_id,),
            ).fetchone()
        return number, size

    def count_unembedded(self) -> int:
        """Memories without vectors."""
        query = "SELECT count(*) FROM facts WHERE embedded = 0 AND status <> 'forgotten'"
        return self._number(query, ())

    def embedded_ids(self) -> set[str]:
        """Ids of every memory that an index should hold."""
        with self._connections.snapshot() as db:
            query = "SELECT id FROM facts WHERE embedded = 1 AND status <> 'forgotten'"
            return {fact_id for (fact_id,) in db.execute(query)}

    def held_at(self, revision: int) -> tuple[int, int]:
        """How many memories an index at `revision` must hold at least, and may hold at most."""
        with self._connections.snapshot() as db:
            least, later = db.execute(
                "SELECT count(*) FILTER (WHERE revision <= ?1 AND embedded = 1"
                " AND status <> 'forgotten'), count(*) FILTER (WHERE revision > ?1) FROM facts",
                (revision,),
            ).fetchone()
        return least, least + later

    def document_frequencies(
        self, user_id: str, terms: Sequence[str]
    ) -> tuple[int, dict[str, float]]:
        """How many memories a user has, and about how many hold each of these stemmed words.

        FTS5 counts the words of all users, forgotten memories included; they are taken to be as
        frequent with this one.
        """
        own = self.count(user_id)
        with self._connections.snapshot() as db:
            (total,) = db.execute("SELECT coalesce(max(num), 1) FROM facts").fetchone()
            marks = ", ".join("?" * len(terms))
            query = f"SELECT term, doc FROM word_counts WHERE term IN ({marks})"
            return own, {term: doc * own / total for term, doc in db.execute(query, list(terms))}

    def unembedded(self, limit: int) -> list[Fact]:
        """Memories without vectors, oldest first."""
        with self._connections.snapshot() as db:
            query = (
                f"SELECT {rows.FACT} FROM facts f WHERE f.embedded = 0 AND f.status <> 'forgotten'"
                " ORDER BY f.num LIMIT ?"
            )
            return [rows.to_fact(row) for row in db.execute(query, (limit,))]

    def outbox(self, since: int, limit: int) -> Outbox:
        """The next changes that an index at revision `since` lacks, in order."""
        with self._connections.snapshot() as db:
            found = db.execute(
                f"SELECT {rows.FACT}, f.embedded, f.revision, v.windows, v.sentences, v.data"
                " FROM facts f LEFT JOIN vectors v ON v.num = f.num WHERE f.revision > ?"
                " ORDER BY f.revision LIMIT ?",
                (since, limit),
            ).fetchall()
        entries: list[IndexEntry] = []
        removed: list[str] = []
        for *row, embedded, _, windows, sentences, data in found:
            fact = rows.to_fact(tuple(row))
            if embedded == 1 and fact.status is not Status.FORGOTTEN:
                vectors = rows.to_vectors(windows, sentences, data)
                entries.append(IndexEntry(fact, vectors.windows))
            elif fact.version > 1:  # at version 1 no index can have it yet
                removed.append(fact.id)
        reached = found[-1][-4] if found else since
        return Outbox(revision=reached, entries=entries, removed=removed)

    def cursor(self, user_id: str, session_id: str, stage: Stage) -> Cursor:
        """How far a session has been taken."""
        with self._connections.snapshot() as db:
            row = db.execute(
                "SELECT position, offset, message_id FROM cursors"
                " WHERE user_id = ? AND session_id = ? AND stage = ?",
                (user_id, session_id, stage),
            ).fetchone()
        return Cursor(user_id, session_id, stage, *(row or ()))

    def cursors(self, stage: Stage) -> list[Cursor]:
        """Every session's cursor at a stage."""
        with self._connections.snapshot() as db:
            query = (
                "SELECT user_id, session_id, stage, position, offset, message_id FROM cursors"
                " WHERE stage = ?"
            )
            return [Cursor(*row) for row in db.execute(query, (stage,))]

    # ---------------------------------------------------------------- housekeeping

    def meta(self, key: str) -> str | None:
        """A value that was kept with `set_meta`."""
        with self._connections.snapshot() as db:
            row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def set_meta(self, key: str, value: str) -> None:
        """Keep a small value: the embedder's identity, how far the index has come."""
        with self._lock, self._connections.transaction() as db:
            db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (key, value))

    def drop_vectors(self, key: str, value: str) -> int:
        """Forget every vector and set `key`, in one transaction; returns how many need new ones."""
        with self._lock, self._connections.transaction() as db:
            db.execute("DELETE FROM vectors")
            db.execute("UPDATE facts SET embedded = 0 WHERE embedded <> 0")
            db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (key, value))
        return self.count_unembedded()

    def damage(self) -> list[str]:
        """What SQLite's and FTS5's own integrity checks find, in words; empty when sound."""
        try:
            with self._lock, self._connections.transaction() as db:
                found = [str(row[0]) for row in db.execute("PRAGMA integrity_check(10)")]
                db.execute("INSERT INTO words (words) VALUES ('integrity-check')")
                orphans = db.execute(
                    "SELECT count(*) FROM facts f LEFT JOIN vectors v ON v.num = f.num"
                    " WHERE f.embedded = 1 AND v.num IS NULL"
                ).fetchone()[0]
                unlisted = db.execute(
                    "SELECT (SELECT count(*) FROM facts WHERE content <> '')"
                    " - (SELECT count(*) FROM words)"
                ).fetchone()[0]
        except StoreCorruptError as error:
            return [str(error)]
        found = [line for line in found if line != "ok"]
        if orphans:
            found.append(f"{orphans} memories are marked as embedded but have no vector")
        if unlisted:
            found.append(f"the word index lacks {unlisted} memories")
        return found

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            self._connections.close()

    def _number(self, query: str, values: Iterable[Any]) -> int:
        with self._connections.snapshot() as db:
            return int(db.execute(query, tuple(values)).fetchone()[0])


def _to_belief(row: tuple[Any, ...]) -> Belief:
    *columns, windows, sentences, data, revision = row
    vectors = rows.to_vectors(windows, sentences, data)
    return Belief(rows.to_fact(tuple(columns)), vectors.windows[0], revision)


def _chunks(values: Sequence[Value]) -> Iterator[tuple[Sequence[Value], str]]:
    for start in range(0, len(values), _CHUNK):
        chunk = values[start : start + _CHUNK]
        yield chunk, ", ".join("?" * len(chunk))


def _of_user(
    query: str, values: tuple[Any, ...], user_id: str | None
) -> tuple[str, tuple[Any, ...]]:
    if user_id is None:
        return query, values
    joint = " AND" if " WHERE " in query else " WHERE"
    return f"{query}{joint} user_id = ?", (*values, user_id)
