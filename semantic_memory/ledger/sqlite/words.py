"""The full-text index, FTS5, and the stems of each memory.

Partitions in RAM are filled with the stems: telling the language of a text and stemming its words
takes six times as long as reading them.
"""

from __future__ import annotations

from collections.abc import Sequence
from sqlite3 import Connection

from semantic_memory.domain.facts import Fact
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.ports import Match
from semantic_memory.domain.text import stems
from semantic_memory.ledger.rules import has_same_words, searched_text
from semantic_memory.ledger.sql.owners import owner_token
from semantic_memory.ledger.sql.part import Database
from semantic_memory.ledger.sqlite import forms
from semantic_memory.ledger.sqlite.dialect import SQLITE
from semantic_memory.ledger.sqlite.part import Part


class WordSearcher(Part):
    """The role `WordSearch`."""

    def words(
        self, user_id: str, terms: Sequence[str], *, limit: int, filters: Filters = NO_FILTERS
    ) -> list[Match]:
        """Return the memories holding any of `terms`, by BM25; similarity is minus FTS5's rank."""
        if not terms:
            return []
        alternatives = " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)
        condition, values = SQLITE.where(user_id, filters.conditions())
        match = f"owner : {owner_token(user_id)} AND text : ({alternatives})"
        with self._connections.snapshot() as db:
            # The owner's token narrows the match; the user's id decides.
            query = (
                "SELECT f.id, -bm25(words, 0.0, 1.0) AS score"
                " FROM words JOIN facts f ON f.num = words.rowid"
                f" WHERE words MATCH ? AND {condition} ORDER BY score DESC LIMIT ?"
            )
            return [Match(*row) for row in db.execute(query, (match, *values, limit))]

    def document_frequencies(
        self, user_id: str, terms: Sequence[str]
    ) -> tuple[int, dict[str, float]]:
        """Return the number of a user's memories, and about how many hold each stemmed word.

        FTS5 counts words over all users, forgotten memories included.
        """
        marks = ", ".join("?" * len(terms))
        with self._connections.snapshot() as db:
            own, total = db.execute(
                "SELECT coalesce((SELECT memories FROM users WHERE user_id = ?), 0),"
                " coalesce((SELECT max(num) FROM facts), 1)",
                (user_id,),
            ).fetchone()
            query = f"SELECT term, doc FROM word_counts WHERE term IN ({marks})"
            return own, {term: doc * own / total for term, doc in db.execute(query, list(terms))}


class Texts:
    """Both full-text indexes, of stems and of words as they are written, and the stems."""

    def write(self, db: Database, num: int, fact: Fact) -> None:
        """Index the words of a new fact."""
        _write(db, num, fact)
        forms.write(db, num, fact)

    def follow(self, db: Database, num: int, old: Fact, new: Fact) -> None:
        """Index the words of a changed fact, if they changed."""
        if not has_same_words(old, new):
            erase(db, num)
            _write(db, num, new)
        forms.follow(db, num, old, new)


def _write(db: Database, num: int, fact: Fact) -> None:
    text = searched_text(fact)
    db.execute(
        "INSERT INTO words (rowid, owner, text) VALUES (?, ?, ?)",
        (num, owner_token(fact.user_id), text),
    )
    db.execute("INSERT INTO stems (num, text) VALUES (?, ?)", (num, " ".join(stems(text))))


def erase(db: Database, num: int) -> None:
    """Take a fact out of the index, and erase its stems."""
    db.execute("DELETE FROM words WHERE rowid = ?", (num,))
    db.execute("DELETE FROM stems WHERE num = ?", (num,))


def merge_segments(db: Connection) -> None:
    """Merge the index's segments, in which deleted words stay until then."""
    db.execute("INSERT INTO words (words) VALUES ('optimize')")
