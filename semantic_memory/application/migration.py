"""Bring many stores to the newest schema, as after an upgrade of a fleet.

Opening a store migrates it too; this neither loads a model nor starts background work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from semantic_memory.application.private_files import make_private
from semantic_memory.domain.errors import ConfigurationError, NotFoundError, StoreError
from semantic_memory.domain.ports import Progress
from semantic_memory.domain.values import Value
from semantic_memory.ledger.lock import DirectoryLock
from semantic_memory.ledger.sqlite.connections import migrate_file

_LEDGER = "ledger.sqlite3"


class Migrated(Value):
    """Outcome of migrating a store."""

    directory: Path
    before: int | None = None
    """Schema before; None if the store couldn't be migrated."""
    after: int | None = None
    error: str | None = None


def find_stores(roots: Iterable[Path]) -> list[Path]:
    """Return the stores at and below directories, in order.

    Raises NotFoundError that names a directory without any.
    """
    found: list[Path] = []
    for root in roots:
        below = [root] if (root / _LEDGER).is_file() else []
        below += sorted(file.parent for file in root.glob(f"*/**/{_LEDGER}"))
        if not below:
            raise NotFoundError(f"no store in {root}, nor below it: name a data directory")
        found += below
    return list(dict.fromkeys(found))


def migrate_stores(
    directories: Iterable[Path],
    patience: float,
    progress: Progress | None = None,
    keys: Sequence[bytes] = (),
) -> Iterator[Migrated]:
    """Migrate stores, each under its lock; a failure is an outcome, and the others continue.

    Waits up to `patience` seconds for a store that another process has open. With `keys`, the
    ledgers are encrypted.
    """
    stores = list(directories)
    for number, directory in enumerate(stores):
        if progress is not None:
            progress("migrating", number, len(stores))
        try:
            make_private(directory)
            lock = DirectoryLock(directory, patience)
            try:
                before, after = migrate_file(directory / _LEDGER, keys)
            finally:
                lock.release()
        except (ConfigurationError, StoreError) as error:
            yield Migrated(directory=directory, error=str(error))
        else:
            yield Migrated(directory=directory, before=before, after=after)
    if progress is not None:
        progress("migrating", len(stores), len(stores))
