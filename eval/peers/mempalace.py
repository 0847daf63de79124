"""MemPalace: a wing for each user, every text a drawer, its hybrid search.

It takes vectors of its own models or of an HTTP endpoint only, so they are served on the loopback
interface, and its figures include those requests.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from eval.endpoint import EmbeddingEndpoint
from eval.peers.vectors import KnownVectors


class MemPalace:
    """Palace in `directory`."""

    def __init__(self, directory: Path, vectors: KnownVectors) -> None:
        self._endpoint = EmbeddingEndpoint(vectors.lists)
        os.environ["MEMPALACE_EMBEDDING_MODEL"] = "openai-compat"
        os.environ["MEMPALACE_EMBEDDING_API_URL"] = self._endpoint.url
        os.environ["MEMPALACE_EMBEDDING_API_MODEL"] = "known"
        from mempalace.palace import get_collection

        self._palace = str(directory)
        self._drawers = get_collection(self._palace)

    def add(self, user: str, texts: Sequence[str]) -> None:
        """File texts in one call."""
        filed = {"wing": user, "room": "facts", "chunk_index": 0}
        now = datetime.now(UTC).isoformat()
        ids = [hashlib.blake2b(f"{user}/{text}".encode()).hexdigest()[:32] for text in texts]
        self._drawers.upsert(
            ids=ids,
            documents=list(texts),
            metadatas=[{**filed, "source_file": one, "filed_at": now} for one in ids],
        )

    def search(self, user: str, question: str, k: int) -> int:
        """Search the wing."""
        from mempalace.searcher import search_memories

        return len(search_memories(question, self._palace, wing=user, n_results=k)["results"])

    def settle(self) -> None:
        """Do nothing: there is no work in the background."""

    def close(self) -> None:
        """Stop serving vectors."""
        self._endpoint.close()
