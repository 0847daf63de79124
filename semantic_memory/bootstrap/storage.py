"""Wire up the ledger and the index, in plain text or encrypted."""

from __future__ import annotations

from collections.abc import Callable

from semantic_memory.application.recovery import refuse_lost
from semantic_memory.domain.ports import Ledger, Observer, VectorIndex
from semantic_memory.domain.ports.disk import Disk
from semantic_memory.domain.ports.encryption import Encryption
from semantic_memory.ledger.memory import MemoryLedger
from semantic_memory.ledger.sqlite import SqliteLedger
from semantic_memory.settings import Settings
from semantic_memory.vectors.home import ChromaDirectory, GivenIndex, IndexHome
from semantic_memory.vectors.keeper import Keeper, LedgerKeeper
from semantic_memory.vectors.sync import IndexKeeper


def make_index_home(
    settings: Settings, given: VectorIndex | None, disk: Disk, encryption: Encryption | None
) -> IndexHome | None:
    """Make the home of the index; None for an encrypted store, as vectors tell of their texts."""
    if given is not None:
        return GivenIndex(given)
    if encryption is not None:
        return None
    return ChromaDirectory(settings.data_dir / "chroma", settings.index.sync_threshold, disk)


def make_ledger(
    settings: Settings,
    observe: Observer,
    disk: Disk,
    encryption: Encryption | None,
    *,
    reached: int,
    recovering: bool,
    reading: str = "",
) -> Ledger:
    """Open the ledger that the settings name, of which an index has `reached` so many changes.

    `reading` says why it is opened to read only.
    Raises LedgerBehindError, unless `recovering`, if it is gone or older than it was.
    """
    match settings.ledger.store:
        case "sqlite":
            path = settings.data_dir / "ledger.sqlite3"
            if not recovering:
                refuse_lost(path)
            return SqliteLedger(
                path,
                observe,
                reached=reached,
                recovering=recovering,
                disk=disk,
                keys=() if encryption is None else encryption.database_keys,
                reading=reading,
            )
        case "memory":
            return MemoryLedger(observe)


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
