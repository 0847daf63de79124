"""Counting, small values, and what is to be erased."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

from semantic_memory.domain.changes import Redact
from semantic_memory.domain.messages import SessionKey
from semantic_memory.ledger.sql.dialect import Key
from semantic_memory.ledger.sql.feeds import WAITING
from semantic_memory.ledger.sql.part import Database, Part, set_meta
from semantic_memory.ledger.sql.rows import of_user

UNERASED = "status = 'forgotten' AND content <> ''"
"""The condition of a memory that is forgotten and not erased."""
_BESIDE = ("versions", "vectors", "placings", "claim_keys")


class AdministrationReader(Part):
    """The roles `Census` and `KeyValues`, and what `Erasure` and `Maintenance` read."""

    def count(self, user_id: str | None = None) -> int:
        """Return the number of facts, forgotten ones aside."""
        query = "SELECT coalesce(sum(memories), 0) FROM users"
        return self._number(*of_user(query, (), user_id))

    def tally(self, user_id: str | None = None) -> dict[str, int]:
        """Return the number of facts by `category/status`, forgotten ones included."""
        query, values = of_user("SELECT category, status, count(*) FROM facts", (), user_id)
        with self._connections.snapshot() as db:
            found = db.execute(query + " GROUP BY category, status ORDER BY 1, 2", values)
            return {f"{category}/{status}": number for category, status, number in found}

    def users(self) -> list[str]:
        """Return every user with a memory that isn't forgotten, or an item, sorted."""
        query = (
            "SELECT user_id FROM users WHERE memories > 0"
            " UNION SELECT user_id FROM items ORDER BY user_id"
        )
        with self._connections.snapshot() as db:
            return [user_id for (user_id,) in db.execute(query)]

    # ---------------------------------------------------------------- small values

    def meta(self, key: str) -> str | None:
        """Return the value kept under `key`."""
        with self._connections.snapshot() as db:
            row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(*row)

    def metas(self, prefix: str) -> dict[str, str]:
        """Return the values kept under keys that begin with `prefix`, by key."""
        behind = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        query = "SELECT key, value FROM meta WHERE key >= ? AND key < ?"
        with self._connections.snapshot() as db:
            return dict(db.execute(query, (prefix, behind)).fetchall())

    def set_meta(self, key: str, value: str) -> None:
        """Keep a value."""
        with self._connections.transaction() as db:
            set_meta(db, key, value)

    # ---------------------------------------------------------------- erasure

    def sessions_with_forgotten(self, user_id: str | None = None) -> list[SessionKey]:
        """Return the sessions with a message that is forgotten and not erased, sorted."""
        query, values = of_user(
            f"SELECT DISTINCT user_id, session_id FROM facts WHERE {UNERASED}"
            " AND category = 'conversation' AND session_id IS NOT NULL",
            (),
            user_id,
        )
        with self._connections.snapshot() as db:
            return [SessionKey(*row) for row in db.execute(query + " ORDER BY 1, 2", values)]

    def forgotten(self, user_id: str | None = None) -> list[str]:
        """Return the ids of memories that are forgotten and not erased."""
        query, values = of_user(f"SELECT id FROM facts WHERE {UNERASED}", (), user_id)
        with self._connections.snapshot() as db:
            return [fact_id for (fact_id,) in db.execute(query, values)]

    def redactions(self, session: SessionKey | None = None) -> list[Redact]:
        """Return what is still to be erased from the logs of all sessions, sorted, or of one."""
        one = "" if session is None else " WHERE user_id = ? AND session_id = ?"
        query = f"SELECT user_id, session_id, message_id FROM redactions{one} ORDER BY 1, 2, 3"
        with self._connections.snapshot() as db:
            rows = db.execute(query, session or ()).fetchall()
        found: list[Redact] = []
        for key, group in groupby(rows, key=lambda row: (row[0], row[1])):
            ids = [message_id for _, _, message_id in group]
            found.append(Redact(*key, frozenset(ids if ids[0] else ())))
        return found

    # ---------------------------------------------------------------- maintenance

    def drop_vectors(self, key: str, value: str) -> int:
        """Drop every vector and set `key`, in one transaction; return how many need new ones."""
        with self._connections.transaction() as db:
            db.execute("DELETE FROM vectors")
            db.execute("UPDATE facts SET embedded = 0 WHERE embedded <> 0")
            db.execute("DELETE FROM item_vectors")
            db.execute("UPDATE items SET embedded = 0 WHERE paths <> '[]'")
            set_meta(db, key, value)
            (waiting,) = db.execute(f"SELECT count(*) FROM facts WHERE {WAITING}").fetchone()
        return int(waiting)


def delete_cuts(db: Database, user_id: str | None) -> Counter[str]:
    """Delete the notes of messages that lost sentences; return how many there were by user."""
    query, values = of_user("DELETE FROM cuts", (), user_id)
    return Counter(owner for (owner,) in db.execute(f"{query} RETURNING user_id", values))


def erase_fact(db: Database, own: Key, user_id: str, num: int) -> None:
    """Erase all of a forgotten memory but its tombstone; its indexed words are left."""
    key = own.values(user_id, num)
    for table in _BESIDE:
        db.execute(f"DELETE FROM {table} WHERE {own.condition}", key)
    db.execute(
        "UPDATE facts SET content = '', content_key = ?, speaker = NULL, tags = '', body = NULL,"
        " said_in = '', detail = '{\"schema_version\": 1}', embedded = -1"
        " WHERE user_id = ? AND num = ?",
        (b"", user_id, num),
    )


def contradictions(orphans: int, unlisted: int) -> list[str]:
    """Say in words what tables lack: vectors of memories, and memories of the word index."""
    found = []
    if orphans:
        found.append(f"{orphans} memories are marked as embedded but have no vector")
    if unlisted:
        found.append(f"the word index lacks {unlisted} memories")
    return found
