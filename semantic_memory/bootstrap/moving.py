"""Open a data directory and a database, and move the store in one to the other."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, cast

from semantic_memory.application.moving import Moved, Side, move
from semantic_memory.application.reserve import Reserve
from semantic_memory.bootstrap.embedded import open_directory, to_write
from semantic_memory.bootstrap.server import open_database
from semantic_memory.bootstrap.storage import Storage
from semantic_memory.disk import SystemDisk
from semantic_memory.domain.errors import ConfigurationError, NotFoundError
from semantic_memory.domain.observers import ignore_event
from semantic_memory.domain.ports import Progress
from semantic_memory.ledger.sql.copying import Rows
from semantic_memory.ledger.sqlite import SqliteLedger
from semantic_memory.ledger.sqlite.copying import SqliteRows
from semantic_memory.settings import EncryptionSettings, Settings, located

if TYPE_CHECKING:
    from semantic_memory.ledger.postgres import PostgresLedger


def move_store(
    settings: Settings,
    to: str,
    progress: Progress | None = None,
    beside: Callable[[], None] | None = None,
) -> Moved:
    """Copy the store that the settings name to a directory or to the URL of a database.

    `beside` copies what is kept beside it, before the copy counts as complete.
    Of the directory, no process may have the store open. Raises NotFoundError if there is no store,
    and what `move` raises.
    """
    target = located(to, settings)
    if (settings.store.url is None) == (target.store.url is None):
        raise ConfigurationError(
            f"a move goes from a directory to a database or back, and {settings.place} and"
            f" {target.place} are of one kind: copy the directory, or use pg_dump"
        )
    if settings.store.url is None and not (settings.data_dir / "ledger.sqlite3").is_file():
        raise NotFoundError(f"no store in {settings.data_dir}: name a data directory")
    with ExitStack() as resources:
        source = _opened(settings, resources)
        return move(source, _opened(target, resources), progress, beside)


def _opened(settings: Settings, resources: ExitStack) -> Side:
    storage = _storage(settings, resources)
    place = settings.place if settings.store.url is not None else str(settings.data_dir.resolve())
    return Side(place, _rows(storage), storage.ledger, storage.log, storage.states)


def _storage(settings: Settings, resources: ExitStack) -> Storage:
    url = settings.store.plain_url
    if url is not None:  # its disks are encrypted, if anything is
        plain = settings.model_copy(update={"encryption": EncryptionSettings()})
        return open_database(plain, url, None, ignore_event, resources)
    access = to_write(settings, None, None)
    reserve = Reserve(settings.data_dir, SystemDisk())
    return open_directory(
        settings, access, None, ignore_event, reserve, None, resources, recovering=False
    )


def _rows(storage: Storage) -> Rows:
    if isinstance(storage.ledger, SqliteLedger):
        return SqliteRows(storage.ledger.connections)
    from semantic_memory.ledger.postgres.copying import PostgresRows

    return PostgresRows(cast("PostgresLedger", storage.ledger).connections)
