"""API keys with their users and rights, hashed in a file that is read again when it changes.

The file is encrypted if the store is.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Self

from filelock import FileLock
from pydantic import Field, StringConstraints, TypeAdapter, ValidationError, model_validator

from semantic_memory.domain.errors import (
    ConfigurationError,
    NotFoundError,
    StoreUnavailableError,
)
from semantic_memory.domain.ports.encryption import Encryption
from semantic_memory.domain.sealing import sealed, unsealed
from semantic_memory.domain.values import Identifier, Name, Timestamp, Value, explain, parse
from semantic_memory.entrypoints.rights import Right as Right

_MARK = "smk"


UserPattern = Annotated[
    str, StringConstraints(max_length=129, pattern=r"^([A-Za-z0-9_.@:+\-]+\*?|\*)$")
]
"""User id, a prefix that ends in `*`, or `*` for every user."""


class ApiKey(Value):
    """A stored key; its secret can't be recovered."""

    id: Identifier
    name: Name
    digest: str
    """SHA-256 of the secret; a slower hash isn't needed for 256 random bits."""
    users: tuple[UserPattern, ...] = Field(min_length=1)
    rights: frozenset[Right] = Field(min_length=1)
    created_at: Timestamp
    agent_id: Identifier | None = None
    """The agent to which it is limited; None for all agents of its users."""
    spaces: tuple[UserPattern, ...] = ()
    """Further users, such as a team, whose memory it may read and not change."""

    @model_validator(mode="after")
    def _is_of_use(self) -> Self:
        if self.agent_id is not None and Right.ADMIN in self.rights:
            raise ValueError("a key of one agent can't have the right to administer")
        if self.spaces and Right.READ not in self.rights:
            raise ValueError("a space can only be read: give the right to read too")
        return self


_KEYS = TypeAdapter(tuple[ApiKey, ...])
_NO_KEY = hashlib.sha256(b"").hexdigest()


class Keys:
    """Keys of one store. Changes by other processes take effect with the next request."""

    def __init__(self, data_dir: Path, encryption: Encryption | None = None) -> None:
        self._encryption = encryption
        self._file = data_dir / "keys.json"
        self._lock = FileLock(data_dir / "keys.lock", mode=0o600)
        self._seen: tuple[int, int, int] | None = None
        self._keys: dict[str, ApiKey] = {}

    def create(
        self,
        name: str,
        users: Iterable[str],
        rights: Iterable[Right],
        now: datetime,
        *,
        agent_id: str | None = None,
        spaces: Iterable[str] = (),
    ) -> tuple[ApiKey, str]:
        """Create a key; return it with the token for its holder, which can't be shown again.

        With an agent, it reaches the memories of that agent and, to read, the shared ones. The
        memory of users in `spaces` it may read and not change.

        Raises InvalidInputError.
        """
        secret = secrets.token_urlsafe(32)
        values = {
            "id": secrets.token_hex(6),
            "name": name,
            "digest": _digest(secret),
            "users": tuple(users),
            "rights": frozenset(rights),
            "created_at": now,
            "agent_id": agent_id,
            "spaces": tuple(spaces),
        }
        key = parse(ApiKey, "key", values)
        with self._locked():
            self._write([*self.all(), key])
        return key, f"{_MARK}_{key.id}_{secret}"

    def revoke(self, key_id: str) -> None:
        """Revoke a key at once. Raises NotFoundError."""
        with self._locked():
            kept = [key for key in self.all() if key.id != key_id]
            if len(kept) == len(self.all()):
                raise NotFoundError(f"no key {key_id!r}; `semantic-memory keys list` shows them")
            self._write(kept)

    def all(self) -> list[ApiKey]:
        """Return every key, oldest first. Raises ConfigurationError if the file is damaged."""
        self._refresh()
        return [*self._keys.values()]

    def find(self, token: str) -> ApiKey | None:
        """Return the key of a token, compared in constant time; None if there is none."""
        self._refresh()
        mark, _, rest = token.partition("_")
        key_id, _, secret = rest.partition("_")
        key = self._keys.get(key_id) if mark == _MARK else None
        matches = hmac.compare_digest(_digest(secret), key.digest if key else _NO_KEY)
        return key if matches else None

    def _refresh(self) -> None:
        try:
            stat = self._file.stat()
        except FileNotFoundError:
            self._seen, self._keys = None, {}
            return
        seen = (stat.st_mtime_ns, stat.st_ino, stat.st_size)
        if seen == self._seen:
            return
        try:
            keys = _KEYS.validate_json(unsealed(self._file.read_bytes(), self._encryption))
        except ValueError as error:
            why = explain(error) if isinstance(error, ValidationError) else error
            raise ConfigurationError(
                f"{self._file} can't be read ({why}): delete it, and create the keys"
                " again with `semantic-memory keys create`"
            ) from None
        self._seen, self._keys = seen, {key.id: key for key in keys}

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


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
