"""Embedder on an OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import openai

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.errors import InputRefusedError, ProviderError
from semantic_memory.domain.ports import EmbedderIdentity, InputType

_MAX_TEXTS = 512  # of one request; the API takes 2,048 texts or 300,000 tokens
_MAX_CHARACTERS = 400_000
_SECONDS = 30.0
_RETRIES = 4
_QUERY_SECONDS = 5.0


class OpenAIEmbedder:
    """Embedder that calls `POST /embeddings` with the openai client.

    The client retries status 408, 409, 429 and 5xx. The dimension is an argument so that a store
    can be opened without a request.
    """

    def __init__(
        self,
        model: str,
        dimension: int,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
    ) -> None:
        self._model = model
        self._dimension = dimension
        self._client = openai.OpenAI(
            api_key=api_key or "none", base_url=base_url, timeout=_SECONDS, max_retries=_RETRIES
        )
        # A search doesn't wait for long; without a vector it goes by words.
        self._impatient = self._client.with_options(timeout=_QUERY_SECONDS, max_retries=1)

    @property
    def identity(self) -> EmbedderIdentity:
        """Identity of the model, by name and dimension."""
        return EmbedderIdentity(self._model, self._dimension, "remote", "fp32")

    def embed(self, texts: Sequence[str], input_type: InputType) -> Matrix:
        """Return unit row vectors of shape (len(texts), dimension).

        Raises InputRefusedError if the endpoint rejects a text, ProviderError for any other
        failure.
        """
        client = self._impatient if input_type == "query" else self._client
        rows = [row for batch in _batches(texts) for row in self._request(client, batch)]
        vectors = np.array(rows, dtype=np.float32).reshape(-1, self._dimension)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        normalised: Matrix = vectors / np.maximum(lengths, 1e-12)
        return normalised

    def _request(self, client: openai.OpenAI, texts: list[str]) -> list[list[float]]:
        try:
            answer = client.embeddings.create(
                model=self._model, input=texts, encoding_format="float"
            )
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            raise InputRefusedError(f"the embeddings endpoint refuses a text: {error}") from error
        except openai.OpenAIError as error:
            raise ProviderError(f"the embeddings endpoint failed: {error}") from error
        rows = [item.embedding for item in sorted(answer.data, key=lambda item: item.index)]
        if len(rows) != len(texts) or any(len(row) != self._dimension for row in rows):
            sizes = sorted({len(row) for row in rows})
            raise ProviderError(
                f"the embeddings endpoint returned {len(rows)} vectors of dimension {sizes} for"
                f" {len(texts)} texts; {self._model} is configured with dimension {self._dimension}"
            )
        return rows


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (len(batch) == _MAX_TEXTS or size + len(text) > _MAX_CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch
