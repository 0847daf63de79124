"""The store that a command works on: opened here, or through the service that has it open."""

from __future__ import annotations

from pathlib import Path

from semantic_memory.bootstrap.models import make_embedder
from semantic_memory.client import Client
from semantic_memory.client.local import find_service
from semantic_memory.domain.errors import StoreLockedError
from semantic_memory.domain.ports import Embedder
from semantic_memory.entrypoints.cli import show
from semantic_memory.memory import SemanticMemory
from semantic_memory.settings import Settings, load
from semantic_memory.vectors.embedders.onnx import OnnxEmbedder


def opened(
    data_dir: Path | None, *, embeds: bool = False, batch: bool = False
) -> SemanticMemory | Client:
    """Open the store in `data_dir`, or a client of the service that has it open.

    `embeds` prepares the embedder first. With `batch` facts are extracted through the provider's
    batch API, and never through a service. Raises StoreLockedError if another process, which isn't
    a service, has the store open.
    """
    settings = load(data_dir=data_dir)
    if batch:
        extraction = settings.extraction.model_copy(update={"batch": True})
        settings = settings.model_copy(update={"extraction": extraction})
    if find_service(settings.data_dir) is not None:
        settings = settings.model_copy(update={"lock_seconds": 0.0})  # it won't let go
    try:
        embedder = prepared(settings) if embeds else None
        return SemanticMemory.open(settings=settings, embedder=embedder)
    except StoreLockedError:
        service = find_service(settings.data_dir)
        if service is None or batch:
            raise
        return service


def prepared(settings: Settings) -> Embedder:
    """Make the embedder of the settings, and compile it if need be."""
    embedder = make_embedder(settings)
    if isinstance(embedder, OnnxEmbedder) and not embedder.prepared:
        with show.err.status("Compiling the embedding model, once, about 15 s"):
            embedder.embed(["ready"], "query")
    return embedder


def reembed(data_dir: Path | None, *, quiet: bool) -> int:
    """Embed every memory anew, with a progress bar; return their number."""
    with show.progress(quiet) as report:
        return SemanticMemory.reembed(data_dir, progress=report)
