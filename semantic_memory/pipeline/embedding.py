"""Embed the memories that have no vectors yet."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from semantic_memory.domain.changes import Embed
from semantic_memory.domain.errors import InputRefusedError, ProviderError
from semantic_memory.domain.events import (
    EmbeddingFailed,
    EmbeddingRefused,
    Event,
    MemoriesEmbedded,
)
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.ports import Embedder, Ledger
from semantic_memory.pipeline.stage import CONSOLIDATE, EMBED, INDEX, WHOLE, Hint, Outlook, Whole
from semantic_memory.vectors.passages import embed_facts

_BATCH = 64
_CLAIM_SECONDS = 60.0  # within which a batch is embedded, or others may embed it as well
_CLAIMED_SECONDS = 0.5  # until what others have claimed is looked at again


class Embedding:
    """Stage that embeds a batch a run, the oldest memories first.

    Workers share the backlog, each with batches of its own. What two embed nevertheless has the
    vectors of either.
    A text that the model refuses is put aside, so that it holds up no other.
    """

    name = EMBED

    def __init__(
        self,
        ledger: Ledger,
        embedder: Embedder,
        observe: Callable[[Event], None],
        hint: Hint,
    ) -> None:
        self._ledger = ledger
        self._embedder = embedder
        self._observe = observe
        self._hint = hint

    def pending(self) -> Iterator[Whole]:
        """Yield `WHOLE` if a memory has no vectors."""
        if self._ledger.unembedded(1):
            yield WHOLE

    def run(self, item: Whole) -> float | None:
        """Embed a batch. Raises ProviderError if the model can't be reached."""
        del item
        facts, others = self._ledger.claim_unembedded(_BATCH, _CLAIM_SECONDS)
        if not facts:
            return _CLAIMED_SECONDS if others else None
        start = time.perf_counter()
        try:
            changes = self._embedded(facts)
        except ProviderError as error:
            self._observe(EmbeddingFailed(str(error)))
            raise
        self._ledger.apply(changes)
        self._observe(MemoriesEmbedded(len(facts), time.perf_counter() - start))
        for user_id in {one.user_id for one in facts if one.category is not Category.CONVERSATION}:
            self._hint(CONSOLIDATE, user_id)
        self._hint(INDEX, WHOLE)
        return 0.0

    def outlook(self) -> Outlook:
        """Count the memories without vectors."""
        return Outlook("embedding", self._ledger.count_unembedded())

    def _embedded(self, facts: Sequence[Fact]) -> list[Embed]:
        try:
            vectors = embed_facts(self._embedder, facts)
        except InputRefusedError as error:
            if len(facts) > 1:
                middle = len(facts) // 2
                return [*self._embedded(facts[:middle]), *self._embedded(facts[middle:])]
            self._observe(EmbeddingRefused((facts[0].id,), str(error)))
            return [Embed(facts[0].id, facts[0].content, None)]
        return [Embed(fact.id, fact.text, v) for fact, v in zip(facts, vectors, strict=True)]
