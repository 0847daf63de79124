"""Parts of an open store that depend on where it is kept, and the keeping of its index."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from semantic_memory.application.proving import Contents
from semantic_memory.application.reserve import Room
from semantic_memory.domain.ports import Ledger, Observer, SessionLog, VectorIndex
from semantic_memory.domain.ports.disk import Disk
from semantic_memory.domain.ports.encryption import Encryption
from semantic_memory.domain.ports.leases import Leases
from semantic_memory.domain.ports.states import States
from semantic_memory.domain.reports import Finding
from semantic_memory.settings import Settings
from semantic_memory.vectors.home import ChromaDirectory, GivenIndex, IndexHome
from semantic_memory.vectors.keeper import Keeper, LedgerKeeper
from semantic_memory.vectors.sync import IndexKeeper


@dataclass(frozen=True, slots=True)
class Storage:
    """The parts of an open store that depend on where it is kept."""

    ledger: Ledger
    log: SessionLog
    states: States
    leases: Leases
    home: IndexHome | None
    """Home of the vector index; None if the ledger answers its queries."""
    room: Room
    size: Callable[[], int]
    """Returns the bytes that the store takes."""
    contents: Contents
    check: Callable[[], Iterable[Finding]]
    """Checks the place."""
    reading: str = ""
    """Why the store is only read; empty if it is written."""


def make_index_home(
    settings: Settings, given: VectorIndex | None, disk: Disk, encryption: Encryption | None
) -> IndexHome | None:
    """Make the home of the index; None for an encrypted store, as vectors tell of their texts."""
    if given is not None:
        return GivenIndex(given)
    if encryption is not None:
        return None
    return ChromaDirectory(settings.data_dir / "chroma", settings.index.sync_threshold, disk)


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
