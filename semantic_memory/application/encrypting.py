"""Encrypt a store at rest, bring it under another key, or back into plain text.

The intent is written first and removed last; while it is there, no process opens the store. Each
file is copied and then replaced, and may be in either form meanwhile, so that a conversion that was
cut off is finished by running it again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock

from ingest.log_file import LogFiles
from ingest.log_line import LineFormat
from ingest.resealing import reseal
from semantic_memory.application.private_files import PARTITIONS, TRACES, make_private
from semantic_memory.application.recovery import refuse_lost
from semantic_memory.disk import SystemDisk
from semantic_memory.domain.changes import STAGES, Advance, Change
from semantic_memory.domain.errors import (
    ConfigurationError,
    NotFoundError,
    StoreError,
    StoreUnavailableError,
)
from semantic_memory.domain.files import replace_file
from semantic_memory.domain.ports import Progress
from semantic_memory.domain.ports.disk import Disk
from semantic_memory.domain.ports.encryption import Encryption
from semantic_memory.domain.reports import Finding
from semantic_memory.domain.sealing import is_current, sealed, unsealed
from semantic_memory.ledger.lock import DirectoryLock
from semantic_memory.ledger.sqlite import SqliteLedger
from semantic_memory.ledger.sqlite.conversion import convert_file, key_of
from semantic_memory.vectors.home import STATE, ChromaDirectory, state

INTENT = "conversion"
"""Name of the file that stands in a data directory while it is converted."""

_LEDGER = "ledger.sqlite3"
_REPLIES = "replies.sqlite3"
_MOVED_AT_ONCE = 200  # logs whose cursors move in one transaction
_FINDING = "encryption"
_DISK = SystemDisk()


class Converted(NamedTuple):
    """Outcome of a conversion."""

    databases: int
    """Databases that were brought into the other form."""
    logs: int
    """Session logs written again."""
    files: int
    """Other files written again: windows, checkpoints, API keys."""


def refuse_half_converted(directory: Path) -> None:
    """Raise ConfigurationError if a conversion of the store was cut off."""
    if (directory / INTENT).exists():
        raise ConfigurationError(
            f"encrypting or decrypting {directory} was cut off: run `semantic-memory admin"
            " encrypt` (or `admin decrypt`) again, which finishes it; nothing is lost"
        )


def convert_store(
    directory: Path,
    encryption: Encryption,
    patience: float,
    *,
    encrypt: bool,
    progress: Progress | None = None,
    disk: Disk = _DISK,
) -> Converted:
    """Bring a store under its first key, or into plain text; it may be in any form before.

    Waits up to `patience` seconds for another process that has it open. Raises NotFoundError if
    there is no store, ConfigurationError, before anything is changed, if the keys don't fit.
    """
    ledger = directory / _LEDGER
    if not directory.is_dir():
        raise NotFoundError(f"no store in {directory}: name a data directory")
    make_private(directory)
    lock = DirectoryLock(directory, patience)
    try:
        refuse_lost(ledger)
        if not ledger.exists():
            raise NotFoundError(f"no store in {directory}: name a data directory")
        return _Conversion(directory, encryption, encrypt, progress, disk).run()
    finally:
        lock.release()


class _Conversion:
    def __init__(
        self,
        directory: Path,
        encryption: Encryption,
        encrypt: bool,
        progress: Progress | None,
        disk: Disk,
    ) -> None:
        self._directory = directory
        self._reads = encryption
        self._writes = encryption if encrypt else None
        self._progress = progress
        self._disk = disk

    def run(self) -> Converted:
        ledger, keys = self._directory / _LEDGER, self._reads.database_keys
        before = self._check_keys(ledger)
        intent, encrypt = self._directory / INTENT, self._writes is not None
        resumed = intent.exists()
        self._replace(intent, b"encrypt" if encrypt else b"decrypt")
        try:
            converted = [convert_file(ledger, keys, self._disk, encrypt=encrypt)]
        except StoreError:
            if not resumed and key_of(ledger, keys) == before:
                self._disk.remove(intent)  # as nothing was changed
            raise
        converted.append(
            convert_file(self._directory / _REPLIES, keys, self._disk, encrypt=encrypt)
        )
        for draft in [*_drafts(self._directory)]:
            self._disk.remove(draft)
        logs = self._convert_logs()
        files = sum(map(self._convert_file, _small_files(self._directory)))
        self._disk.remove(intent)
        self._disk.sync_directory(self._directory)
        return Converted(sum(converted), logs, files)

    def _check_keys(self, ledger: Path) -> bytes | None:
        """Return the key of the ledger. Raises ConfigurationError if one is missing."""
        key_of(self._directory / _REPLIES, self._reads.database_keys)
        reads = LineFormat(self._reads)
        for path in _logs(self._directory):
            reads.read(_first_line(path))
        return key_of(ledger, self._reads.database_keys)

    def _convert_logs(self) -> int:
        """Rewrite the logs, and move the ledger's cursors along; drop an index."""
        files, writes = LogFiles(self._disk), LineFormat(self._writes)
        reads, paths = LineFormat(self._reads), _logs(self._directory)
        keys = self._writes.database_keys if self._writes else ()
        # Behind its watermark or not, it stays as it is.
        ledger = SqliteLedger(
            self._directory / _LEDGER, recovering=True, disk=self._disk, keys=keys
        )
        try:
            if self._writes is not None:
                self._drop_index(ledger)
            for number in range(0, len(paths), _MOVED_AT_ONCE):
                self._report(number, len(paths))
                moved: list[Change] = []
                for path in paths[number : number + _MOVED_AT_ONCE]:
                    session, offsets = reseal(path, files, reads, writes)
                    if session is not None:
                        cursors = [ledger.cursor(*session, stage) for stage in STAGES]
                        moved += [
                            Advance(replace(one, offset=offsets[one.position]))
                            for one in cursors
                            if one.position in offsets
                        ]
                ledger.apply(moved)
            self._report(len(paths), len(paths))
        finally:
            ledger.close()
        return len(paths)

    def _drop_index(self, ledger: SqliteLedger) -> None:
        for directory in _indexes(self._directory):
            ChromaDirectory(directory, 2, self._disk).empty()
        ledger.set_meta(STATE, state(ChromaDirectory.name))

    def _convert_file(self, path: Path) -> bool:
        content = path.read_bytes()
        try:
            if is_current(content, self._writes):
                return False
            plain = unsealed(content, self._reads)
        except ValueError:
            return False  # damaged beyond reading, and encrypted
        with FileLock(self._directory / "keys.lock", mode=0o600):
            self._replace(path, sealed(plain, self._writes))
        return True

    def _replace(self, path: Path, data: bytes) -> None:
        try:
            replace_file(self._disk, path, data)
        except OSError as error:
            raise StoreUnavailableError(f"can't write {path}: {error.strerror or error}") from error

    def _report(self, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress("converting", done, total)


def inspect(directory: Path, encryption: Encryption | None) -> Finding:
    """Check that every file of a store is in the form that its keys give."""
    if encryption is None:
        return Finding(check=_FINDING, ok=True, detail="off: all files are in plain text")
    problems = [*_outdated(directory, encryption)]
    if problems:
        return Finding(
            check=_FINDING,
            ok=False,
            detail="in plain text or under an older key: " + ", ".join(problems),
            remedy="close the store and run semantic-memory admin encrypt",
        )
    return Finding(check=_FINDING, ok=True, detail="every file is under the first key")


def _outdated(directory: Path, encryption: Encryption) -> Iterator[str]:
    for path in (directory / _LEDGER, directory / _REPLIES):
        keys = encryption.database_keys
        if path.exists() and path.stat().st_size and key_of(path, keys) != keys[0]:
            yield path.name
    form = LineFormat(encryption)
    lines = [line for path in _logs(directory) if (line := _first_line(path))]
    if logs := sum(not form.is_current(line) for line in lines):
        yield f"{logs:,} session logs"
    if files := sum(not _is_current(path, encryption) for path in _small_files(directory)):
        yield f"{files:,} windows, checkpoints or lists of API keys"
    yield from (path.name for path in _indexes(directory))


def _is_current(path: Path, encryption: Encryption) -> bool:
    try:
        return is_current(path.read_bytes(), encryption)
    except (FileNotFoundError, ValueError):  # deleted meanwhile; damaged, and encrypted
        return True


def _logs(directory: Path) -> list[Path]:
    return sorted(directory.glob("sessions/*/*.jsonl"))


def _drafts(directory: Path) -> Iterator[Path]:
    """Yield what writes that were cut off have left, in whatever form, traces and partitions.

    An encrypted store keeps neither in files.
    """
    drafts = ("*.new", "sessions/*/*.new", "working/**/*.new", "working/**/.*.json.*")
    for pattern in (*drafts, f"{TRACES}*", f"{PARTITIONS}/*"):
        yield from directory.glob(pattern)


def _first_line(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.readline()


def _small_files(directory: Path) -> list[Path]:
    found = [directory / "keys.json", *sorted(directory.glob("working/**/*"))]
    return [path for path in found if path.is_file()]


def _indexes(directory: Path) -> list[Path]:
    found = (directory / name for name in ("chroma", "chroma.broken"))
    return [path for path in found if path.exists()]
