"""Erasure and checks."""

from __future__ import annotations

from collections.abc import Mapping

from semantic_memory.ledger.postgres.dialect import POSTGRES
from semantic_memory.ledger.sql.administration import (
    UNERASED,
    AdministrationReader,
    contradictions,
    delete_cuts,
    erase_fact,
)
from semantic_memory.ledger.sql.rows import of_user


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
                db.execute("DELETE FROM words WHERE user_id = ? AND num = ?", (owner, num))
                erase_fact(db, POSTGRES.own, owner, num)
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
        return contradictions(orphans, unlisted)
