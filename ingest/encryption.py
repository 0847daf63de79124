"""Keys of a store: texts by Fernet (AES-128-CBC with HMAC-SHA256), databases by keys derived.

The first key encrypts, all of them decrypt: to rotate keys, put the new one before the old.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import stat
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from semantic_memory.domain.errors import ConfigurationError, MissingDependencyError

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


_DATABASE = b"semantic-memory database"  # what a key is derived for


class Cipher:
    """An `Encryption` by a list of keys. Thread-safe."""

    def __init__(self, keys: Sequence[str]) -> None:
        """Take keys of 32 bytes in URL-safe base64, as made by `new_key`."""
        self._each = _fernets(keys)
        self._all = _module().MultiFernet(self._each)
        self.database_keys = tuple(_database_key(key) for key in keys)

    def seal(self, plain: bytes) -> str:
        """Encrypt and sign `plain`; return URL-safe base64."""
        return str(self._all.encrypt(plain).decode("ascii"))

    def open(self, sealed: str) -> bytes:
        """Decrypt sealed text. Raises ConfigurationError if no key fits."""
        from cryptography.fernet import InvalidToken

        try:
            return bytes(self._all.decrypt(sealed))
        except InvalidToken:
            raise ConfigurationError(
                "a file of the store was encrypted with another key: set encryption.key_file to"
                " the file of the key it was written with; to rotate keys, put the new one before"
                " the old"
            ) from None

    def is_current(self, sealed: str) -> bool:
        """Return True for text sealed with the first key."""
        from cryptography.fernet import InvalidToken

        try:
            self._each[0].decrypt(sealed)
        except InvalidToken:
            return False
        return True


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


def _fernets(keys: Sequence[str]) -> list[Fernet]:
    if not keys:
        raise ConfigurationError(
            "encryption.key is empty: make a key with `semantic-memory admin new-key FILE`"
        )
    module = _module()
    try:
        return [module.Fernet(key) for key in keys]
    except ValueError:
        raise ConfigurationError(
            "encryption.key isn't a key: it must be 32 bytes in URL-safe base64, as"
            " `semantic-memory admin new-key FILE` writes it"
        ) from None


def _database_key(key: str) -> bytes:
    return hmac.digest(base64.urlsafe_b64decode(key), _DATABASE, hashlib.sha256)


def _module() -> ModuleType:
    try:
        from cryptography import fernet
    except ImportError:
        raise MissingDependencyError(
            "encrypting a store needs the cryptography package:"
            " pip install 'semantic-memory[encryption]'"
        ) from None
    return fernet
