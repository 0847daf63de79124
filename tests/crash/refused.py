"""Write to a store whose files may not grow, and print the outcome.

python -m tests.crash.refused DIRECTORY
"""

from __future__ import annotations

import resource
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from semantic_memory import SemanticMemory
from semantic_memory.domain.errors import StoreUnavailableError
from semantic_memory.testing import HashEmbedder, InMemoryIndex
from tests.conftest import say

U: dict[str, Any] = {"user_id": "u1"}
S: dict[str, Any] = {"user_id": "u1", "session_id": "s1"}


def limit(size: int) -> None:
    """Limit files to `size` bytes; further writes fail with EFBIG."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def main(directory: Path) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with SemanticMemory.open(directory, embedder=HashEmbedder(), index=InMemoryIndex()) as memory:
        memory.observe(say("One"), **S)
        memory.flush()
        log = memory.sessions.list(**U)[0].log_bytes
        limit(log + 10)
        for number in range(3):
            with pytest.raises(StoreUnavailableError, match="nothing of this call was kept"):
                memory.observe(say("Two is refused", start=2), **S)
            assert memory.sessions.list(**U)[0].log_bytes == log, number
        limit(-1)
        assert memory.observe(say("Two is taken", start=2), **S).accepted == 1
        memory.flush()
        limit(4096)
        for _ in range(2):
            with pytest.raises(StoreUnavailableError, match=str(directory)):
                memory.add("A fact that finds no room " * 400, **U)
        assert memory.search("one", **U)  # existing memories are still found
        limit(-1)
        memory.add("Likes tea", **U)
        memory.flush()
        assert [finding for finding in memory.admin.check() if not finding.ok] == []
        said = [message.content for message in memory.sessions.messages(**S)]
        assert said == ["One", "Two is taken"], said
        assert any(fact.content == "Likes tea" for fact in memory.list(**U))
    print("done")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
