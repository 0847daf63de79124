"""Parts of an open store that depend on where it is kept, and the keeping of its index."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass

from semantic_memory.application.proving import Contents
from semantic_memory.application.reserve import Room
from semantic_memory.domain.errors import ConfigurationError
from semantic_memory.domain.ports import Ledger, Observer, VectorIndex
from semantic_memory.domain.ports.disk import Disk
from semantic_memory.domain.ports.encryption import Encryption
from semantic_memory.domain.ports.leases import Leases
from semantic_memory.domain.ports.log import CopiedLog
from semantic_memory.domain.ports.states import CopiedStates
from semantic_memory.domain.ports.traces import Traces
from semantic_memory.domain.reports import Finding
from semantic_memory.retrieval.partition_files import PartitionFiles
from semantic_memory.settings import IndexSettings, Settings
from semantic_memory.vectors.home import CHROMA, ChromaDirectory, GivenIndex, IndexHome
from semantic_memory.vectors.keeper import Keeper, LedgerKeeper
from semantic_memory.vectors.sync import IndexKeeper


@dataclass(frozen=True, slots=True)
class Storage:
    """The parts of an open store that depend on where it is kept."""

    ledger: Ledger
    log: CopiedLog
    states: CopiedStates
    leases: Leases
    home: IndexHome | None
    """Home of the vector index; None if the ledger answers its queries."""
    room: Room
    size: Callable[[], int]
    """Returns the bytes that the store takes."""
    contents: Contents
    check: Callable[[], Iterable[Finding]]
    """Checks the place."""
    traces: Traces
    files: PartitionFiles | None = None
    """The files of partitions; None if there are none, as an encrypted store has."""
    purge: Callable[[], None] = lambda: None
    """Removes what is left of an index that isn't used any more."""
    reading: str = ""
    """Why the store is only read; empty if it is written."""


Opening = Callable[[ExitStack], Storage]
"""Opens a store; the stack closes it."""


def make_index_home(
    settings: Settings, given: VectorIndex | None, disk: Disk, encryption: Encryption | None
) -> IndexHome | None:
    """Make the home of the index that the settings name; None if there is to be none.

    An encrypted store has none, as vectors reveal their texts. Raises ConfigurationError if it is
    to have one elsewhere, and for a URL that isn't the provider's.
    """
    if given is not None:
        return GivenIndex(given)
    index = settings.index
    if encryption is not None and index.provider not in ("chroma", "none"):
        raise ConfigurationError(
            f"index.provider is {index.provider}, but the store is encrypted, and vectors reveal"
            " their texts: set index.provider to none"
        )
    if encryption is not None or index.provider == "none":
        return None
    if index.provider == "chroma":
        return ChromaDirectory(settings.data_dir / CHROMA, index.sync_threshold, disk)
    return _served(index)


def make_shared_home(settings: Settings, given: VectorIndex | None, url: str) -> IndexHome | None:
    """Make the home of an index for all processes on the database at `url`; None for none.

    By pgvector it is in that database, if no other is named. Raises ConfigurationError.
    """
    if given is not None:
        return GivenIndex(given)
    match settings.index.provider:
        case "chroma" | "none":
            return None
        case "pgvector":
            return _served(settings.index, url)
        case "chroma-server":
            return _served(settings.index)


def _served(index: IndexSettings, otherwise: str = "") -> IndexHome:
    """Make the home of an index on a server, whose client is imported only then."""
    url = index.url.get_secret_value() or otherwise
    if not url:
        raise ConfigurationError(
            f"index.provider is {index.provider}, but index.url is empty: set it to where that is"
        )
    if index.provider == "pgvector":
        from semantic_memory.vectors.pgvector.home import PgvectorDatabase

        return PgvectorDatabase(url)
    from semantic_memory.vectors.chroma.server import ChromaServer

    token = index.token.get_secret_value()
    return ChromaServer(url, token, index.name, index.sync_threshold)


def make_keeper(
    home: IndexHome | None,
    ledger: Ledger,
    observe: Observer,
    own_at: int,
    lags: Callable[[], None],
) -> Keeper:
    """Make the keeper of the index in `home`; without one, queries go to the ledger."""
    if home is None:
        return LedgerKeeper(ledger)
    return IndexKeeper(home, ledger, observe, own_at=own_at, lags=lags)
