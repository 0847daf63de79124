"""Bring the vector index level with the ledger."""

from __future__ import annotations

from collections.abc import Iterator

from semantic_memory.pipeline.stage import INDEX, WHOLE, Outlook, Whole
from semantic_memory.vectors.sync import IndexKeeper


class Indexing:
    """Stage that brings the vector index level with the ledger."""

    name = INDEX

    def __init__(self, keeper: IndexKeeper) -> None:
        self._keeper = keeper

    def pending(self) -> Iterator[Whole]:
        """Yield `WHOLE` if the index lacks a change."""
        if self._keeper.behind:
            yield WHOLE

    def run(self, item: Whole) -> None:
        """Bring the index level. Raises IndexBrokenError, IndexUnavailableError."""
        del item
        self._keeper.sync()

    def outlook(self) -> Outlook:
        """Count the changes that the index lacks."""
        return Outlook("indexing", self._keeper.behind)
