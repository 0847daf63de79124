"""Durable operations on whole files, composed of a disk's calls. Each raises OSError."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from semantic_memory.domain.ports.disk import Disk


def digest_of(name: str) -> str:
    """Return a name, as of a file, that stands for another, and doesn't tell it."""
    return hashlib.blake2b(name.encode(), digest_size=16).hexdigest()


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's content in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_whole(disk: Disk, file: int, data: bytes | memoryview) -> None:
    """Write all of `data` to an open file, however little of it the disk takes at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[disk.write(file, rest) :]


def write_file(disk: Disk, path: Path, data: bytes) -> None:
    """Write a file and wait for the disk; its name isn't durable yet."""
    descriptor = disk.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        write_whole(disk, descriptor, data)
        disk.sync(descriptor)
    finally:
        disk.close(descriptor)


def replace_file(disk: Disk, path: Path, data: bytes) -> None:
    """Replace a file's content by `data`, atomically and durably."""
    draft = draft_of(path)
    write_file(disk, draft, data)
    disk.replace(draft, path)
    disk.sync_directory(path.parent)


def draft_of(path: Path) -> Path:
    """Return the file that `replace_file` writes first; it stays where that is cut off."""
    return path.with_suffix(".new")


def make_directories(disk: Disk, directory: Path) -> None:
    """Create a directory and those above it, private and durable, where they are missing."""
    if not directory.exists():
        make_directories(disk, directory.parent)
        with suppress(FileExistsError):
            disk.make_directory(directory)
        disk.sync_directory(directory.parent)


def delete_files(disk: Disk, directory: Path, files: Iterable[Path]) -> None:
    """Delete files of a directory, durably. Skips those that are gone."""
    for file in files:
        with suppress(FileNotFoundError):
            disk.remove(file)
    if directory.exists():  # also where an earlier attempt deleted them, and couldn't wait
        disk.sync_directory(directory)


def delete_directory(disk: Disk, directory: Path) -> None:
    """Delete a directory and all in it, durably. Does nothing if there is none."""
    if directory.exists():
        inside = sorted(directory.iterdir())
        for one in inside:
            if one.is_dir():
                delete_directory(disk, one)
        delete_files(disk, directory, [one for one in inside if not one.is_dir()])
        disk.remove_directory(directory)
    if directory.parent.exists():
        disk.sync_directory(directory.parent)
