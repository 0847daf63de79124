"""A store in a data directory, which one process owns."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from ingest.session_log import FileSessionLog, Patience
from semantic_memory.application.encrypting import refuse_half_converted
from semantic_memory.application.keyring import make_encryption
from semantic_memory.application.place import DataDirectory
from semantic_memory.application.private_files import PARTITIONS, TRACES, make_private
from semantic_memory.application.reading import why_only_read
from semantic_memory.application.recovery import refuse_lost
from semantic_memory.application.reserve import Reserve
from semantic_memory.bootstrap.parts import Parts, UseCases
from semantic_memory.bootstrap.storage import Opening, Storage, make_index_home
from semantic_memory.disk import ReadingDisk, SystemDisk
from semantic_memory.domain.errors import StoreLockedError, StoreUnavailableError
from semantic_memory.domain.events import OpenedToRead
from semantic_memory.domain.observers import log_event
from semantic_memory.domain.ports import Ledger, Observer, VectorIndex
from semantic_memory.domain.ports.disk import Disk
from semantic_memory.domain.ports.encryption import Encryption
from semantic_memory.ledger.lock import DirectoryLock, ReadingLock
from semantic_memory.ledger.ram_traces import RamTraces
from semantic_memory.ledger.sqlite import SqliteLedger
from semantic_memory.ledger.sqlite.traces import SqliteTraces
from semantic_memory.pipeline.leasing import LocalLeases
from semantic_memory.retrieval.partition_files import PartitionFiles
from semantic_memory.session.state_files import StateFiles
from semantic_memory.settings import Settings
from semantic_memory.sharing.sharing import Sharing


@dataclass(frozen=True, slots=True)
class Access:
    """Access to a data directory, to write or only to read."""

    disk: Disk
    lock: DirectoryLock | ReadingLock
    patience: Patience
    reading: str = ""
    """Why the store is only read; empty if it is written."""


def build_in_directory(
    settings: Settings,
    parts: Parts,
    make: Callable[[Opening], UseCases],
    sharing: Sharing | None,
    *,
    reembedding: bool,
    recovering: bool,
) -> UseCases:
    """Make the use cases of the store in the data directory, by a function that opens it.

    On a full disk, the reserve's room is used. Where nothing may be written even so, it is opened
    to read, and neither changed nor shared.
    """
    observe = parts.observer or log_event
    reserve = Reserve(settings.data_dir, parts.disk or SystemDisk())

    def opening(access: Access, sharing: Sharing | None, resources: ExitStack) -> Storage:
        return open_directory(
            settings,
            access,
            parts.index,
            observe,
            reserve,
            sharing,
            resources,
            recovering=recovering,
        )

    def written() -> UseCases:
        return make(partial(opening, to_write(settings, parts.disk, sharing), sharing))

    try:
        opened = reserve.lend(written)
    except StoreUnavailableError as error:
        reading = why_only_read(settings.data_dir, error)
        if not reading or reembedding or recovering or parts.disk is not None:
            raise
        opened = make(partial(opening, to_read(settings, reading), None))
        observe(OpenedToRead(reading))
    else:
        reserve.keep()
    return opened


def to_write(settings: Settings, disk: Disk | None, sharing: Sharing | None) -> Access:
    """Create the data directory if necessary, and lock it. Raises StoreLockedError."""
    make_private(settings.data_dir)
    return Access(
        disk or SystemDisk(),
        _locked(settings, sharing),
        Patience(settings.log.patience_seconds, settings.log.patience_bytes),
    )


def to_read(settings: Settings, why: str) -> Access:
    """Take a share in the data directory. Raises StoreLockedError."""
    return Access(ReadingDisk(), ReadingLock(settings.data_dir), Patience(), why)


def open_directory(
    settings: Settings,
    access: Access,
    index: VectorIndex | None,
    observe: Observer,
    reserve: Reserve,
    sharing: Sharing | None,
    resources: ExitStack,
    *,
    recovering: bool,
) -> Storage:
    """Open the store in a data directory; `resources` closes it.

    With `sharing` it is announced while it is open. Raises ConfigurationError if the key is wrong,
    and LedgerBehindError, unless `recovering`, if the ledger is missing or outdated.
    """
    resources.callback(access.lock.release)
    directory, disk, reading = settings.data_dir, access.disk, access.reading
    if sharing is not None:
        resources.enter_context(sharing.offered())
    refuse_half_converted(directory)
    encryption = make_encryption(settings)
    # Before the ledger: where the key is wrong, no new ledger is begun.
    log = FileSessionLog(
        directory / "sessions",
        observe,
        disk,
        encryption,
        access.patience,
        reading=bool(reading),
    )
    home = None if reading else make_index_home(settings, index, disk, encryption)
    ledger = make_ledger(
        settings,
        observe,
        disk,
        encryption,
        reached=0 if home is None else home.position() or 0,
        recovering=recovering,
        reading=reading,
    )
    resources.callback(ledger.close)
    place = DataDirectory(directory, encryption, "none" if home is None else home.name, reading)
    return Storage(
        ledger=ledger,
        log=log,
        states=StateFiles(directory / "working", observe, disk, encryption),
        leases=LocalLeases(),
        home=home,
        room=reserve,
        size=place.size,
        contents=place.contents,
        check=place.check,
        traces=(
            SqliteTraces(directory / TRACES, disk)
            if encryption is None and not reading
            else RamTraces()  # of an encrypted store they tell who asked when
        ),
        files=(
            PartitionFiles(directory / PARTITIONS, ledger, disk, reading=bool(reading))
            if encryption is None
            else None  # they hold texts and vectors
        ),
        purge=place.purge,
        reading=reading,
    )


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
    """Open the ledger of a directory, of which an index has `reached` so many changes.

    `reading` says why it is opened to read only.
    Raises LedgerBehindError, unless `recovering`, if it is missing or outdated.
    """
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


def _locked(settings: Settings, sharing: Sharing | None) -> DirectoryLock:
    """Take the lock of a directory. An owner that shares it isn't waited for."""
    directory, patience = settings.data_dir, settings.lock_seconds
    if sharing is None:
        return DirectoryLock(directory, patience)
    try:
        return DirectoryLock(directory, patience, in_vain=lambda: sharing.other() is not None)
    except StoreLockedError:
        if (owner := sharing.other()) is None:
            raise
        raise StoreLockedError(
            f"{directory} is in use by {owner.name}, which shares it with commands, agents and"
            " `SemanticMemory.connect`: end that process to open it here"
        ) from None
