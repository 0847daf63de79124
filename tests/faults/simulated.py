"""A disk that fails as its weather says, and knows what a loss of power would leave of its files.

The files are real, as the process sees them. Beside each stand the bytes that survived its last
`fsync`, and the writes since, of which a loss of power keeps all, none, the first, some, or torn
ones; so it does with names, in order, until their directory was synced.
"""

from __future__ import annotations

import errno
import io
import os
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import BinaryIO

from semantic_memory.disk import SystemDisk
from tests.faults.weather import Faults, PowerCut

_SECTOR = 512

Write = tuple[int, bytes | None]
"""Offset and bytes; without bytes, the size to which the file is cut."""


@dataclass
class Kept:
    """A file on the platters: what survived its last sync, and the writes since."""

    synced: bytes = b""
    writes: list[Write] = field(default_factory=list)

    def sync(self) -> None:
        """Have all of it survive."""
        self.synced, self.writes = applied(self.synced, self.writes), []

    def lose(self, rng: Random) -> None:
        """Decide which of the writes survive."""
        self.synced, self.writes = applied(self.synced, surviving(rng, self.writes)), []


@dataclass
class Renamed:
    """A change of a directory's names that isn't durable yet; None takes the name away."""

    directory: Path
    names: dict[Path, Kept | None]


def applied(data: bytes, writes: list[Write]) -> bytes:
    """Return a file after some writes."""
    content = bytearray(data)
    for offset, piece in writes:
        if len(content) < offset:
            content.extend(bytes(offset - len(content)))
        if piece is None:
            del content[offset:]
        else:
            content[offset : offset + len(piece)] = piece
    return bytes(content)


def surviving(rng: Random, writes: list[Write]) -> list[Write]:
    """Draw which of some writes reach the platters."""
    match rng.choice(["all", "none", "first", "some", "torn"]):
        case "all":
            return writes
        case "none":
            return []
        case "first":
            return writes[: rng.randint(0, len(writes))]
        case "some":
            return [write for write in writes if rng.random() < 0.5]
        case _:
            return [part for write in writes for part in _sectors(write) if rng.random() < 0.5]


def _sectors(write: Write) -> list[Write]:
    offset, piece = write
    if piece is None:
        return [write]
    starts = [0, *range(_SECTOR - offset % _SECTOR, len(piece), _SECTOR)]
    ends = [*starts[1:], len(piece)]
    return [(offset + a, piece[a:b]) for a, b in zip(starts, ends, strict=True)]


class SimulatedDisk(SystemDisk):
    """A directory on a disk that fails."""

    def __init__(self, root: Path, faults: Faults) -> None:
        self.root = root
        self.faults = faults
        self._open: dict[int, Path] = {}
        self._files = {file: Kept(file.read_bytes()) for file in files_in(root)}
        self._durable = dict(self._files)
        self._journal: list[Renamed] = []

    # ---------------------------------------------------------------- calls of the product

    def open(self, path: Path, flags: int) -> int:
        self._call("open", path)
        fresh = not path.exists()
        descriptor = super().open(path, flags)
        if fresh:
            self.created(path)
        elif flags & os.O_TRUNC:
            self._files[path].writes.append((0, None))
        self._open[descriptor] = path
        return descriptor

    def write(self, file: int, data: bytes | memoryview) -> int:
        return self._write(file, bytes(data), os.fstat(file).st_size)  # all of them append

    def overwrite(self, file: int, data: bytes) -> int:
        return self._write(file, data, 0)

    def _write(self, file: int, data: bytes, offset: int) -> int:
        path = self._open[file]
        try:
            self._call("write", path)
        except PowerCut:
            self.wrote(path, offset, data)  # as much of it as will survive
            raise
        if len(data) > 1 and self.faults.cuts_short():
            data = data[: self.faults.rng.randint(1, len(data) - 1)]
        os.pwrite(file, data, offset) if not _appends(file) else os.write(file, data)
        self.wrote(path, offset, data)
        return len(data)

    def truncate(self, file: int, size: int) -> None:
        self._call("truncate", self._open[file])
        super().truncate(file, size)
        self.wrote(self._open[file], size, None)

    def sync(self, file: int) -> None:
        path = self._open[file]
        self._call("sync", path)
        if not self.synced(path):
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

    def close(self, file: int) -> None:
        self._open.pop(file, None)
        super().close(file)

    def reader(self, path: Path) -> BinaryIO:
        self._call("read", path)
        return io.BytesIO(self.faults.rotten(path.read_bytes()))

    def replace(self, source: Path, target: Path) -> None:
        self._call("replace", source)
        super().replace(source, target)
        kept = self._files.pop(source)
        self._files[target] = kept
        self._journal.append(Renamed(target.parent, {source: None, target: kept}))

    def remove(self, path: Path) -> None:
        self._call("remove", path)
        super().remove(path)
        self.removed(path)

    def make_directory(self, path: Path) -> None:
        self._call("make_directory", path)
        super().make_directory(path)

    def remove_directory(self, path: Path) -> None:
        self._call("remove_directory", path)
        super().remove_directory(path)

    def sync_directory(self, path: Path) -> None:
        self._call("sync_directory", path)
        if self.faults.loses_sync():
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
        self.named(path)

    def _call(self, call: str, path: Path) -> None:
        if number := self.faults.refuses(call):
            raise OSError(number, os.strerror(number), str(path))

    # ---------------------------------------------------------------- the books

    def created(self, path: Path) -> None:
        """Note a new file."""
        kept = self._files[path] = Kept()
        self._journal.append(Renamed(path.parent, {path: kept}))

    def removed(self, path: Path) -> None:
        """Note that a file was deleted."""
        self._files.pop(path, None)
        self._journal.append(Renamed(path.parent, {path: None}))

    def wrote(self, path: Path, offset: int, data: bytes | None) -> None:
        """Note a write."""
        self._files[path].writes.append((offset, data))

    def synced(self, path: Path) -> bool:
        """Note that a file was synced, if that succeeds; return whether it did."""
        if self.faults.loses_sync():
            self._files[path].lose(self.faults.rng)
            return False
        if not self.faults.lies():
            self._files[path].sync()
        return True

    def named(self, directory: Path) -> None:
        """Note that the names in a directory were synced."""
        mine = [entry for entry in self._journal if entry.directory == directory]
        self._journal = [entry for entry in self._journal if entry.directory != directory]
        for entry in mine:
            _rename(self._durable, entry)

    def files(self) -> list[Path]:
        """Return the files, sorted."""
        return sorted(path for path in self._files if path.exists())

    def killed_in(self, target: Path) -> None:
        """Write what a killed process leaves into a new directory: all that it wrote."""
        self._copy_directories(target)
        for path in self.files():
            file = target / path.relative_to(self.root)
            file.write_bytes(path.read_bytes())
            file.chmod(0o600)

    def left_in(self, target: Path) -> None:
        """Write what a loss of power leaves into a new directory."""
        rng = self.faults.rng
        names = dict(self._durable)
        for entry in self._journal[: rng.randint(0, len(self._journal))]:
            _rename(names, entry)
        self._copy_directories(target)
        for path in sorted(names):
            kept = names[path]
            file = target / path.relative_to(self.root)
            file.write_bytes(applied(kept.synced, surviving(rng, kept.writes)))
            file.chmod(0o600)

    def _copy_directories(self, target: Path) -> None:
        # Also those whose names weren't durable: what is in them is lost with theirs anyway.
        for directory in sorted(self.root.rglob("*/")):
            (target / directory.relative_to(self.root)).mkdir(mode=0o700)


def _rename(names: dict[Path, Kept], entry: Renamed) -> None:
    for path, kept in entry.names.items():
        if kept is None:
            names.pop(path, None)
        else:
            names[path] = kept


def _appends(file: int) -> bool:
    import fcntl

    return bool(fcntl.fcntl(file, fcntl.F_GETFL) & os.O_APPEND)


_OTHERS = ("-shm", "lock", "owner.pid")


def files_in(root: Path) -> list[Path]:
    """Return the files of a store, but for locks, and what SQLite makes anew when it opens."""
    return [path for path in root.rglob("*") if path.is_file() and not path.name.endswith(_OTHERS)]
