"""Erasure and checks."""

from __future__ import annotations

from collections.abc import Mapping

from semantic_memory.ledger.sql.administration import (
    UNERASED,
    AdministrationReader,
    delete_cuts,
)
from semantic_memory.ledger.sql.part import Database
from semantic_memory.ledger.sql.rows import of_user

_BESIDE = ("versions", "vectors", "words", "placings", "claim_keys")


class Administration(AdministrationReader):
    """The roles `Census`, `KeyValues`, `Erasure` and `Maintenance`."""

    def erase(self, user_id: str | None = None) -> Mapping[str, int]:
        """Erase the text of forgotten memories from every row and version; how many by user.

        What rows held before stays in the server's files until it is vacuumed and overwritten.
        """
        query, values = of_user(f"SELECT user_id, num FROM facts WHERE {UNERASED}", (), user_id)
        users = f"SELECT user_id FROM users WHERE user_id IN (SELECT user_id FROM ({query}) f)"
        with self._connections.transaction() as db:
            # As writers do, users first: their words are counted there.
            db.execute(f"{users} ORDER BY user_id FOR UPDATE", values)
            erased = delete_cuts(db, user_id)
            forgotten: list[tuple[str, int]] = db.execute(
                f"{query} ORDER BY user_id, num FOR UPDATE", values
            ).fetchall()
            for owner, num in forgotten:
                _erase(db, owner, num)
                erased[owner] += 1
        return erased

    def accept(self) -> None:
        """Do nothing: the server's own log says how far the ledger has come."""

    def damage(self) -> list[str]:
        """Return what contradicts itself in the tables, in words; the server checks its pages."""
        orphans = self._number(
            "SELECT count(*) FROM facts f LEFT JOIN vectors v USING (user_id, num)"
            " WHERE f.embedded = 1 AND v.num IS NULL"
        )
        unlisted = self._number(
            "SELECT count(*) FROM facts f LEFT JOIN words w USING (user_id, num)"
            " WHERE f.content <> '' AND w.num IS NULL"
        )
        found = []
        if orphans:
            found.append(f"{orphans} memories are marked as embedded but have no vector")
        if unlisted:
            found.append(f"the word index lacks {unlisted} memories")
        return found


def _erase(db: Database, user_id: str, num: int) -> None:
    """Erase all of a forgotten memory but its tombstone."""
    for table in _BESIDE:
        db.execute(f"DELETE FROM {table} WHERE user_id = ? AND num = ?", (user_id, num))
    db.execute(
        "UPDATE facts SET content = '', content_key = ?, speaker = NULL, tags = '', body = NULL,"
        " said_in = '', detail = '{\"schema_version\": 1}', embedded = -1"
        " WHERE user_id = ? AND num = ?",
        (b"", user_id, num),
    )
