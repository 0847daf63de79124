"""An embedder with a cache of documents on disk."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.errors import StoreUnavailableError
from semantic_memory.domain.ports import Embedder, EmbedderIdentity, InputType

_MOST_VALUES = 500  # number of values bound in one statement


class CachingEmbedder:
    """Embedder that caches documents on disk, but not queries, as their latency is measured.

    The cache is a file for each model. `remember_queries` caches queries too, in this process only,
    for the search of weights, which measures no times. Thread-safe.
    """

    def __init__(self, inner: Embedder, directory: Path, *, remember_queries: bool = False) -> None:
        self._inner = inner
        self._lock = threading.Lock()
        self._queries: dict[str, Matrix] | None = {} if remember_queries else None
        name = hashlib.blake2b(str(inner.identity).encode(), digest_size=8).hexdigest()
        file = directory / f"embeddings-{name}.sqlite3"
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
            # Losing the cache costs time only.
            self._file.execute("PRAGMA synchronous=OFF")
            self._file.execute("PRAGMA journal_mode=WAL")
            self._file.execute(
                "CREATE TABLE IF NOT EXISTS embedding"
                " (text BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID"
            )
        except (OSError, sqlite3.Error) as error:
            raise StoreUnavailableError(f"can't keep embeddings in {file}: {error}") from error

    @property
    def identity(self) -> EmbedderIdentity:
        """Identity of the inner embedder."""
        return self._inner.identity

    def embed(self, texts: Sequence[str], input_type: InputType) -> Matrix:
        """Return unit row vectors of shape (len(texts), dimension)."""
        if input_type == "query":
            return self._query(texts)
        keys = [hashlib.blake2b(text.encode(), digest_size=16).digest() for text in texts]
        known = self._known(list(dict.fromkeys(keys)))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            rows = self._inner.embed(list(missing.values()), "document")
            fresh = dict(zip(missing, rows, strict=True))
            with self._lock:
                self._file.execute("BEGIN")
                self._file.executemany(
                    "INSERT OR IGNORE INTO embedding VALUES (?, ?)",
                    [(key, row.tobytes()) for key, row in fresh.items()],
                )
                self._file.execute("COMMIT")
            known |= fresh
        vectors = [known[key] for key in keys]
        return np.array(vectors, dtype=np.float32).reshape(-1, self.identity.dimension)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _query(self, texts: Sequence[str]) -> Matrix:
        if self._queries is None:
            return self._inner.embed(texts, "query")
        if missing := [text for text in dict.fromkeys(texts) if text not in self._queries]:
            rows = self._inner.embed(missing, "query")
            self._queries.update(zip(missing, rows, strict=True))
        vectors = [self._queries[text] for text in texts]
        return np.array(vectors, dtype=np.float32).reshape(-1, self.identity.dimension)

    def _known(self, keys: Sequence[bytes]) -> dict[bytes, Matrix]:
        found: dict[bytes, Matrix] = {}
        for start in range(0, len(keys), _MOST_VALUES):
            batch = keys[start : start + _MOST_VALUES]
            marks = ",".join("?" * len(batch))
            with self._lock:
                rows = self._file.execute(
                    f"SELECT text, vector FROM embedding WHERE text IN ({marks})",  # noqa: S608
                    batch,
                ).fetchall()
            found.update((key, np.frombuffer(vector, np.float32)) for key, vector in rows)
        return found
