"""The data directory of a store: its size, its content, and the checks of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from semantic_memory.application.encrypting import inspect
from semantic_memory.domain.errors import StoreUnavailableError
from semantic_memory.domain.ports.encryption import Encryption
from semantic_memory.domain.reports import Finding
from semantic_memory.sharing.owner import Owner, announced
from semantic_memory.vectors.home import CHROMA, erase_left

_CHUNK = 1 << 20


class DataDirectory:
    """The directory of an open store. Thread-safe."""

    def __init__(
        self, path: Path, encryption: Encryption | None, index: str, reading: str = ""
    ) -> None:
        """Look at a store whose index has this name; `reading` says why it is only read."""
        self._index = index
        self._path = path
        self._encryption = encryption
        self._reading = reading

    def size(self) -> int:
        """Add up the sizes of all files, while others may come and go."""
        total = 0
        for folder, _, names in os.walk(self._path):
            for name in names:
                with suppress(FileNotFoundError):
                    total += Path(folder, name).stat().st_size
        return total

    def contents(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Yield the path of each file, and its bytes in chunks. Raises StoreUnavailableError."""
        for path in sorted(one for one in self._path.rglob("*") if one.is_file()):
            yield path.relative_to(self._path).as_posix(), _chunks(path)

    def purge(self) -> None:
        """Remove an index of this machine that another provider's has replaced."""
        if self._index != CHROMA:
            erase_left(self._path / CHROMA)

    def check(self) -> Iterator[Finding]:
        """Yield whether it can be written, is private, shared, encrypted, and what is left over."""
        if self._reading:
            yield Finding(
                check="writing",
                ok=False,
                detail=self._reading,
                remedy="free some space, or give the owner the right to write",
            )
        yield _permissions(self._path)
        yield _owned(announced(self._path, self._encryption))
        yield inspect(self._path, self._encryption)
        if not self._reading:
            yield from _left_behind(self._index, self._path / CHROMA)


def _left_behind(index: str, left: Path) -> Iterator[Finding]:
    """Yield that an index of this machine has been replaced by another provider's."""
    if index not in ("chroma", "given") and left.exists():
        yield Finding(
            check="index",
            ok=False,
            detail=f"{left} is no longer used, and has texts of memories, forgotten ones too",
            remedy=f"rm -r {left}",
        )


def _chunks(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                yield chunk
    except FileNotFoundError:
        return  # deleted meanwhile
    except OSError as error:
        raise StoreUnavailableError(f"can't search {path}: {error.strerror or error}") from error


def _permissions(directory: Path) -> Finding:
    mode = directory.stat().st_mode & 0o777
    if mode & 0o077:
        return Finding(
            check="directory",
            ok=False,
            detail=f"{directory} can be read by others (mode {mode:o})",
            remedy=f"chmod 700 {directory}",
        )
    return Finding(check="directory", ok=True, detail=f"{directory} is private")


def _owned(owner: Owner | None) -> Finding:
    """Report which process has the store open, and where others reach it."""
    if owner is None:
        detail = f"process {os.getpid()}, which doesn't share it"
        remedy = "for several processes at once open it with `SemanticMemory.connect`"
        return Finding(check="owner", ok=True, detail=detail, remedy=remedy)
    detail = f"{owner.name} of semantic-memory {owner.version}, which shares it at {owner.address}"
    return Finding(check="owner", ok=True, detail=detail)
