"""LangGraph's SqliteStore with its vector search, a namespace for each user."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from langgraph.store.base import PutOp
from langgraph.store.sqlite import SqliteStore

# Of pysqlite3: sqlite-vec is an extension, and Python's own SQLite may be built without them.
from pysqlite3 import dbapi2 as sqlite

from eval.peers.vectors import KnownVectors


class LangGraph:
    """Store in one file of SQLite, indexed by the field `text`."""

    def __init__(self, directory: Path, vectors: KnownVectors) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite.connect(
            str(directory / "store.sqlite"), check_same_thread=False, isolation_level=None
        )
        index = {"dims": vectors.dimension, "embed": vectors.lists, "text_fields": ["text"]}
        self._store = SqliteStore(self._connection, index=index)
        self._store.setup()

    def add(self, user: str, texts: Sequence[str]) -> None:
        """Put texts in one batch."""
        self._store.batch([PutOp(("memories", user), text, {"text": text}) for text in texts])

    def search(self, user: str, question: str, k: int) -> int:
        """Search the namespace."""
        return len(self._store.search(("memories", user), query=question, limit=k))

    def settle(self) -> None:
        """Do nothing: there is no work in the background."""

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
