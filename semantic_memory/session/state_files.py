"""Files of windows and checkpoints: a directory for each user, and in it one for each session."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from semantic_memory.domain.errors import StoreUnavailableError
from semantic_memory.domain.files import delete_directory, delete_files
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.ports.disk import Disk

WINDOW = "window"
"""Beginning of the names of a window's files: states, damaged ones, drafts."""


class StateFiles:
    """The windows and checkpoints of a store, below one directory. Thread-safe."""

    def __init__(self, root: Path, disk: Disk) -> None:
        self._root = root
        self.disk = disk

    def path(self, *names: str) -> Path:
        """Return the directory of a user (one name) or a session (two).

        Names are hashed, so that they never become part of a path.
        """
        return self._root.joinpath(*map(digest, names))

    def drop_window(self, key: SessionKey) -> None:
        """Delete the window of a session, which is filled from its log again.

        Raises StoreUnavailableError.
        """
        directory = self.path(*key)
        with _deleting(directory):
            delete_files(self.disk, directory, sorted(directory.glob(f"{WINDOW}*")))

    def drop(self, *names: str) -> None:
        """Delete the windows and checkpoints of a user (one name) or a session (two).

        Raises StoreUnavailableError.
        """
        directory = self.path(*names)
        with _deleting(directory):
            delete_directory(self.disk, directory)


def digest(name: str) -> str:
    """Return a name of a file that stands for another, and doesn't tell it."""
    return hashlib.blake2b(name.encode(), digest_size=16).hexdigest()


@contextmanager
def _deleting(directory: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreUnavailableError(
            f"can't delete windows and checkpoints in {directory}: {error.strerror or error};"
            " check its permissions, then forget again"
        ) from error
