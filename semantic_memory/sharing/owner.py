"""The owner of a data directory, as it announces itself to other processes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field

from semantic_memory.domain.errors import (
    ConfigurationError,
    StoreLockedError,
    StoreUnavailableError,
)
from semantic_memory.domain.ports.encryption import Encryption
from semantic_memory.domain.sealing import sealed, unsealed
from semantic_memory.domain.values import Value
from semantic_memory.settings import ADDRESS_FILE, Settings

PID_FILE = "owner.pid"
"""Name of the file with the id of the process that holds the directory's lock."""

Role = Literal["service", "mcp", "command", "library"]

_OF_A_PROCESS = (
    *("data_dir", "cache_dir", "lock_seconds", "service", "window", "index", "upkeep.schedule"),
    *("encryption", "embedding.api_key", "llm"),  # the owner's file has none of these keys
)
"""Settings that each process has of its own; the others are the owner's for all."""


class Owner(Value):
    """A process that has a data directory open and offers it to others."""

    # One of another version may announce more; it is refused by its version, not as unreadable.
    model_config = ConfigDict(extra="ignore")

    pid: int
    role: Role
    version: str
    """Of this package."""
    token: str = Field(repr=False)  # owners are printed in errors and logs
    """Admits any process that can read the announcement."""
    settings: Mapping[str, Any]
    url: str | None = None
    socket: str | None = None
    """Path of a Unix socket; it goes before the URL."""

    @property
    def name(self) -> str:
        """The process, as messages call it."""
        return f"process {self.pid} ({self.role})"

    @property
    def address(self) -> str:
        """The place where it listens."""
        return self.socket or self.url or "no address"


def own_version() -> str:
    """Return the version of this package."""
    return version("semantic-memory")


def announced(directory: Path, encryption: Encryption | None) -> Owner | None:
    """Return the owner that announced itself in a directory; it may have been killed since.

    None if the process that took the directory last has not announced itself. Raises
    ConfigurationError if the announcement is encrypted and no key fits.
    """
    try:
        content = (directory / ADDRESS_FILE).read_bytes()
        owner = Owner.model_validate_json(unsealed(content, encryption))
    except (OSError, ValueError):
        return None
    return owner if str(owner.pid) == holder(directory) else None


def holder(directory: Path) -> str | None:
    """Return the id of the process that took a directory last and has not released it."""
    try:
        return (directory / PID_FILE).read_text(encoding="ascii").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


@contextmanager
def announcing(directory: Path, owner: Owner, encryption: Encryption | None) -> Iterator[None]:
    """Announce an owner while the context lasts. Raises StoreUnavailableError."""
    file = directory / ADDRESS_FILE
    new = file.with_suffix(".json.new")
    try:
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as written:
            written.write(sealed(json.dumps(owner.model_dump()).encode(), encryption))
        new.replace(file)  # readers find all of it, or the file before
    except OSError as error:
        raise StoreUnavailableError(f"can't write {file}: {error.strerror or error}") from error
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def check_agreement(owner: Owner, settings: Settings) -> None:
    """Check that an owner works as a process that asks for `settings` expects.

    Raises StoreLockedError for another version, ConfigurationError for a setting that was given
    here and has another value there; those that were left open are the owner's.
    """
    if owner.version != (own := own_version()):
        raise StoreLockedError(
            f"{settings.data_dir} is in use by {owner.name} of semantic-memory {owner.version},"
            f" this is {own}: install one version for both, or end that process"
        )
    theirs = dict(_flat(owner.settings))
    given = _flat(settings.model_dump(mode="json", exclude_unset=True))
    differing = [
        f"{name} is {theirs.get(name)!r} there and {value!r} here"
        for name, value in given
        if not _is_of_a_process(name) and theirs.get(name) != value
    ]
    if differing:
        raise ConfigurationError(
            f"{settings.data_dir} is in use by {owner.name} with other settings:"
            f" {'; '.join(differing)}. Set them alike, leave them out here, or end that process"
        )


def _is_of_a_process(name: str) -> bool:
    return any(name == part or name.startswith(f"{part}.") for part in _OF_A_PROCESS)


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
