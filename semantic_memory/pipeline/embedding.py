"""Embeds what has no vectors yet, whatever the embedding model makes of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from semantic_memory.domain.changes import Embed
from semantic_memory.domain.errors import InputRefusedError
from semantic_memory.domain.events import EmbeddingRefused, Event, MemoriesEmbedded
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.ports import Embedder, Ledger
from semantic_memory.vectors.passages import embed_facts

_BATCH = 64


class Backlog:
    """The memories of a ledger that wait for their vectors."""

    def __init__(
        self, ledger: Ledger, embedder: Embedder, observe: Callable[[Event], None]
    ) -> None:
        self._ledger = ledger
        self._embedder = embedder
        self._observe = observe

    def work_off(self) -> int:
        """Embed the next batch; returns how many memories that was, 0 when none is left.

        A memory that the model refuses is put aside, so that it holds up no other. Raises
        ProviderError if the model can't be reached; the batch is tried again by the next call.
        """
        facts = self._ledger.unembedded(_BATCH)
        if facts:
            start = time.perf_counter()
            self._ledger.apply(self._embedded(facts))
            self._observe(MemoriesEmbedded(len(facts), time.perf_counter() - start))
        return len(facts)

    def _embedded(self, facts: Sequence[Fact]) -> list[Embed]:
        try:
            vectors = embed_facts(self._embedder, facts)
        except InputRefusedError as error:
            if len(facts) > 1:
                middle = len(facts) // 2
                return [*self._embedded(facts[:middle]), *self._embedded(facts[middle:])]
            self._observe(EmbeddingRefused((facts[0].id,), str(error)))
            return [Embed(facts[0].id, facts[0].content, None)]
        return [Embed(fact.id, fact.content, v) for fact, v in zip(facts, vectors, strict=True)]
