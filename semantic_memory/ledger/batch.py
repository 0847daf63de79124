"""How changes are written, inside a transaction."""

from __future__ import annotations

from collections.abc import Sequence
from sqlite3 import Connection

from semantic_memory.domain.changes import (
    Add,
    Advance,
    Change,
    Embed,
    EraseLines,
    FactVectors,
    Forget,
    Keyed,
    Mark,
    Retire,
    Touch,
    Update,
    Write,
)
from semantic_memory.domain.errors import ConcurrentUpdateError, NotFoundError
from semantic_memory.domain.facts import Fact, Status
from semantic_memory.domain.text import lexical_text
from semantic_memory.ledger import lines, rows

_INSERT = (
    f"INSERT INTO facts ({rows.FACT_COLUMNS}, action, reason, changed_at, embedded,"
    f" revision) VALUES ({', '.join('?' * 29)})"
)
_UPDATE = (
    "UPDATE facts SET ("
    + rows.FACT_COLUMNS
    + ", action, reason, changed_at, embedded, revision) = ("
    + ", ".join("?" * 29)
    + ") WHERE num = ?"
)


class Batch:
    """The writing of one transaction's changes, which take the revisions after `revision`."""

    def __init__(self, revision: int) -> None:
        self.revision = revision
        self.touched: dict[str, int] = {}
        """The latest revision of every user with a change."""

    def _next(self, user_id: str) -> int:
        self.revision += 1
        self.touched[user_id] = self.revision
        return self.revision

    def write(self, db: Connection, change: Change) -> bool:
        """Write a change; returns whether it had an effect."""
        match change:
            case Add(fact, vectors):
                return self._add(db, fact, vectors)
            case Update():
                return self._update(db, change)
            case Forget():
                return self._forget(db, change)
            case Touch():
                return self._touch(db, change)
            case Embed():
                return self._embed(db, change)
            case Keyed():
                return self._key(db, change)
            case Write() | Retire() | EraseLines():
                return lines.apply(db, change)
            case Mark(job, user_id, revision, at):
                db.execute(
                    "INSERT OR REPLACE INTO marks (job, user_id, revision, at) VALUES (?, ?, ?, ?)",
                    (job, user_id, revision, rows.micros(at)),
                )
                return True
            case Advance(cursor):
                db.execute(
                    "INSERT OR REPLACE INTO cursors"
                    " (user_id, session_id, stage, position, offset, message_id)"
                    " VALUES (?, ?, ?, ?, ?, ?)",
                    (
                        cursor.user_id,
                        cursor.session_id,
                        cursor.stage,
                        cursor.position,
                        cursor.offset,
                        cursor.message_id,
                    ),
                )
                return True

    def _add(self, db: Connection, fact: Fact, vectors: FactVectors | None) -> bool:
        if db.execute("SELECT 1 FROM facts WHERE id = ?", (fact.id,)).fetchone():
            return False
        revision = self._next(fact.user_id)
        at = rows.micros(fact.recorded_at)
        num = db.execute(
            _INSERT, (*rows.from_fact(fact), "added", "", at, vectors is not None, revision)
        ).lastrowid
        _write_words(db, num, fact)
        if vectors is not None:
            _write_vectors(db, num, vectors)
        return True

    def _update(self, db: Connection, change: Update) -> bool:
        fact = change.fact
        row = db.execute(
            f"SELECT {rows.FACT}, f.num, f.changed_at, f.action, f.reason, f.embedded FROM facts f"
            " WHERE f.id = ?",
            (fact.id,),
        ).fetchone()
        if row is None:
            raise NotFoundError(f"no memory {fact.id!r}")
        *columns, num, changed_at, did, why, embedded = row
        old = rows.to_fact(tuple(columns))
        if old.status is Status.FORGOTTEN:
            raise NotFoundError(f"no memory {fact.id!r}")
        if old.version != fact.version:
            raise ConcurrentUpdateError(
                f"memory {fact.id!r} has version {old.version} by now, not {fact.version}: read it"
                " again, then change it"
            )
        new = fact.model_copy(update={"version": old.version + 1})
        db.execute(
            "INSERT INTO versions (num, version, at, action, reason, snapshot)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (num, old.version, changed_at, did, why, old.model_dump_json()),
        )
        if old.content != new.content:
            embedded = 0
            db.execute("DELETE FROM vectors WHERE num = ?", (num,))
        state = (change.action, change.reason, rows.micros(change.at), embedded)
        db.execute(_UPDATE, (*rows.from_fact(new), *state, self._next(new.user_id), num))
        lines.follow(db, old, new, change.at)
        if _words(old) != _words(new):
            db.execute("DELETE FROM words WHERE rowid = ?", (num,))
            _write_words(db, num, new)
        return True

    def _forget(self, db: Connection, change: Forget) -> bool:
        row = db.execute(
            f"SELECT {rows.FACT} FROM facts f WHERE f.id = ?", (change.fact_id,)
        ).fetchone()
        if row is None:
            raise NotFoundError(f"no memory {change.fact_id!r}")
        fact = rows.to_fact(row).model_copy(update={"status": Status.FORGOTTEN})
        return self._update(db, Update(fact, "forgotten", change.at, change.reason))

    def _touch(self, db: Connection, change: Touch) -> bool:
        row = db.execute(
            "SELECT num, user_id FROM facts WHERE id = ? AND status <> 'forgotten'",
            (change.fact_id,),
        ).fetchone()
        if row is None:
            return False
        num, user_id = row
        used = None if change.used_at is None else rows.micros(change.used_at)
        db.execute(
            "UPDATE facts SET confidence = coalesce(?, confidence),"
            " use_count = use_count + (? IS NOT NULL),"
            " last_used_at = max(coalesce(last_used_at, ?), coalesce(?, last_used_at)),"
            " revision = ? WHERE num = ?",
            (change.confidence, used, used, used, self._next(user_id), num),
        )
        return True

    def _embed(self, db: Connection, change: Embed) -> bool:
        row = db.execute(
            "SELECT num, user_id FROM facts WHERE id = ? AND content = ? AND status <> 'forgotten'",
            (change.fact_id, change.content),
        ).fetchone()
        if row is None:
            return False
        num, user_id = row
        if change.vectors is None:
            db.execute("UPDATE facts SET embedded = -1 WHERE num = ?", (num,))
            return True
        _write_vectors(db, num, change.vectors)
        db.execute(
            "UPDATE facts SET embedded = 1, revision = ? WHERE num = ?", (self._next(user_id), num)
        )
        return True

    def _key(self, db: Connection, change: Keyed) -> bool:
        row = db.execute(
            "SELECT num, user_id FROM facts WHERE id = ? AND status <> 'forgotten'",
            (change.fact_id,),
        ).fetchone()
        if row is None:
            return False
        num, user_id = row
        db.execute("DELETE FROM claim_keys WHERE num = ?", (num,))
        db.executemany(
            "INSERT INTO claim_keys (user_id, key, num) VALUES (?, ?, ?)",
            [(user_id, key, num) for key in sorted(change.keys)],
        )
        return True


def _words(fact: Fact) -> str:
    return lexical_text(fact.content, fact.source.speaker, fact.created_at.timestamp())


def _write_words(db: Connection, num: int | None, fact: Fact) -> None:
    db.execute(
        "INSERT INTO words (rowid, owner, text) VALUES (?, ?, ?)",
        (num, rows.owner_token(fact.user_id), _words(fact)),
    )


def _write_vectors(db: Connection, num: int | None, vectors: FactVectors) -> None:
    db.execute(
        "INSERT OR REPLACE INTO vectors (num, windows, sentences, data) VALUES (?, ?, ?, ?)",
        (num, *rows.from_vectors(vectors)),
    )


def erase(db: Connection, nums: Sequence[int]) -> None:
    """Leave nothing of forgotten memories but their tombstones."""
    for num in nums:
        db.execute("DELETE FROM versions WHERE num = ?", (num,))
        db.execute("DELETE FROM vectors WHERE num = ?", (num,))
        db.execute("DELETE FROM words WHERE rowid = ?", (num,))
        db.execute("DELETE FROM claim_keys WHERE num = ?", (num,))
        db.execute(
            "UPDATE facts SET content = '', content_key = x'', speaker = NULL, tags = '',"
            " said_in = '', detail = '{\"schema_version\": 1}', embedded = -1 WHERE num = ?",
            (num,),
        )
