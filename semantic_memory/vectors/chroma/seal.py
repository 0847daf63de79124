"""Tells whether Chroma's vector files are exactly as they were left.

Chroma 1.5 writes its HNSW files in place. Killed meanwhile, or damaged on disk, they may load with
vectors missing, or bring down the process that loads them. They change only when Chroma flushes, so
after each flush their digests are written down: files that differ from the seal are never loaded.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from semantic_memory.domain.errors import IndexUnavailableError

SEAL = "seal.json"
_DATABASE = "chroma.sqlite3"

Stamps = dict[str, tuple[int, int]]


@contextmanager
def alone(directory: Path, patience: float) -> Iterator[None]:
    """Held by the one process that has the files open, or moves them.

    A killed service leaves a process that finishes its flush; it is waited for `patience` seconds.
    Raises IndexUnavailableError, also if the body raises OSError.
    """
    try:
        with FileLock(directory.with_suffix(".lock"), timeout=patience, mode=0o600):
            yield
    except Timeout as error:
        reason = "the process that had it open before does not end"
        raise IndexUnavailableError(reason) from error
    except OSError as error:
        raise IndexUnavailableError(f"{directory}: {error}") from error


def stamps(directory: Path) -> Stamps:
    """Size and modification time (ns) of every vector file, by relative path."""
    found = {}
    for path in _files(directory):
        about = path.stat()
        found[str(path.relative_to(directory))] = (about.st_size, about.st_mtime_ns)
    return found


def write(directory: Path, generation: str) -> None:
    """Seal the vector files as they are now, durably.

    `generation` names the filling they belong to.
    """
    files = {
        name: {"size": size, "sha256": _digest(directory / name)}
        for name, (size, _) in stamps(directory).items()
    }
    text = json.dumps({"generation": generation, "files": files})
    draft = directory / f"{SEAL}.new"
    with draft.open("w", encoding="ascii") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(directory / SEAL)


def is_empty(directory: Path) -> bool:
    """Whether there is no index at all."""
    return not directory.exists() or not any(directory.iterdir())


def damage(directory: Path, generation: str, *, quick: bool = False) -> str | None:
    """What differs from the seal of this `generation`, in words; None if nothing does.

    `quick` compares names and sizes only, without reading the files.
    """
    database = directory / _DATABASE
    if not database.exists() or not database.stat().st_size:
        return f"{_DATABASE} is missing or empty"
    try:
        seal = json.loads((directory / SEAL).read_text(encoding="ascii"))
        files: dict[str, Any] = seal["files"]
        found = seal["generation"]
    except (OSError, ValueError, KeyError, TypeError):
        return "its seal is missing or unreadable"
    if found != generation:
        return "it belongs to another filling of this store, or to another store"
    present = stamps(directory)
    for name in sorted(files.keys() | present.keys()):
        if name not in files:
            return f"{name} was being written when the process ended"
        if name not in present:
            return f"{name} is missing"
        size, _ = present[name]
        if size != files[name]["size"]:
            return f"{name} has {size:,} bytes instead of {files[name]['size']:,}"
        if not quick and _digest(directory / name) != files[name]["sha256"]:
            return f"{name} is not as it was last written"
    return None


def _files(directory: Path) -> Iterator[Path]:
    for folder in directory.iterdir():
        if folder.is_dir():
            yield from (path for path in folder.iterdir() if path.is_file())


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
