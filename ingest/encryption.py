"""Encryption of session logs with Fernet (AES-128-CBC with HMAC-SHA256) and rotating keys.

The first key encrypts, all of them decrypt: to rotate keys, put the new one before the old.
"""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from semantic_memory.domain.errors import ConfigurationError, MissingDependencyError

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet


class Cipher:
    """Cipher of a list of keys. Thread-safe."""

    def __init__(self, keys: Sequence[str]) -> None:
        """Take keys of 32 bytes in URL-safe base64, as made by `new_key`."""
        self._fernet = _fernet(keys)

    def seal(self, plain: bytes) -> str:
        """Encrypt and sign `plain`; return URL-safe base64."""
        return self._fernet.encrypt(plain).decode("ascii")

    def open(self, sealed: str) -> bytes:
        """Decrypt sealed text. Raises ConfigurationError if no key fits."""
        from cryptography.fernet import InvalidToken

        try:
            return self._fernet.decrypt(sealed)
        except InvalidToken:
            raise ConfigurationError(
                "the session log was encrypted with another key: set log.key to the key it was"
                " written with; to rotate keys, put the new one before the old (NEW,OLD)"
            ) from None


def new_key() -> str:
    """Return a random key."""
    return str(_module().Fernet.generate_key().decode("ascii"))


def read_keys(file: Path, data_dir: Path) -> list[str]:
    """Read the keys in `file`, one a line.

    Raises ConfigurationError if the file can't be read, lies in the data directory, where it would
    be copied with the data, or is readable by others.
    """
    path = file.expanduser().resolve()
    if path.is_relative_to(data_dir.resolve()):
        raise ConfigurationError(
            f"the key file {file} lies in the data directory {data_dir}, where it would be"
            " copied with the data; keep it elsewhere"
        )
    try:
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise ConfigurationError(f"the key file {file} can be read by others: chmod 600 {file}")
        return path.read_text(encoding="ascii").split()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"can't read the key file {file}: {error}") from None


def _fernet(keys: Sequence[str]) -> MultiFernet:
    if not keys:
        raise ConfigurationError("log.key is empty: make a key with `semantic-memory new-key FILE`")
    module = _module()
    try:
        found: MultiFernet = module.MultiFernet([module.Fernet(key) for key in keys])
        return found
    except ValueError:
        raise ConfigurationError(
            "log.key isn't a key: it must be 32 bytes in URL-safe base64, as `semantic-memory"
            " new-key FILE` writes it"
        ) from None


def _module() -> ModuleType:
    try:
        from cryptography import fernet
    except ImportError:
        raise MissingDependencyError(
            "encrypting session logs needs the cryptography package:"
            " pip install 'semantic-memory[encryption]'"
        ) from None
    return fernet
