"""An embedder that checks another embedder's vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.errors import InputRefusedError, ProviderError
from semantic_memory.domain.ports import Embedder, EmbedderIdentity, InputType


class CheckedEmbedder:
    """Embedder whose vectors are checked for their shape and direction."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def identity(self) -> EmbedderIdentity:
        """Identity of the embedder checked."""
        return self._embedder.identity

    def embed(self, texts: Sequence[str], input_type: InputType) -> Matrix:
        """Return unit row vectors of shape (len(texts), dimension).

        Raises ProviderError if their number or dimension is wrong, InputRefusedError if a vector
        isn't finite or is all zeros.
        """
        rows = self._embedder.embed(texts, input_type)
        wanted = (len(texts), self.identity.dimension)
        if rows.shape != wanted:
            raise ProviderError(
                f"the embedder {self.identity} returned vectors of shape {rows.shape} instead of"
                f" {wanted}"
            )
        if not np.isfinite(rows).all() or not rows.any(axis=1).all():
            raise InputRefusedError(
                f"the embedder {self.identity} returned a vector without a direction"
            )
        return rows
