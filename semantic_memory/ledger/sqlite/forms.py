"""The index of words as they are written, unstemmed, for conditions on words.

A second FTS5 table beside `words`: the beginning of a word can't be found among stems. It indexes
`domain.lexical.tokens`, spelled in letters and digits that FTS5's tokenizer leaves unchanged, so
that its matches are those of the other engines for every script, and no query holds any syntax.
"""

from __future__ import annotations

from semantic_memory.domain.facts import Fact
from semantic_memory.domain.lexical import Term
from semantic_memory.ledger.sql.owners import owner_token
from semantic_memory.ledger.sql.part import Database
from semantic_memory.ledger.sql.spelling import beginnings, spelled, written


def match(user_id: str, term: Term) -> str:
    """Return the FTS5 expression for the memories of a user that hold a term.

    Of a term of patterns, for those that hold what its words begin with.
    """
    owner = f'owner : "{owner_token(user_id)}"'
    if term.is_pattern:
        known = [f'text : "{word}"{"" if whole else " *"}' for word, whole in beginnings(term)]
        return " AND ".join([owner, *known])
    words = " ".join(map(spelled, term.words))
    return f'{owner} AND text : "{words}"{" *" if term.open_ended else ""}'


def write(db: Database, num: int, fact: Fact) -> None:
    """Index the words of a fact."""
    db.execute(
        "INSERT INTO forms (rowid, owner, text) VALUES (?, ?, ?)",
        (num, owner_token(fact.user_id), written(fact.text)),
    )


def follow(db: Database, num: int, old: Fact, new: Fact) -> None:
    """Index the words of a changed fact, if its text changed."""
    if old.text != new.text:
        erase(db, num)
        write(db, num, new)


def erase(db: Database, num: int) -> None:
    """Take a fact out of the index."""
    db.execute("DELETE FROM forms WHERE rowid = ?", (num,))


def merge_segments(db: Database) -> None:
    """Merge the index's segments, in which deleted words stay until then."""
    db.execute("INSERT INTO forms (forms) VALUES ('optimize')")
