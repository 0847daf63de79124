"""The facts that were read last, kept level with the ledger.

Searches read the same facts again and again, and a row of SQLite with the fact built from it costs
ten times a copy of the fact. Every change of a fact takes its user's next revision, so what has
changed since the last reading is asked for by the index of revisions, and nothing else is read
again.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence
from copy import deepcopy
from itertools import islice
from typing import NamedTuple

from semantic_memory.domain.facts import Fact
from semantic_memory.ledger.sql.facts import fact_rows
from semantic_memory.ledger.sql.part import REVISION, Database
from semantic_memory.ledger.sql.rows import FactRow, to_fact

_MOST = 4_096  # about 12 MB
_LONG = 4_000  # characters of a row whose fact isn't kept
_MOST_CHANGES = 1_024  # of a user since the last reading, after which all facts are read again


class _Kept(NamedTuple):
    """A fact as it was read, which is true for ever of the revisions that it names."""

    fact: Fact
    level: int
    """The latest revision of its user at which it was known to be unchanged."""


class KeptFacts:
    """The facts read last, each as of the revision that its reader sees. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, _Kept] = {}

    def read(self, db: Database, fact_ids: Sequence[str]) -> dict[str, Fact]:
        """Return the facts with these ids that aren't forgotten, in the snapshot of `db`."""
        known: dict[str, dict[str, _Kept]] = defaultdict(dict)
        with self._lock:
            for one in fact_ids:
                if (kept := self._kept.get(one)) is not None:
                    known[kept.fact.user_id][one] = kept
        found: dict[str, _Kept] = {}
        for user_id, own in known.items():
            found |= self._raised(db, user_id, own)
        if missing := [one for one in fact_ids if one not in found]:
            rows = list(fact_rows(db, missing))
            levels = {user_id: _revision(db, user_id) for user_id in {row.user_id for row in rows}}
            read = {row.id: _Kept(to_fact(row), levels[row.user_id]) for row in rows}
            self._keep({row.id: read[row.id] for row in rows if _is_short(row)})
            found |= read
        return {one: _shared(kept.fact) for one, kept in found.items()}

    def _raised(self, db: Database, user_id: str, own: dict[str, _Kept]) -> dict[str, _Kept]:
        """Return those of a user's facts that are unchanged in a snapshot, as of its revision."""
        revision = _revision(db, user_id)
        levels = {kept.level for kept in own.values()}
        if levels == {revision}:
            return own
        if max(levels) > revision:  # a snapshot from before
            return {}
        changed = _changed(db, user_id, min(levels))
        if len(changed) == _MOST_CHANGES:
            return {}
        own = {one: _Kept(kept.fact, revision) for one, kept in own.items() if one not in changed}
        self._keep(own)
        return own

    def _keep(self, read: dict[str, _Kept]) -> None:
        with self._lock:
            self._kept |= read
            for one in list(islice(self._kept, max(0, len(self._kept) - _MOST))):
                del self._kept[one]


def _revision(db: Database, user_id: str) -> int:
    return int(db.execute(REVISION, (user_id,)).fetchone()[0])


def _changed(db: Database, user_id: str, since: int) -> set[str]:
    query = "SELECT id FROM facts WHERE user_id = ? AND revision > ? LIMIT ?"
    return {one for (one,) in db.execute(query, (user_id, since, _MOST_CHANGES))}


def _is_short(row: FactRow) -> bool:
    return len(row.content) + len(row.detail) <= _LONG


def _shared(fact: Fact) -> Fact:
    """Return a fact for one more reader, with metadata that no other reader can change."""
    if fact.metadata:
        return fact.model_copy(update={"metadata": deepcopy(fact.metadata)})
    return fact  # frozen throughout: its metadata are `NO_METADATA`
