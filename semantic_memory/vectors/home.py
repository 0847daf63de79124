"""Homes of vector indexes: how each is opened, set aside and emptied."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Protocol, runtime_checkable

from semantic_memory.domain.errors import IndexBrokenError, IndexUnavailableError
from semantic_memory.domain.ports import VectorIndex
from semantic_memory.domain.ports.disk import Disk
from semantic_memory.ledger.watermark import sealed, unsealed
from semantic_memory.vectors.chroma import seal
from semantic_memory.vectors.chroma.process import ChromaProcess

STATE = "index"
"""Key in the ledger's meta of the state of the index that follows it."""
CHROMA = "chroma"
"""Name of Chroma's directory in the data directory."""
_DELETED_AT_ONCE = 1_000
_PREDECESSOR_SECONDS = 10.0
_UNSEALED = re.compile(rb"[1-9]\d{0,18}")


def aside(directory: Path) -> Path:
    """Return where a damaged index in a directory is kept for inspection."""
    return directory.with_name(f"{directory.name}.broken")


def erase_left(directory: Path) -> None:
    """Remove an index in a directory that nobody has open, and the one set aside."""
    for one in (directory, aside(directory)):
        if one.exists():
            shutil.rmtree(one)


def state(name: str, generation: str = "", position: int = 0) -> str:
    """Return the state of an index: its home, its filling, and the changes that it has reached."""
    return f"{name} {generation} {position}"


class IndexHome(Protocol):
    """Opens, sets aside and empties a vector index.

    Each filling of the index has a name, its generation. Every method but `damage` and `position`
    raises IndexUnavailableError if it is impossible at present.
    """

    @property
    def name(self) -> str:
        """One word, by which the ledger knows whether it was this index that followed it last."""
        ...

    def damage(self, generation: str) -> str | None:
        """Describe the damage visible without opening the index; None if there is none."""
        ...

    def open(self, generation: str) -> VectorIndex:
        """Open the index, again if it was open. Raises IndexBrokenError if it is damaged."""
        ...

    def position(self) -> int | None:
        """Return the number of changes noted beside the index; None where none can be."""
        ...

    def note(self, changes: int) -> None:
        """Note the number of changes that the open index has reached, beside it."""
        ...

    def set_aside(self) -> Path | None:
        """Close the index and keep it for inspection; return the path, None if it isn't kept."""
        ...

    def empty(self) -> None:
        """Close the index and delete its content."""
        ...

    def close(self) -> None:
        """Close the index permanently."""
        ...


@runtime_checkable
class RetentiveHome(IndexHome, Protocol):
    """An `IndexHome` whose files keep the text of deleted memories."""

    def erase(self) -> None:
        """Close the index and delete its content, with what was set aside."""
        ...


class ChromaDirectory:
    """Opens a directory of Chroma in a process of its own.

    The queue that Chroma writes before it indexes keeps the text of deleted memories.
    """

    name = "chroma"

    def __init__(self, directory: Path, sync_threshold: int, disk: Disk) -> None:
        self._directory = directory
        self._disk = disk
        self._position = directory / "position"
        self._sync_threshold = sync_threshold
        self._process: ChromaProcess | None = None

    def damage(self, generation: str) -> str | None:
        """Describe a missing file or a wrong size; opening compares digests."""
        try:
            with seal.alone(self._directory, patience=0.0):
                if seal.is_empty(self._directory):
                    return "its directory is gone"
                return seal.damage(self._directory, generation, quick=True)
        except IndexUnavailableError:
            return None  # an earlier process is still finishing; opening waits for it, and looks

    def open(self, generation: str) -> VectorIndex:
        """Start a process on the directory, which checks its files first."""
        self.close()
        self._process = ChromaProcess(self._directory, generation, self._sync_threshold)
        return self._process

    def position(self) -> int | None:
        """Return the number of changes noted in the directory; 0 if none is, or it is damaged.

        None for a note of an earlier version, which has no checksum: it tells nothing.
        """
        try:
            with self._disk.reader(self._position) as file:
                line = file.read()
        except OSError:
            return 0
        return None if _UNSEALED.fullmatch(line) else unsealed(line) or 0

    def note(self, changes: int) -> None:
        """Write the number into the directory, so that a copy of it has its own position."""
        draft = self._position.with_suffix(".new")
        try:
            descriptor = self._disk.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            try:
                self._disk.overwrite(descriptor, sealed(changes))
            finally:
                self._disk.close(descriptor)
            self._disk.replace(draft, self._position)
        except FileNotFoundError as error:
            raise IndexBrokenError("its directory is gone") from error
        except OSError as error:
            raise IndexUnavailableError(f"can't write {self._position}: {error}") from error

    def set_aside(self) -> Path | None:
        """Rename the directory, replacing one set aside before."""
        self.close()
        with seal.alone(self._directory, _PREDECESSOR_SECONDS):
            if not self._directory.exists():
                return None
            kept = aside(self._directory)
            if kept.exists():
                shutil.rmtree(kept)
            return self._directory.rename(kept)

    def empty(self) -> None:
        """Remove the directory."""
        self.close()
        with seal.alone(self._directory, _PREDECESSOR_SECONDS):
            if self._directory.exists():
                shutil.rmtree(self._directory)

    def erase(self) -> None:
        """Remove the directory, and the one set aside."""
        self.empty()
        with seal.alone(self._directory, _PREDECESSOR_SECONDS):
            erase_left(self._directory)

    def close(self) -> None:
        """End the process, after the work under way."""
        process, self._process = self._process, None
        if process is not None:
            process.close()


class GivenIndex:
    """An index given by the caller, for this store alone."""

    name = "given"

    def __init__(self, index: VectorIndex) -> None:
        self._index = index

    def damage(self, generation: str) -> None:
        """Return None: damage shows only in use."""

    def open(self, generation: str) -> VectorIndex:
        """Return the index, which is already open."""
        del generation
        return self._index

    def position(self) -> None:
        """Return None: there is no place for a note."""

    def note(self, changes: int) -> None:
        """Do nothing: there is no place for a note."""

    def set_aside(self) -> None:
        """Keep nothing: the index is emptied before it is filled again."""

    def empty(self) -> None:
        """Delete every memory of the index."""
        held = sorted(self._index.ids())
        for start in range(0, len(held), _DELETED_AT_ONCE):
            self._index.delete(held[start : start + _DELETED_AT_ONCE])

    def close(self) -> None:
        """Close the index."""
        self._index.close()
