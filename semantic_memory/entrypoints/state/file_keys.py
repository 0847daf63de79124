"""API keys in a file that is read again when it changes; it is encrypted if the store is."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from filelock import FileLock
from pydantic import TypeAdapter, ValidationError

from semantic_memory.domain.errors import ConfigurationError, StoreUnavailableError
from semantic_memory.domain.ports.encryption import Encryption
from semantic_memory.domain.refusals import explain
from semantic_memory.domain.sealing import sealed, unsealed
from semantic_memory.entrypoints.keys import ApiKey, KeyRing, Keys, unknown

_KEYS = TypeAdapter(tuple[ApiKey, ...])
_Seen = tuple[int, int, int]


class FileKeys(Keys):
    """`Keys` in a file. Changes by other processes take effect with the next request."""

    def __init__(self, data_dir: Path, encryption: Encryption | None = None) -> None:
        self._encryption = encryption
        self._file = data_dir / "keys.json"
        self._lock = FileLock(data_dir / "keys.lock", mode=0o600)
        self._copy: tuple[_Seen | None, KeyRing] = (None, KeyRing())

    def add(self, key: ApiKey) -> None:
        """Store a key."""
        with self._locked():
            self._write([*self.read(), key])

    def revoke(self, key_id: str) -> None:
        """Revoke a key at once. Raises NotFoundError."""
        with self._locked():
            keys = self.read()
            kept = [key for key in keys if key.id != key_id]
            if len(kept) == len(keys):
                raise unknown(key_id)
            self._write(kept)

    def at_hand(self) -> KeyRing:
        """Return the keys; the file is read again if it has changed."""
        return self.read()

    def read(self) -> KeyRing:
        """Return the keys. Raises ConfigurationError if the file is damaged."""
        try:
            stat = self._file.stat()
        except FileNotFoundError:
            return KeyRing()
        seen = (stat.st_mtime_ns, stat.st_ino, stat.st_size)
        before, ring = self._copy
        if seen == before:
            return ring
        try:
            ring = KeyRing(_KEYS.validate_json(unsealed(self._file.read_bytes(), self._encryption)))
        except ValueError as error:
            why = explain(error, list[ApiKey]) if isinstance(error, ValidationError) else error
            raise ConfigurationError(
                f"{self._file} can't be read ({why}): delete it, and create the keys"
                " again with `semantic-memory keys create`"
            ) from None
        self._copy = seen, ring
        return ring

    def _locked(self) -> FileLock:
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return self._lock

    def _write(self, keys: Iterable[ApiKey]) -> None:
        text = json.dumps(
            [key.model_dump(mode="json", exclude_defaults=True) for key in keys], indent=2
        )
        new = self._file.with_suffix(".new")
        try:
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(sealed(text.encode(), self._encryption))
                file.flush()
                os.fsync(file.fileno())
            new.replace(self._file)
        except OSError as error:
            raise StoreUnavailableError(
                f"can't write {self._file}: {error.strerror or error}"
            ) from error
