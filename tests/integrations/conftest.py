"""A memory without a model, and a chat model that follows a script."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from semantic_memory import SemanticMemory
from semantic_memory.testing import FrozenClock, HashEmbedder, InMemoryIndex
from tests.conftest import NOW


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def still() -> FrozenClock:
    return FrozenClock(NOW)


@pytest.fixture
def memory(tmp_path: Path, still: FrozenClock) -> Iterator[SemanticMemory]:
    with SemanticMemory.open(
        tmp_path / "store", embedder=HashEmbedder(), index=InMemoryIndex(), clock=still
    ) as opened:
        yield opened
