"""The writer of one transaction's changes."""

from __future__ import annotations

from dataclasses import astuple
from sqlite3 import Connection
from typing import Any

from semantic_memory.domain.bodies import whole_text
from semantic_memory.domain.changes import (
    Add,
    Advance,
    Change,
    Cut,
    DropItem,
    Embed,
    EmbedItem,
    EraseItems,
    EraseLines,
    EraseReasons,
    Evict,
    Extracted,
    FactVectors,
    Forget,
    Keyed,
    Mark,
    PutItem,
    Redact,
    Redacted,
    RefreshItems,
    Retire,
    Touch,
    Update,
    Weigh,
    Write,
)
from semantic_memory.domain.facts import Fact, Status
from semantic_memory.ledger import rules
from semantic_memory.ledger.sqlite import events, forms, items, lines, words
from semantic_memory.ledger.sqlite.rows import (
    FACT,
    FactRow,
    from_fact,
    from_vectors,
    maybe_micros,
    micros,
    to_body,
    to_fact,
)
from semantic_memory.ledger.sqlite.where import IS_PINNED, STATED_AT

_COLUMNS = (
    *FactRow._fields,
    "action",
    "reason",
    "changed_at",
    "changed_by",
    "embedded",
    "revision",
)
_MARKS = ", ".join("?" * len(_COLUMNS))
_INSERT = f"INSERT INTO facts ({', '.join(_COLUMNS)}) VALUES ({_MARKS})"
_UPDATE = f"UPDATE facts SET ({', '.join(_COLUMNS)}) = ({_MARKS}) WHERE num = ?"


class Batch:
    """Writes the changes of one transaction; a change of a fact takes its user's next revision."""

    def __init__(self) -> None:
        self.changes = 0
        """Number of revisions taken."""
        self.revisions: dict[str, int] = {}
        """The latest revision of every user with a change."""

    def write(self, db: Connection, change: Change) -> bool:
        """Write a change; return True if it had an effect."""
        match change:
            case Add(fact, vectors):
                return self._add(db, fact, vectors)
            case Update() | Forget() | Cut() | EraseReasons():
                return self._replace(db, change)
            case Evict():
                return self._evict(db, change)
            case Touch():
                return self._touch(db, change)
            case Embed():
                return self._embed(db, change)
            case Keyed() | Weigh():
                return _write_beside(db, change)
            case Write() | Retire() | EraseLines():
                return lines.write(db, change)
            case PutItem() | DropItem() | RefreshItems() | EmbedItem() | EraseItems():
                return items.write(db, change)
            case Mark() | Advance() | Extracted() | Redact() | Redacted():
                return _write_progress(db, change)

    def _replace(self, db: Connection, change: Update | Forget | Cut | EraseReasons) -> bool:
        """Replace the state of a memory, or of several."""
        match change:
            case Update():
                return self._update(db, change)
            case Forget():
                return self._forget(db, change)
            case Cut():
                return self._cut(db, change)
            case EraseReasons(user_id):
                return _erase_reasons(db, user_id)

    def _next(self, db: Connection, user_id: str) -> int:
        latest = self.revisions.get(user_id)
        if latest is None:
            query = "SELECT revision FROM users WHERE user_id = ?"
            (latest,) = db.execute(query, (user_id,)).fetchone() or (0,)
        self.revisions[user_id] = latest + 1
        self.changes += 1
        return latest + 1

    def _add(self, db: Connection, fact: Fact, vectors: FactVectors | None) -> bool:
        if db.execute("SELECT 1 FROM facts WHERE id = ?", (fact.id,)).fetchone():
            return False
        state = ("added", "", micros(fact.recorded_at), None, vectors is not None)
        values = (*from_fact(fact), *state, self._next(db, fact.user_id))
        num = db.execute(_INSERT, values).lastrowid
        words.write(db, num, fact)
        forms.write(db, num, fact)
        if vectors is not None:
            _write_vectors(db, num, vectors)
        events.note(db, events.Event(num, None, fact, "added", fact.recorded_at))
        return True

    def _update(self, db: Connection, change: Update) -> bool:
        found = db.execute(
            f"SELECT {FACT}, f.num, f.changed_at, f.action, f.reason, f.embedded FROM facts f"
            " WHERE f.id = ?",
            (change.fact.id,),
        ).fetchone()
        if found is None:
            raise rules.unknown(change.fact.id)
        *columns, num, changed_at, action, reason, embedded = found
        old = to_fact(FactRow._make(columns))
        new = rules.updated(old, change)
        db.execute(
            "INSERT INTO versions (num, version, at, action, reason, snapshot)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (num, old.version, changed_at, action, reason, old.model_dump_json()),
        )
        if old.text != new.text:
            embedded = 0
            db.execute("DELETE FROM vectors WHERE num = ?", (num,))
        state = (change.action, change.reason, micros(change.at), change.by, embedded)
        db.execute(_UPDATE, (*from_fact(new), *state, self._next(db, new.user_id), num))
        lines.follow(db, old, new, change.at)
        words.follow(db, num, old, new)
        forms.follow(db, num, old, new)
        events.note(db, events.Event(num, old, new, change.action, change.at))
        return True

    def _forget(self, db: Connection, change: Forget) -> bool:
        query = f"SELECT {FACT} FROM facts f WHERE f.id = ?"
        row = db.execute(query, (change.fact_id,)).fetchone()
        if row is None:
            raise rules.unknown(change.fact_id)
        return self._update(db, rules.forgetting(to_fact(FactRow._make(row)), change))

    def _cut(self, db: Connection, change: Cut) -> bool:
        query = f"SELECT {FACT}, f.num FROM facts f WHERE f.id = ? AND f.status <> 'forgotten'"
        row = db.execute(query, (change.fact_id,)).fetchone()
        if row is None:
            raise rules.unknown(change.fact_id)
        *columns, num = row
        old = to_fact(FactRow._make(columns))
        if old.content == change.content:
            return False
        lines.follow(db, old, old.model_copy(update={"status": Status.FORGOTTEN}), change.at)
        self._update(db, rules.cutting(old, change))
        db.execute("DELETE FROM versions WHERE num = ?", (num,))
        db.execute("INSERT OR IGNORE INTO cuts (num, user_id) VALUES (?, ?)", (num, old.user_id))
        return True

    def _evict(self, db: Connection, change: Evict) -> bool:
        held = "f.user_id = ? AND f.category <> 'conversation' AND f.status = 'active'"
        query = f"SELECT count(*) FROM facts f WHERE {held}"
        (number,) = db.execute(query, (change.user_id,)).fetchone()
        if number > change.cap:
            rows = db.execute(
                f"SELECT {FACT} FROM facts f WHERE {held} AND NOT {IS_PINNED} AND f.id IS NOT ?"
                f" ORDER BY f.confidence, {STATED_AT}, f.num LIMIT ?",
                (change.user_id, change.sparing, number - change.cap),
            ).fetchall()
            for row in rows:
                self._update(db, rules.archiving(to_fact(FactRow._make(row)), change))
        return False

    def _touch(self, db: Connection, change: Touch) -> bool:
        found = _kept(db, change.fact_id)
        if found is None:
            return False
        num, user_id = found
        used = maybe_micros(change.used_at)
        db.execute(
            "UPDATE facts SET confidence = coalesce(?, confidence),"
            " use_count = use_count + (? IS NOT NULL),"
            " last_used_at = max(coalesce(last_used_at, ?), coalesce(?, last_used_at)),"
            " revision = ? WHERE num = ?",
            (change.confidence, used, used, used, self._next(db, user_id), num),
        )
        return True

    def _embed(self, db: Connection, change: Embed) -> bool:
        found = _kept(db, change.fact_id, "content", "body")
        if found is None:
            return False
        num, user_id, content, body = found
        if whole_text(content, to_body(body)) != change.text:
            return False
        if change.vectors is None:
            query = "UPDATE facts SET embedded = -1 WHERE num = ? AND embedded <> 1"
            return db.execute(query, (num,)).rowcount > 0
        _write_vectors(db, num, change.vectors)
        revision = self._next(db, user_id)
        db.execute("UPDATE facts SET embedded = 1, revision = ? WHERE num = ?", (revision, num))
        return True


def _erase_reasons(db: Connection, user_id: str) -> bool:
    condition = "user_id = ? AND status = 'forgotten' AND reason <> ''"
    return db.execute(f"UPDATE facts SET reason = '' WHERE {condition}", (user_id,)).rowcount > 0


def _kept(db: Connection, fact_id: str, *columns: str) -> tuple[Any, ...] | None:
    """Return the number, the user and further columns of a fact that isn't forgotten."""
    chosen = ", ".join(("num", "user_id", *columns))
    query = f"SELECT {chosen} FROM facts WHERE id = ? AND status <> 'forgotten'"
    found: tuple[Any, ...] | None = db.execute(query, (fact_id,)).fetchone()
    return found


def _write_progress(db: Connection, change: Mark | Advance | Extracted | Redact | Redacted) -> bool:
    match change:
        case Extracted():
            events.note_extraction(db, change)
        case Redact(user_id, session_id, message_ids):
            db.executemany(
                "INSERT OR IGNORE INTO redactions (user_id, session_id, message_id)"
                " VALUES (?, ?, ?)",
                [(user_id, session_id, one) for one in sorted(message_ids) or [""]],
            )
        case Redacted(user_id, session_id):
            db.execute(
                "DELETE FROM redactions WHERE user_id = ? AND session_id = ?",
                (user_id, session_id),
            )
        case Mark(job, user_id, revision, at):
            db.execute(
                "INSERT OR REPLACE INTO marks (job, user_id, revision, at) VALUES (?1, ?2,"
                " coalesce(?3, (SELECT revision FROM users WHERE user_id = ?2), 0), ?4)",
                (job, user_id, revision, micros(at)),
            )
        case Advance(cursor):
            db.execute(
                "INSERT OR REPLACE INTO cursors"
                " (user_id, session_id, stage, position, offset, message_id)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                astuple(cursor),
            )
    return True


def _write_beside(db: Connection, change: Keyed | Weigh) -> bool:
    """Write what is derived from a fact and is no part of it."""
    found = _kept(db, change.fact_id)
    if found is None:
        return False
    num, user_id = found
    if isinstance(change, Weigh):
        query = "UPDATE facts SET retention = ?, recency = ? WHERE num = ?"
        db.execute(query, (change.retention, change.recency, num))
        return True
    db.execute("DELETE FROM claim_keys WHERE num = ?", (num,))
    db.executemany(
        "INSERT INTO claim_keys (user_id, key, num) VALUES (?, ?, ?)",
        [(user_id, key, num) for key in sorted(change.keys)],
    )
    return True


def _write_vectors(db: Connection, num: int | None, vectors: FactVectors) -> None:
    db.execute(
        "INSERT OR REPLACE INTO vectors (num, windows, sentences, data) VALUES (?, ?, ?, ?)",
        (num, *from_vectors(vectors)),
    )
