"""API keys with their users and rights; their secrets are kept as digests alone."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Annotated, Protocol, Self

from pydantic import Field, StringConstraints, model_validator

from semantic_memory.domain.errors import NotFoundError
from semantic_memory.domain.refusals import parse
from semantic_memory.domain.values import Identifier, Name, Timestamp, Value
from semantic_memory.entrypoints.rights import Right as Right

_MARK = "smk"
_NO_KEY = hashlib.sha256(b"").hexdigest()


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


class KeyRing:
    """All keys of a store at one moment, oldest first."""

    def __init__(self, keys: Iterable[ApiKey] = ()) -> None:
        self._keys = {key.id: key for key in keys}

    def __iter__(self) -> Iterator[ApiKey]:
        return iter(self._keys.values())

    def __len__(self) -> int:
        return len(self._keys)

    def find(self, token: str) -> ApiKey | None:
        """Return the key of a token, compared in constant time; None if there is none."""
        mark, _, rest = token.partition("_")
        key_id, _, secret = rest.partition("_")
        key = self._keys.get(key_id) if mark == _MARK else None
        matches = hmac.compare_digest(_digest(secret), key.digest if key else _NO_KEY)
        return key if matches else None


class Keys(Protocol):
    """The keys of one store; a base of its adapters. Thread-safe."""

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
        self.add(key)
        return key, f"{_MARK}_{key.id}_{secret}"

    def add(self, key: ApiKey) -> None:
        """Store a key."""
        ...

    def revoke(self, key_id: str) -> None:
        """Revoke a key. Raises NotFoundError."""
        ...

    def at_hand(self) -> KeyRing | None:
        """Return the keys without waiting; None if they have to be read again."""
        ...

    def read(self) -> KeyRing:
        """Read the keys. Raises ConfigurationError if they are damaged, StoreUnavailableError."""
        ...


def unknown(key_id: str) -> NotFoundError:
    """Return the error of a key that doesn't exist."""
    return NotFoundError(f"no key {key_id!r}; `semantic-memory keys list` shows them")


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
