"""Files that only their owner may read: create them, and take others' access to existing ones."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from ingest.encryption import new_key
from semantic_memory.domain.errors import (
    ConfigurationError,
    InvalidInputError,
    StoreUnavailableError,
)

_DIRECTORY, _FILE = 0o700, 0o600
TRACES = "traces.sqlite3"
"""Name of the file of traces; to lose it costs no memory."""
PARTITIONS = "partitions"
"""Name of the directory of what searches read of each user, which is derived from the ledger."""
_OWN = (
    "chroma",
    "conversion",
    "keys",
    "ledger.sqlite3",
    "lock",
    "owner.pid",
    "owner.sock",
    PARTITIONS,
    "replies.sqlite3",
    "reserve",
    "service.json",
    "sessions",
    TRACES,
    "watermark",
    "working",
)
"""Beginnings of the names of a store's files."""


def create_private(file: Path) -> Path:
    """Create an empty file that only its owner may read, and return it.

    Raises InvalidInputError if it exists, ConfigurationError if it can't be written.
    """
    try:
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        raise InvalidInputError(f"{file} is there already: name another file") from None
    except OSError as error:
        raise ConfigurationError(f"can't write {file}: {error.strerror or error}") from None
    return file


def make_private(directory: Path) -> None:
    """Create a data directory, or take others' access to the store in it: modes 0700 and 0600.

    The files of other programs keep their modes, and a directory that has some its own. Symbolic
    links are not followed. Raises StoreUnavailableError if it can't be created,
    ConfigurationError that names the file if a mode can't be changed.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=_DIRECTORY)
    except OSError as error:
        raise StoreUnavailableError(
            f"can't create the data directory {directory}: {error.strerror or error}"
        ) from error
    if os.name != "posix":
        return  # the directory's access list holds for its files
    found = list(directory.iterdir())
    own = [path for path in found if path.name.startswith(_OWN)]
    if len(own) == len(found):
        _tighten(directory, _DIRECTORY)
    for path in own:
        _tighten(path, _DIRECTORY if path.is_dir() else _FILE)
        for parent, folders, files in os.walk(path):
            for name in folders:
                _tighten(Path(parent, name), _DIRECTORY)
            for name in files:
                _tighten(Path(parent, name), _FILE)


def _tighten(path: Path, most: int) -> None:
    try:
        about = path.lstat()
        if not stat.S_ISLNK(about.st_mode) and (excess := about.st_mode & 0o777 & ~most):
            path.chmod(stat.S_IMODE(about.st_mode) & ~excess)
    except FileNotFoundError:
        return  # deleted meanwhile
    except OSError as error:
        if error.errno == errno.EROFS:
            raise StoreUnavailableError(f"can't change {path}: {error.strerror}") from error
        raise ConfigurationError(
            f"others may access {path}, and that can't be changed ({error.strerror or error}):"
            f" have its owner run chmod -R go-rwx on the data directory"
        ) from error


def write_key(file: Path) -> None:
    """Write a new key for `encryption.key_file`, which encrypts the store, to a new file.

    Raises MissingDependencyError without cryptography, and what `create_private` raises.
    """
    key = new_key()
    create_private(file).write_text(key + "\n", encoding="ascii")
