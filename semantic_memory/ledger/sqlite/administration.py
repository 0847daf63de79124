"""Erasure and integrity checks."""

from __future__ import annotations

from collections.abc import Mapping

from semantic_memory.domain.errors import StoreCorruptError
from semantic_memory.ledger.sql.administration import (
    UNERASED,
    AdministrationReader,
    contradictions,
    delete_cuts,
    erase_fact,
)
from semantic_memory.ledger.sql.part import set_meta
from semantic_memory.ledger.sql.rows import of_user
from semantic_memory.ledger.sqlite import forms, words
from semantic_memory.ledger.sqlite.connections import Connections
from semantic_memory.ledger.sqlite.dialect import SQLITE

_UNCLEAN = "unclean"
"""Key in the ledger's meta while its file isn't written again after an erasure."""


class Administration(AdministrationReader):
    """The roles `Census`, `KeyValues`, `Erasure` and `Maintenance`."""

    _connections: Connections

    def erase(self, user_id: str | None = None) -> Mapping[str, int]:
        """Erase the text of forgotten memories from every page and version; how many by user.

        Raises StoreUnavailableError.
        """
        query = of_user(f"SELECT user_id, num FROM facts WHERE {UNERASED}", (), user_id)
        with self._connections.exclusive():
            with self._connections.transaction() as db:
                erased = delete_cuts(db, user_id)
                for owner, num in db.execute(*query).fetchall():
                    words.erase(db, num)
                    forms.erase(db, num)
                    erase_fact(db, SQLITE.own, owner, num)
                    erased[owner] += 1
                if erased:
                    words.merge_segments(db)
                    forms.merge_segments(db)
                    set_meta(db, _UNCLEAN, "")
            if self.meta(_UNCLEAN) is not None:
                self._connections.rebuild()
                self._connections.checkpoint()
                with self._connections.transaction() as db:
                    db.execute("DELETE FROM meta WHERE key = ?", (_UNCLEAN,))
            self._connections.checkpoint()
        return erased

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
        plain = [str(line) for line in found if line != "ok"]
        return plain + contradictions(orphans, unlisted)
