"""Encryption of the files of a store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Encryption(Protocol):
    """Encrypts with the first of the store's keys, decrypts with any of them."""

    @property
    def database_keys(self) -> Sequence[bytes]:
        """The keys of databases, 32 bytes each, the one to write with first."""
        ...

    def seal(self, plain: bytes) -> str:
        """Encrypt and sign `plain`; return URL-safe base64."""
        ...

    def open(self, sealed: str) -> bytes:
        """Decrypt sealed text. Raises ConfigurationError if no key fits."""
        ...

    def is_current(self, sealed: str) -> bool:
        """Return True for text sealed with the first key."""
        ...
