"""Reranker that runs a cross-encoder on this machine; needs the extra `sentence-transformers`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sentence_transformers import CrossEncoder

from semantic_memory.domain.errors import ConfigurationError


class CrossEncoderReranker:
    """Reranker by a model for pairs of query and text, such as `ms-marco-MiniLM-L6-v2`."""

    def __init__(self, model: str | Path) -> None:
        """Load `model`, a directory or a name already in the local cache.

        Raises ConfigurationError if it can't be loaded.
        """
        try:
            self._encoder = CrossEncoder(str(model), device="cpu", local_files_only=True)
        except (OSError, ValueError) as error:
            raise ConfigurationError(
                f"can't load the reranker {str(model)!r}: {error}; give the directory of a"
                " cross-encoder, for example of cross-encoder/ms-marco-MiniLM-L6-v2"
            ) from error

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the relevance of each text for a query, higher is better."""
        pairs = [(query, text) for text in texts]
        return [float(one) for one in self._encoder.predict(pairs, show_progress_bar=False)]

    def close(self) -> None:
        """Do nothing: the model goes with the process."""
