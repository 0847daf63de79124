"""Seals: digests of Chroma's vector files, by which damage is detected.

Chroma 1.5 writes its HNSW files in place. After an interrupted write or damage on disk they may
load with vectors missing, or crash the process that loads them. They change only when Chroma
flushes, so their digests are written after each flush, and files that differ are never loaded.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from semantic_memory.domain.errors import IndexUnavailableError
from semantic_memory.domain.files import sha256_of

SEAL = "seal.json"
_DATABASE = "chroma.sqlite3"

Stamps = dict[str, tuple[int, int]]


@contextmanager
def alone(directory: Path, patience: float) -> Iterator[None]:
    """Lock the files for the one process that opens or moves them.

    Waits up to `patience` seconds, as a killed service leaves a worker that finishes its flush.
    Raises IndexUnavailableError, also if the body raises OSError.
    """
    try:
        with FileLock(directory.with_suffix(".lock"), timeout=patience, mode=0o600):
            yield
    except Timeout as error:
        reason = "the process that has it open doesn't end"
        raise IndexUnavailableError(reason) from error
    except OSError as error:
        raise IndexUnavailableError(f"{directory}: {error}") from error


def stamps(directory: Path) -> Stamps:
    """Return the size and modification time (ns) of every vector file, by relative path."""
    found = {}
    for path in _files(directory):
        about = path.stat()
        found[str(path.relative_to(directory))] = (about.st_size, about.st_mtime_ns)
    return found


def write(directory: Path, generation: str) -> None:
    """Write the seal of the present vector files, durably.

    `generation` names the generation of the index that they belong to.
    """
    files = {
        name: {"size": size, "sha256": sha256_of(directory / name)}
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
    """Return True if the directory is missing or empty."""
    return not directory.exists() or not any(directory.iterdir())


def damage(directory: Path, generation: str, *, quick: bool = False) -> str | None:
    """Describe the first difference from the seal of `generation`; None if there is none.

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
        return "it belongs to another generation of this index, or to another store"
    present = stamps(directory)
    for name in sorted(files.keys() | present.keys()):
        if name not in files:
            return f"{name} was being written when the process ended"
        if name not in present:
            return f"{name} is missing"
        size, _ = present[name]
        if size != files[name]["size"]:
            return f"{name} has {size:,} bytes instead of {files[name]['size']:,}"
        if not quick and sha256_of(directory / name) != files[name]["sha256"]:
            return f"{name} differs from its seal"
    return None


def _files(directory: Path) -> Iterator[Path]:
    for folder in directory.iterdir():
        if folder.is_dir():
            yield from (path for path in folder.iterdir() if path.is_file())
