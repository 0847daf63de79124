"""Reading facts, of which the last are kept in RAM."""

from __future__ import annotations

from collections.abc import Sequence

from semantic_memory.domain.facts import Fact
from semantic_memory.ledger.sql import facts
from semantic_memory.ledger.sql.part import Connections, Database
from semantic_memory.ledger.sqlite.kept import KeptFacts


class FactReader(facts.FactReader):
    """The roles `Facts` and `FactHistory`."""

    def __init__(self, connections: Connections) -> None:
        super().__init__(connections)
        self._kept = KeptFacts()

    def _found(self, db: Database, fact_ids: Sequence[str]) -> dict[str, Fact]:
        return self._kept.read(db, fact_ids)
