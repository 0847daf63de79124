"""Create files that only their owner may read."""

from __future__ import annotations

import os
from pathlib import Path

from ingest.encryption import new_key
from semantic_memory.domain.errors import ConfigurationError, InvalidInputError


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


def write_log_key(file: Path) -> None:
    """Write a new key for `log.key_file`, which encrypts the session logs, to a new file.

    Raises MissingDependencyError without cryptography, and what `create_private` raises.
    """
    key = new_key()
    create_private(file).write_text(key + "\n", encoding="ascii")
