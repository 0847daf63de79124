"""Repair a store that can't be opened: embed it again, or continue with an older ledger."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # loaded by each function, as `SemanticMemory.open` does
    from semantic_memory.domain.ports import Embedder, Progress, VectorIndex
    from semantic_memory.settings import Settings


def reembed(
    data_dir: str | Path | None = None,
    *,
    settings: Settings | None = None,
    embedder: Embedder | None = None,
    progress: Progress | None = None,
) -> int:
    """Embed every memory of a store again with the configured model; return their number.

    If it is interrupted, the next opening resumes it.
    """
    from semantic_memory.bootstrap import Parts, build
    from semantic_memory.settings import located

    parts = Parts(embedder=embedder)
    with closing(build(located(data_dir, settings), parts, reembedding=True)) as use_cases:
        return use_cases.maintenance.embed(progress)


def recover(
    data_dir: str | Path | None = None,
    *,
    settings: Settings | None = None,
    embedder: Embedder | None = None,
    index: VectorIndex | None = None,
    progress: Progress | None = None,
) -> int:
    """Continue with an outdated or missing ledger; return the number of memories.

    Reads the session logs again, forgets again what they know as forgotten, and fills the index
    again. What the logs don't have is lost: facts, edits and deletions of facts that were made
    without a message since then.
    """
    from semantic_memory.bootstrap import Parts, build
    from semantic_memory.settings import located

    parts = Parts(embedder=embedder, index=index)
    with closing(build(located(data_dir, settings), parts, recovering=True)) as use_cases:
        return use_cases.maintenance.take_in(progress)
