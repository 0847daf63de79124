"""The keys of a store, by its settings."""

from __future__ import annotations

from ingest.encryption import Cipher, read_keys
from semantic_memory.domain.errors import ConfigurationError
from semantic_memory.settings import Settings


def make_encryption(settings: Settings) -> Cipher | None:
    """Read the keys that encrypt the store; None leaves it in plain text.

    Raises ConfigurationError, and MissingDependencyError without the packages that encrypt.
    """
    match settings.encryption.key, settings.encryption.key_file:
        case None, None:
            return None
        case key, None if key is not None:
            return Cipher(key.get_secret_value().replace(",", " ").split())
        case None, file if file is not None:
            return Cipher(read_keys(file, settings.data_dir))
        case _:
            raise ConfigurationError(
                "encryption.key and encryption.key_file are both set: give one of them"
            )
