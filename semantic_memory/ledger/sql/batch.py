"""The writer of one transaction's changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

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
    Unquote,
    Update,
    Weigh,
    Write,
)
from semantic_memory.domain.facts import Fact, Status
from semantic_memory.ledger import rules
from semantic_memory.ledger.sql import events, item_writing
from semantic_memory.ledger.sql.dialect import Dialect
from semantic_memory.ledger.sql.lines import lines_of
from semantic_memory.ledger.sql.part import Database
from semantic_memory.ledger.sql.rows import (
    FACT,
    FactRow,
    from_fact,
    from_vectors,
    maybe_micros,
    micros,
    to_body,
    to_fact,
    to_old_fact,
)

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
_INSERT = f"INSERT INTO facts ({', '.join(_COLUMNS)}) VALUES ({_MARKS}) RETURNING num"
_UPDATE = f"UPDATE facts SET ({', '.join(_COLUMNS)}) = ({_MARKS}) WHERE user_id = ? AND num = ?"


class Texts(Protocol):
    """The full-text indexes."""

    def write(self, db: Database, num: int, fact: Fact) -> None:
        """Index the words of a new fact."""
        ...

    def follow(self, db: Database, num: int, old: Fact, new: Fact) -> None:
        """Index the words of a changed fact, if they changed."""
        ...


class _Stored(NamedTuple):
    """A fact as it is stored, and what led to this version."""

    fact: Fact
    num: int
    changed_at: int
    action: str
    reason: str
    embedded: int


class Batch:
    """Writes the changes of one transaction; a change of a fact takes its user's next revision."""

    def __init__(
        self, dialect: Dialect, texts: Texts, revisions: Mapping[str, int] = MappingProxyType({})
    ) -> None:
        """Begin with the `revisions` of users that have been read already."""
        self.changes = 0
        """Number of revisions taken."""
        self.revisions = dict(revisions)
        """The latest revision of every user with a change."""
        self._dialect = dialect
        self._texts = texts
        self._own = dialect.own

    def write(self, db: Database, change: Change) -> bool:
        """Write a change; return True if it had an effect."""
        match change:
            case Add(fact, vectors):
                return self._add(db, fact, vectors)
            case Update() | Forget() | Cut() | EraseReasons() | Unquote():
                return self._replace(db, change)
            case Evict():
                return self._evict(db, change)
            case Touch():
                return self._touch(db, change)
            case Embed():
                return self._embed(db, change)
            case Keyed() | Weigh():
                return self._write_beside(db, change)
            case Write() | Retire() | EraseLines():
                return lines_of(self._dialect).write(db, change)
            case PutItem() | DropItem() | RefreshItems() | EmbedItem() | EraseItems():
                return item_writing.write(db, self._dialect, change)
            case Mark() | Advance() | Extracted() | Redact() | Redacted():
                return _write_progress(db, change)

    def _replace(
        self, db: Database, change: Update | Forget | Cut | EraseReasons | Unquote
    ) -> bool:
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
            case Unquote():
                return self._unquote(db, change)

    def _next(self, db: Database, user_id: str) -> int:
        latest = self.revisions.get(user_id)
        if latest is None:
            query = f"SELECT revision FROM users WHERE user_id = ?{self._dialect.locking}"
            (latest,) = db.execute(query, (user_id,)).fetchone() or (0,)
        self.revisions[user_id] = latest + 1
        self.changes += 1
        return latest + 1

    def _add(self, db: Database, fact: Fact, vectors: FactVectors | None) -> bool:
        if db.execute("SELECT 1 FROM facts WHERE id = ?", (fact.id,)).fetchone():
            return False
        state = ("added", "", micros(fact.recorded_at), None, int(vectors is not None))
        values = (*from_fact(fact), *state, self._next(db, fact.user_id))
        [(num,)] = db.execute(_INSERT, values).fetchall()
        self._texts.write(db, num, fact)
        if vectors is not None:
            self._write_vectors(db, fact.user_id, num, vectors)
        events.note(db, events.Event(num, None, fact, "added", fact.recorded_at))
        return True

    def _update(self, db: Database, change: Update) -> bool:
        return self._put(db, _stored(db, change.fact.id), change)

    def _put(self, db: Database, stored: _Stored, change: Update) -> bool:
        """Put the new state of a fact in place of the stored one, which becomes a version."""
        old, num, changed_at, action, reason, embedded = stored
        new = rules.updated(old, change)
        key = self._own.values(old.user_id, num)
        db.execute(
            f"INSERT INTO versions ({self._own.columns}, version, at, action, reason, snapshot)"
            f" VALUES ({self._own.marks}, ?, ?, ?, ?, ?)",
            (*key, old.version, changed_at, action, reason, old.model_dump_json()),
        )
        if old.text != new.text:
            embedded = 0
            db.execute(f"DELETE FROM vectors WHERE {self._own.condition}", key)
        state = (change.action, change.reason, micros(change.at), change.by, embedded)
        revision = self._next(db, new.user_id)
        db.execute(_UPDATE, (*from_fact(new), *state, revision, old.user_id, num))
        lines_of(self._dialect).follow(db, old, new, change.at)
        self._texts.follow(db, num, old, new)
        events.note(db, events.Event(num, old, new, change.action, change.at))
        return True

    def _forget(self, db: Database, change: Forget) -> bool:
        stored = _stored(db, change.fact_id)
        return self._put(db, stored, rules.forgetting(stored.fact, change))

    def _cut(self, db: Database, change: Cut) -> bool:
        stored = _stored(db, change.fact_id)
        old, num = stored.fact, stored.num
        if old.status is Status.FORGOTTEN:
            raise rules.unknown(change.fact_id)
        if old.content == change.content:
            return False
        gone = old.model_copy(update={"status": Status.FORGOTTEN})
        lines_of(self._dialect).follow(db, old, gone, change.at)
        self._put(db, stored, rules.cutting(old, change))
        key = self._own.values(old.user_id, num)
        db.execute(f"DELETE FROM versions WHERE {self._own.condition}", key)
        db.execute(
            "INSERT INTO cuts (num, user_id) VALUES (?, ?) ON CONFLICT DO NOTHING",
            (num, old.user_id),
        )
        return True

    def _unquote(self, db: Database, change: Unquote) -> bool:
        """Rewrite the states that quote a statement in place: what they say of the fact stays."""
        own, given = self._own, (change.user_id,)
        citing = self._dialect.holds("f.detail", "'\"newer\"'")
        present = db.execute(
            f"SELECT {FACT}, f.num FROM facts f WHERE f.user_id = ? AND {citing}", given
        ).fetchall()
        citing = self._dialect.holds("v.snapshot", '\'"newer":"\'')
        past = db.execute(
            "SELECT f.num, v.version, v.snapshot FROM facts f"
            f" JOIN versions v ON {self._dialect.same('v', 'f')} WHERE f.user_id = ? AND {citing}",
            given,
        ).fetchall()
        effect = False
        for *columns, num in present:
            fact = to_fact(FactRow._make(columns))
            if (new := rules.unquoted(fact, change.newer)) is not fact:
                db.execute(
                    "UPDATE facts SET detail = ?, reason = '', revision = ?"
                    " WHERE user_id = ? AND num = ?",
                    (
                        *(from_fact(new).detail, self._next(db, change.user_id)),
                        *(change.user_id, num),
                    ),
                )
                effect = True
        for num, version, snapshot in past:
            fact = to_old_fact(snapshot)
            if (new := rules.unquoted(fact, change.newer)) is not fact:
                db.execute(
                    "UPDATE versions SET snapshot = ?, reason = ''"
                    f" WHERE {own.condition} AND version = ?",
                    (new.model_dump_json(), *own.values(change.user_id, num), version),
                )
                effect = True
        return effect

    def _evict(self, db: Database, change: Evict) -> bool:
        held = "f.user_id = ? AND f.category <> 'conversation' AND f.status = 'active'"
        query = f"SELECT count(*) FROM facts f WHERE {held}"
        (number,) = db.execute(query, (change.user_id,)).fetchone()
        if number > change.cap:
            rows = db.execute(
                f"SELECT {FACT} FROM facts f WHERE {held} AND NOT {self._dialect.is_pinned}"
                f" AND f.id <> ? ORDER BY f.confidence, {self._dialect.stated_at}, f.num LIMIT ?",
                (change.user_id, change.sparing or "", number - change.cap),
            ).fetchall()
            for row in rows:
                self._update(db, rules.archiving(to_fact(FactRow._make(row)), change))
        return False

    def _touch(self, db: Database, change: Touch) -> bool:
        found = _kept(db, change.fact_id)
        if found is None:
            return False
        num, user_id = found
        used = maybe_micros(change.used_at)
        last = self._dialect.greater("coalesce(last_used_at, ?)", "coalesce(?, last_used_at)")
        db.execute(
            "UPDATE facts SET confidence = coalesce(?, confidence), use_count = use_count + ?,"
            f" last_used_at = {last}, revision = ? WHERE user_id = ? AND num = ?",
            (
                *(change.confidence, int(used is not None), used, used),
                *(self._next(db, user_id), user_id, num),
            ),
        )
        return True

    def _embed(self, db: Database, change: Embed) -> bool:
        found = _kept(db, change.fact_id, "content", "body")
        if found is None:
            return False
        num, user_id, content, body = found
        if whole_text(content, to_body(body)) != change.text:
            return False
        if change.vectors is None:
            query = "UPDATE facts SET embedded = -1 WHERE user_id = ? AND num = ? AND embedded <> 1"
            return db.execute(query, (user_id, num)).rowcount > 0
        self._write_vectors(db, user_id, num, change.vectors)
        query = "UPDATE facts SET embedded = 1, revision = ? WHERE user_id = ? AND num = ?"
        db.execute(query, (self._next(db, user_id), user_id, num))
        return True

    def _write_vectors(self, db: Database, user_id: str, num: int, vectors: FactVectors) -> None:
        own = self._own
        db.execute(
            f"INSERT INTO vectors ({own.columns}, windows, sentences, data)"
            f" VALUES ({own.marks}, ?, ?, ?) ON CONFLICT ({own.columns}) DO UPDATE SET"
            " windows = excluded.windows, sentences = excluded.sentences, data = excluded.data",
            (*own.values(user_id, num), *from_vectors(vectors)),
        )

    def _write_beside(self, db: Database, change: Keyed | Weigh) -> bool:
        """Write what is derived from a fact and isn't part of it."""
        found = _kept(db, change.fact_id)
        if found is None:
            return False
        num, user_id = found
        if isinstance(change, Weigh):
            query = "UPDATE facts SET retention = ?, recency = ? WHERE user_id = ? AND num = ?"
            db.execute(query, (change.retention, change.recency, user_id, num))
            return True
        own = self._own
        key = own.values(user_id, num)
        db.execute(f"DELETE FROM claim_keys WHERE {own.condition}", key)
        db.executemany(
            "INSERT INTO claim_keys (user_id, key, num) VALUES (?, ?, ?)",
            [(user_id, one, num) for one in sorted(change.keys)],
        )
        return True


def _erase_reasons(db: Database, user_id: str) -> bool:
    condition = "user_id = ? AND status = 'forgotten' AND reason <> ''"
    return db.execute(f"UPDATE facts SET reason = '' WHERE {condition}", (user_id,)).rowcount > 0


def _stored(db: Database, fact_id: str) -> _Stored:
    """Return a fact in any status. Raises NotFoundError."""
    further = ", ".join(f"f.{name}" for name in _Stored._fields[1:])
    query = f"SELECT {FACT}, {further} FROM facts f WHERE f.id = ?"
    row = db.execute(query, (fact_id,)).fetchone()
    if row is None:
        raise rules.unknown(fact_id)
    columns = len(FactRow._fields)
    return _Stored(to_fact(FactRow._make(row[:columns])), *row[columns:])


def _kept(db: Database, fact_id: str, *columns: str) -> tuple[Any, ...] | None:
    """Return the number, the user and further columns of a fact that isn't forgotten."""
    chosen = ", ".join(("num", "user_id", *columns))
    query = f"SELECT {chosen} FROM facts WHERE id = ? AND status <> 'forgotten'"
    found: tuple[Any, ...] | None = db.execute(query, (fact_id,)).fetchone()
    return found


def _write_progress(db: Database, change: Mark | Advance | Extracted | Redact | Redacted) -> bool:
    match change:
        case Extracted():
            events.note_extraction(db, change)
        case Redact(user_id, session_id, message_ids):
            db.executemany(
                "INSERT INTO redactions (user_id, session_id, message_id) VALUES (?, ?, ?)"
                " ON CONFLICT DO NOTHING",
                [(user_id, session_id, one) for one in sorted(message_ids) or [""]],
            )
        case Redacted(user_id, session_id):
            db.execute(
                "DELETE FROM redactions WHERE user_id = ? AND session_id = ?",
                (user_id, session_id),
            )
        case Mark(job, user_id, revision, at):
            db.execute(
                "INSERT INTO marks (job, user_id, revision, at) VALUES (?, ?,"
                " coalesce(?, (SELECT revision FROM users WHERE user_id = ?), 0), ?)"
                " ON CONFLICT (job, user_id) DO UPDATE"
                " SET revision = excluded.revision, at = excluded.at",
                (job, user_id, revision, user_id, micros(at)),
            )
        case Advance(cursor):
            db.execute(
                'INSERT INTO cursors (user_id, session_id, stage, position, "offset", message_id)'
                " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (user_id, session_id, stage) DO UPDATE"
                ' SET position = excluded.position, "offset" = excluded."offset",'
                " message_id = excluded.message_id",
                astuple(cursor),
            )
    return True
