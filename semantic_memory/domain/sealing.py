"""Content of small files: as it is, or `{"sealed": ..., "crc": ...}` with it encrypted."""

from __future__ import annotations

import json
import zlib

from semantic_memory.domain.errors import ConfigurationError
from semantic_memory.domain.ports.encryption import Encryption

_PREFIX = b'{"sealed": "'


def sealed(plain: bytes, encryption: Encryption | None) -> bytes:
    """Return the content of a file, encrypted if there is a key."""
    if encryption is None:
        return plain
    text = encryption.seal(plain)
    return json.dumps({"sealed": text, "crc": _checksum(text)}).encode()


def unsealed(content: bytes, encryption: Encryption | None) -> bytes:
    """Return what was encrypted in the content of a file; plain content as it is.

    Raises ValueError if it is damaged, ConfigurationError if it is encrypted and no key fits.
    """
    text = _text(content)
    if text is None:
        return content
    if encryption is None:
        raise ConfigurationError(
            "a file of the store is encrypted: set encryption.key_file"
            " (SEMANTIC_MEMORY_ENCRYPTION__KEY_FILE) to the file of the key it was written with"
        )
    return encryption.open(text)


def is_current(content: bytes, encryption: Encryption | None) -> bool:
    """Return True for content as `sealed` would write it. Raises ValueError if it is damaged."""
    text = _text(content)
    if text is None or encryption is None:
        return (text is None) == (encryption is None)
    return encryption.is_current(text)


def _text(content: bytes) -> str | None:
    if not content.startswith(_PREFIX):
        return None
    match json.loads(content):
        case {"sealed": str(text), "crc": crc} if crc == _checksum(text):
            return text
        case _:
            raise ValueError("the checksum doesn't match")


def _checksum(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"
