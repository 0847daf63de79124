"""Commands of encryption at rest: new-key, encrypt, decrypt."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from semantic_memory.domain.errors import ConfigurationError
from semantic_memory.entrypoints.cli import work
from semantic_memory.entrypoints.cli.admin import admin
from semantic_memory.entrypoints.cli.options import AsJson, DataDir


@admin.command("new-key")
def new_key_(file: Annotated[Path, typer.Argument(help="A file that doesn't exist yet.")]) -> None:
    """Make a key for `encryption.key_file`, which encrypts the store."""
    work.private_files.write_key(file)
    work.show.out.print(f"wrote {file}; keep it outside the data directory", soft_wrap=True)


@admin.command("encrypt")
def encrypt(data_dir: DataDir = None, json: AsJson = False) -> None:
    """Bring a store under the first key in the settings, from plain text or an older key.

    No process may have it open. If it is interrupted, the same command finishes it.
    """
    _convert(data_dir, json=json, encrypt=True)


@admin.command("decrypt")
def decrypt(data_dir: DataDir = None, json: AsJson = False) -> None:
    """Bring an encrypted store back into plain text; then take the key out of the settings.

    No process may have it open. If it is interrupted, the same command finishes it.
    """
    _convert(data_dir, json=json, encrypt=False)


def _convert(data_dir: str | None, *, json: bool, encrypt: bool) -> None:
    show, settings = work.show, work.settings.located(data_dir, None)
    if settings.store.url is not None:
        raise ConfigurationError(
            "encrypt and decrypt convert a data directory: the store at store.url is encrypted by"
            " its server's disks"
        )
    encryption = work.keyring.make_encryption(settings)
    if encryption is None:
        raise ConfigurationError(
            "no key is set: set encryption.key_file (SEMANTIC_MEMORY_ENCRYPTION__KEY_FILE) to the"
            " file of a key; `semantic-memory admin new-key FILE` makes one"
        )
    with show.progress(quiet=json) as report:
        done = work.encrypting.convert_store(
            settings.data_dir,
            encryption,
            settings.lock_seconds,
            encrypt=encrypt,
            progress=report,
        )
    show.as_json(done._asdict()) if json else show.pairs(done._asdict())
