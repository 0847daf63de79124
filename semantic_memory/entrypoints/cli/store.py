"""The store that a command works on: opened here, or through the process that has it open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from semantic_memory import repair
from semantic_memory.bootstrap import Parts
from semantic_memory.bootstrap.models import make_embedder
from semantic_memory.domain.ports import Embedder
from semantic_memory.entrypoints.cli import show
from semantic_memory.entrypoints.shared import SharedStore
from semantic_memory.memory import SemanticMemory
from semantic_memory.settings import Settings, located

if TYPE_CHECKING:
    from semantic_memory.client import Client


@contextmanager
def opened(
    data_dir: str | None,
    *,
    user: str | None = None,
    embeds: bool = False,
    batch: bool = False,
) -> Iterator[SemanticMemory | Client]:
    """Open the store at `data_dir`, or a client of the process that has it open.

    Of a `user` without memories, it says who has some under an id of other case. `embeds` prepares
    the embedder first. With `batch` facts are extracted through the provider's
    batch API, and never through another process. Raises what `SharedStore.memory` does.
    """
    settings = located(data_dir, None)
    upkeep = settings.upkeep.model_copy(update={"schedule": False})
    settings = settings.model_copy(update={"upkeep": upkeep})
    if batch:
        extraction = settings.extraction.model_copy(update={"batch": True})
        settings = settings.model_copy(update={"extraction": extraction})
    with SharedStore(settings, "command", partial(_parts, settings, embeds=embeds)) as store:
        with show.waiting("opening the store"):
            memory = store.own() if batch else store.memory()
        if user is not None and (near := _other_case(memory, user)) is not None:
            show.warn(f"user {user!r} has no memories: did you mean {near!r}?")
        yield memory


def shared(data_dir: str | None) -> SharedStore:
    """Return the store at `data_dir` for an agent's server; its first use opens it."""
    settings = located(data_dir, None)
    return SharedStore(settings, "mcp", partial(_parts, settings, embeds=True))


def _parts(settings: Settings, *, embeds: bool) -> Parts:
    return Parts(embedder=prepared(settings) if embeds else None)


def prepared(settings: Settings) -> Embedder:
    """Make the embedder of the settings, and compile its model if necessary."""
    embedder = make_embedder(settings)
    embedding = settings.embedding
    if embedding.provider == "onnx" and embedding.precision == "fp32":
        with show.waiting("loading the embedding model; compiling it, once, takes about 15 s"):
            embedder.embed(["ready"], "query")
    return embedder


def reembed(data_dir: str | None, *, quiet: bool) -> int:
    """Embed every memory again, with a progress bar; return their number."""
    with show.progress(quiet) as report:
        return repair.reembed(data_dir, progress=report)


def recover(data_dir: str | None, *, quiet: bool) -> int:
    """Continue with an older ledger, with a progress bar; return the number of memories."""
    with show.progress(quiet) as report:
        return repair.recover(data_dir, progress=report)


def _other_case(memory: SemanticMemory | Client, user: str) -> str | None:
    """Return the user whose id differs from an unknown one in its case alone; None without one."""
    known = memory.admin.users()
    if user in known:
        return None
    return next((one for one in known if one.casefold() == user.casefold()), None)
