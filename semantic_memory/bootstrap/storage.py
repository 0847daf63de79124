"""Wire up the ledger and the index, in plain text or encrypted."""

from __future__ import annotations

from collections.abc import Callable

from semantic_memory.application.recovery import refuse_lost
from semantic_memory.domain.errors import ConfigurationError
from semantic_memory.domain.ports import Ledger, Observer, VectorIndex
from semantic_memory.domain.ports.disk import Disk
from semantic_memory.domain.ports.encryption import Encryption
from semantic_memory.ledger.memory import MemoryLedger
from semantic_memory.ledger.sqlite import SqliteLedger
from semantic_memory.settings import IndexSettings, Settings
from semantic_memory.vectors.home import CHROMA, ChromaDirectory, GivenIndex, IndexHome
from semantic_memory.vectors.keeper import Keeper, LedgerKeeper
from semantic_memory.vectors.sync import IndexKeeper


def make_index_home(
    settings: Settings, given: VectorIndex | None, disk: Disk, encryption: Encryption | None
) -> IndexHome | None:
    """Make the home of the index that the settings name; None if there is to be none.

    An encrypted store has none, as vectors tell of their texts. Raises ConfigurationError if it is
    to have one elsewhere, and for a URL that isn't the provider's.
    """
    if given is not None:
        return GivenIndex(given)
    index = settings.index
    if encryption is not None and index.provider not in ("chroma", "none"):
        raise ConfigurationError(
            f"index.provider is {index.provider}, but the store is encrypted, and vectors tell of"
            " their texts: set index.provider to none"
        )
    if encryption is not None or index.provider == "none":
        return None
    if index.provider == "chroma":
        return ChromaDirectory(settings.data_dir / CHROMA, index.sync_threshold, disk)
    return _served(index)


def _served(index: IndexSettings) -> IndexHome:
    """Make the home of an index on a server, whose client is imported only then."""
    url = index.url.get_secret_value()
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
