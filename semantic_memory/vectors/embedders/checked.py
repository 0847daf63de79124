"""Check the vectors of any embedder before they are used."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.errors import InputRefusedError, ProviderError
from semantic_memory.domain.ports import Embedder, EmbedderIdentity, InputType


class CheckedEmbedder:
    """An embedder whose vectors have the right shape and a direction."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def identity(self) -> EmbedderIdentity:
        """Identity of the embedder behind it."""
        return self._embedder.identity

    def embed(self, texts: Sequence[str], input_type: InputType) -> Matrix:
        """Return unit row vectors, shape (len(texts), dimension).

        Raises ProviderError if there are more or fewer, or of another dimension, InputRefusedError
        if one isn't a direction: not finite, or all zeros.
        """
        rows = self._embedder.embed(texts, input_type)
        wanted = (len(texts), self.identity.dimension)
        if rows.shape != wanted:
            raise ProviderError(
                f"the embedder {self.identity} gave vectors of shape {rows.shape} where {wanted}"
                " was asked for"
            )
        if not np.isfinite(rows).all() or not rows.any(axis=1).all():
            raise InputRefusedError(f"the embedder {self.identity} made nothing of a text")
        return rows
