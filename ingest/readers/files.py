"""Source files of readers: plain, gzipped, or what was said and kept in the zip of an export."""

from __future__ import annotations

import gzip
import io
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from semantic_memory.domain.errors import InvalidInputError, NotFoundError
from semantic_memory.domain.patterns import regex

DAMAGE = (EOFError, gzip.BadGzipFile, zlib.error, zipfile.BadZipFile, RuntimeError)
"""Errors while reading a damaged file; RuntimeError comes from a zip with a password."""

_BOM = b"\xef\xbb\xbf"
_EXPORTED = regex(r"(?:.*/)?(?:(?:conversations(?:-\d+)?|memories)\.json|memories/[^/]+\.json)")


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read, or a member of a zip. Can be opened repeatedly."""

    path: Path
    member: str | None = None

    @property
    def name(self) -> str:
        """Name of the content, without `.gz`."""
        return self.member or self.path.name.removesuffix(".gz")

    @property
    def modified(self) -> datetime:
        """Time of the file's last change."""
        return datetime.fromtimestamp(self.path.stat().st_mtime, UTC)

    @contextmanager
    def open(self) -> Iterator[tuple[io.BufferedReader, io.BufferedReader]]:
        """Open the unpacked content, and the file itself, whose position shows the progress."""
        with self.path.open("rb") as raw:
            if self.member is not None:
                with zipfile.ZipFile(raw) as archive, archive.open(self.member) as file:
                    yield _behind_mark(io.BufferedReader(cast("io.RawIOBase", file))), raw
            elif raw.peek(2)[:2] == b"\x1f\x8b":
                with gzip.open(raw) as unpacked:
                    yield _behind_mark(io.BufferedReader(cast("io.RawIOBase", unpacked))), raw
            else:
                yield _behind_mark(raw), raw


def sources(path: Path) -> list[Source]:
    """Return the sources in the file at `path`. Raises NotFoundError, InvalidInputError."""
    if path.is_dir():
        raise InvalidInputError(f"{path} is a directory: name one of its files")
    if not path.is_file():
        raise NotFoundError(f"no file {path}")
    if not os.access(path, os.R_OK):
        raise InvalidInputError(f"{path} can't be read: no permission")
    if not zipfile.is_zipfile(path):
        return [Source(path)]
    with zipfile.ZipFile(path) as archive:
        members = sorted(name for name in archive.namelist() if _EXPORTED.fullmatch(name))
    if not members:
        raise InvalidInputError(
            f"{path} has no conversations.json and no memories.json, unlike an export of chats"
        )
    return [Source(path, member) for member in members]


def _behind_mark(file: io.BufferedReader) -> io.BufferedReader:
    if file.peek(3)[:3] == _BOM:
        file.read(3)
    return file
