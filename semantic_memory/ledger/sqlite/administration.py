"""Erasure and integrity checks."""

from __future__ import annotations

from collections.abc import Sequence
from sqlite3 import Connection

from semantic_memory.domain.errors import StoreCorruptError
from semantic_memory.ledger.sql.administration import AdministrationReader
from semantic_memory.ledger.sql.part import set_meta
from semantic_memory.ledger.sql.rows import chunks, of_user
from semantic_memory.ledger.sqlite import forms, words
from semantic_memory.ledger.sqlite.connections import Connections

_UNCLEAN = "unclean"
"""Key in the ledger's meta while its file isn't written again after an erasure."""


class Administration(AdministrationReader):
    """The roles `Census`, `KeyValues`, `Erasure` and `Maintenance`."""

    _connections: Connections

    def erase(self, user_id: str | None = None) -> int:
        """Erase the text of forgotten memories from every page and version; return how many."""
        ids = self.forgotten(user_id)
        with self._connections.exclusive():
            with self._connections.transaction() as db:
                cuts = db.execute(*of_user("DELETE FROM cuts", (), user_id)).rowcount
                for chunk, marks in chunks(ids):
                    query = f"SELECT num FROM facts WHERE id IN ({marks})"
                    _erase(db, [num for (num,) in db.execute(query, tuple(chunk))])
                if ids or cuts:
                    words.merge_segments(db)
                    forms.merge_segments(db)
                    set_meta(db, _UNCLEAN, "")
            if self.meta(_UNCLEAN) is not None:
                self._connections.rebuild()
                with self._connections.transaction() as db:
                    db.execute("DELETE FROM meta WHERE key = ?", (_UNCLEAN,))
            self._connections.checkpoint()
        return len(ids) + cuts

    def damage(self) -> list[str]:
        """Return the findings of SQLite's and FTS5's integrity checks, in words.

        Where nothing may be written, FTS5 can't be asked.
        """
        writes = not self._connections.reading
        lent = self._connections.transaction if writes else self._connections.snapshot
        try:
            with lent() as db:
                found = [line for (line,) in db.execute("PRAGMA integrity_check(10)")]
                if writes:
                    db.execute("INSERT INTO words (words) VALUES ('integrity-check')")
                    db.execute("INSERT INTO forms (forms) VALUES ('integrity-check')")
                (orphans,) = db.execute(
                    "SELECT count(*) FROM facts f LEFT JOIN vectors v ON v.num = f.num"
                    " WHERE f.embedded = 1 AND v.num IS NULL"
                ).fetchone()
                (unlisted,) = db.execute(
                    "SELECT (SELECT count(*) FROM facts WHERE content <> '')"
                    " - (SELECT min((SELECT count(*) FROM words), (SELECT count(*) FROM stems),"
                    " (SELECT count(*) FROM forms)))"
                ).fetchone()
        except StoreCorruptError as error:
            return [str(error)]
        found = [str(line) for line in found if line != "ok"]
        if orphans:
            found.append(f"{orphans} memories are marked as embedded but have no vector")
        if unlisted:
            found.append(f"the word index lacks {unlisted} memories")
        return found


def _erase(db: Connection, nums: Sequence[int]) -> None:
    """Erase all of forgotten memories but their tombstones."""
    for num in nums:
        db.execute("DELETE FROM versions WHERE num = ?", (num,))
        db.execute("DELETE FROM vectors WHERE num = ?", (num,))
        words.erase(db, num)
        forms.erase(db, num)
        db.execute("DELETE FROM placings WHERE num = ?", (num,))
        db.execute("DELETE FROM claim_keys WHERE num = ?", (num,))
        db.execute(
            "UPDATE facts SET content = '', content_key = x'', speaker = NULL, tags = '',"
            " body = NULL, said_in = '', detail = '{\"schema_version\": 1}', embedded = -1"
            " WHERE num = ?",
            (num,),
        )
