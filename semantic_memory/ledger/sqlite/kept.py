"""The facts that were read last, kept level with the ledger.

Searches read the same facts again and again, and a row of SQLite with the fact built from it costs
ten times a copy of the fact. Every change of a fact takes a new revision, so what has changed since
the last reading is asked for by the index of revisions, and nothing else is read again.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Sequence
from copy import deepcopy
from itertools import islice

from semantic_memory.domain.facts import Fact
from semantic_memory.ledger.sqlite.rows import FACT, FactRow, chunks, to_fact

_MOST = 4_096  # about 12 MB
_LONG = 4_000  # characters of a row whose fact isn't kept
_MOST_CHANGES = 1_024  # since the last reading, after which all facts are read again


class KeptFacts:
    """The facts read last, each as of the revision that its reader sees. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._revision = 0
        self._facts: dict[str, Fact] = {}

    def read(self, db: sqlite3.Connection, fact_ids: Sequence[str]) -> dict[str, Fact]:
        """Return the facts with these ids that aren't forgotten, in the snapshot of `db`."""
        (revision,) = db.execute("SELECT coalesce(max(revision), 0) FROM facts").fetchone()
        with self._lock:
            self._follow(db, revision)
            kept = self._facts if revision == self._revision else {}
            found = {one: kept[one] for one in fact_ids if one in kept}
        if missing := [one for one in fact_ids if one not in found]:
            rows = list(_rows(db, missing))
            read = {row.id: to_fact(row) for row in rows}
            short = {row.id for row in rows if len(row.content) + len(row.detail) <= _LONG}
            self._keep({one: fact for one, fact in read.items() if one in short}, revision)
            found |= read
        return {one: _copied(fact) for one, fact in found.items()}

    def _follow(self, db: sqlite3.Connection, revision: int) -> None:
        """Drop what has changed up to a revision. A snapshot from before changes nothing."""
        if revision - self._revision > _MOST_CHANGES:
            self._facts.clear()
        elif revision > self._revision:
            query = "SELECT id FROM facts WHERE revision > ?"
            for (fact_id,) in db.execute(query, (self._revision,)):
                self._facts.pop(fact_id, None)
        self._revision = max(revision, self._revision)

    def _keep(self, facts: dict[str, Fact], revision: int) -> None:
        with self._lock:
            if revision == self._revision:
                self._facts |= facts
                for one in list(islice(self._facts, max(0, len(self._facts) - _MOST))):
                    del self._facts[one]


def _rows(db: sqlite3.Connection, fact_ids: Sequence[str]) -> Iterable[FactRow]:
    for chunk, marks in chunks(fact_ids):
        query = f"SELECT {FACT} FROM facts f WHERE f.id IN ({marks}) AND f.status <> 'forgotten'"
        yield from map(FactRow._make, db.execute(query, tuple(chunk)))


def _copied(fact: Fact) -> Fact:
    """Return a fact with metadata of its own, which its reader may change; all else is frozen."""
    metadata = deepcopy(fact.metadata) if fact.metadata else {}
    return fact.model_copy(update={"metadata": metadata})
