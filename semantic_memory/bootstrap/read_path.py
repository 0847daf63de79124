"""Wire up the read path: search, and what enters prompts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from semantic_memory.context.choose import Policy
from semantic_memory.context.pack import Packer
from semantic_memory.domain.errors import ConfigurationError, MissingDependencyError
from semantic_memory.domain.ports import Clock, Embedder, Ledger, Observer, TokenCounter
from semantic_memory.pipeline.session_records import fading_of
from semantic_memory.retrieval.exact import ExactIndex
from semantic_memory.retrieval.partition_files import PartitionFiles
from semantic_memory.retrieval.ranking import Weights
from semantic_memory.retrieval.rerankers.packaged import (
    BLEND,
    FOR_BLOCKS,
    FOR_SEARCHES,
    PackagedReranker,
)
from semantic_memory.retrieval.reranking import Most, Reranker, Reranking
from semantic_memory.retrieval.search import Searcher
from semantic_memory.session.memory_files import Caps, MemoryFiles, standard_directories
from semantic_memory.settings import ContextSettings, RerankSettings, Settings
from semantic_memory.vectors.keeper import Keeper

_MEGABYTES = 32  # for the users searched last
_CANDIDATES = 40  # of which another model than the packaged one reads the texts


def make_index(
    settings: Settings,
    ledger: Ledger,
    keeper: Keeper,
    files: PartitionFiles | None,
    lags: Callable[[str], None],
) -> ExactIndex:
    """Make the index in RAM over the users searched last; `keeper` answers for larger ones."""
    return ExactIndex(
        ledger,
        keeper,
        budget_bytes=(settings.index.exact_megabytes or _MEGABYTES) * 1_000_000,
        limit=settings.index.scanned,
        files=files,
        lags=lags,
    )


def make_searcher(
    settings: Settings,
    ledger: Ledger,
    index: ExactIndex,
    embedder: Embedder,
    clock: Clock,
    observe: Observer,
) -> Searcher:
    """Make the search, with the weights in the settings."""
    return Searcher(
        ledger,
        index,
        embedder,
        clock,
        Weights(**settings.retrieval.model_dump()),
        settings.half_lives,
        partial(fading_of, ledger),
        observe,
        settings.curve,
    )


def make_reranking(
    settings: RerankSettings, given: Reranker | None, observe: Observer, stack: ExitStack
) -> Reranking | None:
    """Make what reorders hits, by a given reranker or that of the settings; None without one.

    Raises ConfigurationError.
    """
    reranker = given or _reranker(settings)
    if reranker is None:
        return None
    stack.callback(reranker.close)
    is_packaged = isinstance(reranker, PackagedReranker)
    searches = not is_packaged if settings.searches is None else settings.searches
    for_searches, for_blocks = (
        (FOR_SEARCHES, FOR_BLOCKS) if is_packaged else (_CANDIDATES, _CANDIDATES)
    )
    most = Most(
        for_searches=(settings.candidates or for_searches) if searches else 0,
        for_blocks=settings.candidates or for_blocks,
    )
    blend = BLEND if is_packaged else None
    return Reranking(reranker, most, observe, blend=blend)


def _reranker(settings: RerankSettings) -> Reranker | None:
    key = None if settings.api_key is None else settings.api_key.get_secret_value()
    match settings.provider:
        case "none":
            return None
        case "packaged":
            return PackagedReranker()
        case "cross-encoder":
            try:
                from semantic_memory.retrieval.rerankers.cross_encoder import CrossEncoderReranker
            except ImportError as error:
                raise MissingDependencyError(
                    "rerank.provider cross-encoder needs sentence-transformers:"
                    " pip install 'semantic-memory[sentence-transformers]'"
                ) from error
            return CrossEncoderReranker(settings.model)
        case form:
            from semantic_memory.retrieval.rerankers.http import HttpReranker

            try:
                return HttpReranker(
                    form,
                    settings.model,
                    base_url=settings.base_url,
                    api_key=key,
                    timeout=settings.timeout_seconds,
                )
            except ValueError as error:
                raise ConfigurationError(f"rerank: {error}") from None


def make_packer(context: ContextSettings, counter: TokenCounter) -> Packer:
    """Make a packer for the model whose tokens `counter` counts."""
    policy = Policy(
        shares=context.shares,
        diversity=context.diversity,
        floor=context.floor,
        weakest=context.weakest,
        core=context.core,
        history=context.history,
    )
    return Packer(counter, context.template, policy)


def make_memory_files(
    settings: Settings, observe: Observer, directories: Sequence[Path] | None
) -> MemoryFiles:
    """Make the memory files of `directories`, else of those in the settings or the usual ones."""
    window = settings.window
    if directories is None:
        directories = window.memory_directories
    if directories is None:
        directories = standard_directories()
    caps = Caps(window.memory_file_lines, window.memory_file_bytes)
    return MemoryFiles(directories, caps, observe)
