"""LangGraph's own tests of its stores, run over `SemanticMemoryStore`.

    pip download --no-deps --no-binary :all: langgraph-checkpoint langgraph-checkpoint-sqlite
    pip install pytest-asyncio pytest-mock langgraph-checkpoint-sqlite
    python -m tests.integrations.published langgraph_checkpoint-4.3.2.tar.gz \
        langgraph_checkpoint_sqlite-3.1.2.tar.gz

The suites are unpacked and run with this module in place of the stores that they import.
"""

from __future__ import annotations

import asyncio
import re
import sys
import tarfile
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from langgraph.store.base import Op, Result, ensure_embeddings

from semantic_memory import SemanticMemory
from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.ports import EmbedderIdentity
from semantic_memory.integrations.langgraph import SemanticMemoryStore
from semantic_memory.testing import HashEmbedder, InMemoryIndex
from tests.integrations.suites import count_surprises

_SUITES = ("test_store.py", "test_async_store.py", "test_ttl.py", "embed_test_utils.py")
_OPTIONS = ("-o", "asyncio_mode=auto", "-o", "markers=flaky")
_SQLITE: Mapping[str, Mapping[str, str]] = {
    "test_store.py": {
        "test_vector_store_initialization": "looks at SQLite's tables",
        "test_nonnull_migrations": "reads the SQL of SQLite's migrations",
    }
}
_IN_MEMORY: Mapping[str, Mapping[str, str]] = {
    "test_store.py": {
        "test_embed_with_path": "fills up with items without vectors, as SQLite's doesn't"
    }
}
"""Tests that fail, by suite, with the reason."""


class GivenEmbedder:
    """The embedding model that a test of LangGraph brings along."""

    def __init__(self, index: Any) -> None:
        self._model = ensure_embeddings(index["embed"])
        self.identity = EmbedderIdentity("given", index["dims"], "none", "fp32")

    def embed(self, texts: Sequence[str], input_type: str) -> Matrix:
        """Return unit row vectors."""
        del input_type
        rows = np.array(self._model.embed_documents([*texts]), np.float32).reshape(len(texts), -1)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        unit: Matrix = (rows / np.where(lengths == 0, 1, lengths)).astype(np.float32)
        return unit


class PublishedStore(SemanticMemoryStore):
    """The store with what LangGraph's stores have beside their interface."""

    def __init__(self, index: Any = None, ttl: Any = None) -> None:
        self.memory = SemanticMemory.open(
            tempfile.mkdtemp(),
            embedder=GivenEmbedder(index) if index else HashEmbedder(),
            index=InMemoryIndex(),
        )
        given = index or {}
        fields = given.get("text_fields") or given.get("fields")
        super().__init__(self.memory, user_of="tests", fields=fields, ttl=ttl)
        self.index_config = index

    def setup(self) -> None:
        """Do nothing: the ledger has its tables."""

    def start_ttl_sweeper(self) -> None:
        """Do nothing: expired items are gone at once."""

    def stop_ttl_sweeper(self) -> None:
        """Do nothing."""


class InMemoryStore(PublishedStore):
    """Allows synchronous calls on the event loop, which a mock of these tests makes."""

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations on any thread."""
        return self._blocking(*self._planned(ops))


def _as_sqlite(ttl: Any) -> Any:
    """Return a store's TTL with SQLite's default for what it leaves out."""
    return ttl and {"refresh_on_read": False, **ttl}


class SqliteStore:
    """Opens a store as LangGraph's is opened."""

    @staticmethod
    @contextmanager
    def from_conn_string(_: str, index: Any = None, ttl: Any = None) -> Iterator[PublishedStore]:
        """Open a store in a directory of its own."""
        store = PublishedStore(index, _as_sqlite(ttl))
        with store.memory:
            yield store


class _AwaitedStore(PublishedStore):
    async def setup(self) -> None:  # type: ignore[override]  # as in LangGraph's
        """Do nothing."""

    async def start_ttl_sweeper(self) -> None:  # type: ignore[override]
        """Do nothing."""

    async def stop_ttl_sweeper(self) -> None:  # type: ignore[override]
        """Do nothing."""

    async def sweep_ttl(self) -> int:  # type: ignore[override]
        """Erase expired items."""
        return await asyncio.to_thread(super().sweep_ttl)


class AsyncSqliteStore:
    """Opens a store as LangGraph's asynchronous one is opened."""

    @staticmethod
    @asynccontextmanager
    async def from_conn_string(
        _: str, index: Any = None, ttl: Any = None
    ) -> AsyncIterator[PublishedStore]:
        """Open a store in a directory of its own."""
        store = _AwaitedStore(index, _as_sqlite(ttl))
        with store.memory:
            yield store


def adapted(source: str) -> str:
    """Return a suite that imports the stores from here."""
    here = f"from {__spec__.name} import"
    source = re.sub(r"from langgraph\.store\.sqlite import", f"{here}", source)
    source = re.sub(r"from langgraph\.store\.sqlite\.aio import", f"{here}", source)
    source = source.replace("from langgraph.store.memory import", here)
    return re.sub(r"from tests\.(\w+) import", r"from \1 import", source)


def main(archives: Sequence[str]) -> int:
    """Unpack the suites of source distributions and run them; return how many tests surprise."""
    surprises = 0
    for archive in map(Path, archives):
        known = _SQLITE if "sqlite" in archive.name else _IN_MEMORY
        with tempfile.TemporaryDirectory() as directory, tarfile.open(archive) as packed:
            for member in packed:
                if "/tests/" in member.name and Path(member.name).name in _SUITES:
                    file = packed.extractfile(member)
                    if file is not None:
                        text = adapted(file.read().decode())
                        Path(directory, Path(member.name).name).write_text(text, encoding="utf-8")
            for suite in sorted(Path(directory).glob("test_*.py")):
                print(archive.name, end=" ", flush=True)
                options = (*_OPTIONS, "--rootdir", directory)
                surprises += count_surprises(suite, known.get(suite.name, {}), options)
    return surprises


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
