"""Embedder for any sentence-transformers model, on torch."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.errors import ConfigurationError, MissingDependencyError
from semantic_memory.domain.ports import EmbedderIdentity, InputType

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_BATCH = 32


class SentenceTransformerEmbedder:
    """Embedder that runs a model with the prompts it defines for queries and documents.

    `model` is a directory, or a name on the Hugging Face hub (downloaded unless HF_HUB_OFFLINE is
    set). It is loaded when its identity or a vector is first needed. Thread-safe.
    """

    def __init__(self, model: str) -> None:
        self._name = model
        self._lock = threading.Lock()

    @property
    def identity(self) -> EmbedderIdentity:
        """Identity of the model, by name (the last part of a path) and dimension."""
        with self._lock:
            dimension = self._model.get_embedding_dimension()
        name = Path(self._name).name if Path(self._name).exists() else self._name
        return EmbedderIdentity(name, int(dimension or 0), "as configured", "fp32")

    def embed(self, texts: Sequence[str], input_type: InputType) -> Matrix:
        """Return unit row vectors of shape (len(texts), dimension)."""
        with self._lock:
            encode = (
                self._model.encode_query if input_type == "query" else self._model.encode_document
            )
            vectors = encode(
                list(texts), batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False
            )
        return np.asarray(vectors, dtype=np.float32).reshape(len(texts), -1)

    @cached_property
    def _model(self) -> SentenceTransformer:
        try:
            from sentence_transformers import SentenceTransformer
        except ModuleNotFoundError as error:
            raise MissingDependencyError(
                f"embedding.provider sentence-transformers needs {error.name}, which isn't"
                " installed: pip install 'semantic-memory[sentence-transformers]'"
            ) from None
        try:
            return SentenceTransformer(self._name, device="cpu")
        except (OSError, ValueError) as error:
            raise ConfigurationError(
                f"can't load the embedding model {self._name!r}: {error}; give the path of a"
                " sentence-transformers model, or a name that can be downloaded"
            ) from error
