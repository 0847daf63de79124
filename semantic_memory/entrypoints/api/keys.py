"""Routes of the API keys of a service: list, create, revoke.

A key manages those keys that reach nothing beyond it, and isn't told of others.
"""

from __future__ import annotations

import logging
from typing import Annotated, Self

from fastapi import Path, Request, Response
from pydantic import Field

from semantic_memory.domain.errors import AccessDeniedError
from semantic_memory.domain.requests.base import example
from semantic_memory.domain.values import Identifier, Name, Timestamp, Value
from semantic_memory.entrypoints.api.access import Admin, Doorkeeper
from semantic_memory.entrypoints.api.bodies import Items
from semantic_memory.entrypoints.api.routes import UNKNOWN, Opened, reading
from semantic_memory.entrypoints.callers import Caller
from semantic_memory.entrypoints.keys import ApiKey, Keys, UserPattern, unknown
from semantic_memory.entrypoints.rights import Right

_MOST_PATTERNS = 100
_logger = logging.getLogger("semantic_memory.service")

# Without idempotency keys: an answer that is kept for repetition would hold the key's secret.
router = reading("/v1/keys", "keys")

KeyId = Annotated[Identifier, Path(description="As the list has it.")]


class KeyBody(Value):
    """A key to create."""

    model_config = example(name="support-bot", users=["team-*"], rights=["read", "write"])

    name: Name
    """For people: whose key it is."""
    users: tuple[UserPattern, ...] = Field(min_length=1, max_length=_MOST_PATTERNS)
    """User ids, prefixes that end in `*`, or `*` for every user."""
    rights: tuple[Right, ...] = Field((Right.READ, Right.WRITE), min_length=1)
    agent_id: Identifier | None = None
    """The agent to which it is limited; null for all agents of its users."""
    spaces: tuple[UserPattern, ...] = Field((), max_length=_MOST_PATTERNS)
    """Further users whose memory it may read and not change."""


class StoredKey(Value):
    """A key without its secret, which nobody has but its holder."""

    id: Identifier
    name: str
    users: tuple[str, ...]
    rights: list[Right]
    created_at: Timestamp
    agent_id: str | None = None
    spaces: tuple[str, ...] = ()
    own: bool = False
    """True for the key of this request."""

    @classmethod
    def of(cls, key: ApiKey, caller: Caller) -> Self:
        """Return what is shown of a key."""
        return cls(
            id=key.id,
            name=key.name,
            users=key.users,
            rights=sorted(key.rights),
            created_at=key.created_at,
            agent_id=key.agent_id,
            spaces=key.spaces,
            own=key.id == caller.name,
        )


class NewKey(Value):
    """A key that was created, with the token for its holder."""

    key: StoredKey
    token: str
    """It can't be shown again."""


def _kept(request: Request) -> Keys:
    doorkeeper: Doorkeeper = request.app.state.doorkeeper
    return doorkeeper.keys


@router.get("")
def list_(admin: Admin, request: Request) -> Items[StoredKey]:
    """List the keys that reach nothing beyond this one, oldest first."""
    keys = _kept(request).read()
    shown = [key for key in keys if admin.governs(key.users, key.spaces)]
    return Items(items=[StoredKey.of(key, admin) for key in shown])


@router.post("", status_code=201)
def create(
    body: KeyBody, admin: Admin, request: Request, response: Response, memory: Opened
) -> NewKey:
    """Create a key; its token is in this response alone.

    It may have no right and no user that the key of the request hasn't. On loopback, where no key
    was needed so far, every request needs one from then on.
    """
    if not (admin.rights.issuperset(body.rights) and admin.governs(body.users, body.spaces)):
        raise AccessDeniedError(
            "this key can't create a key with more users or rights than its own"
        )
    key, token = _kept(request).create(
        body.name,
        body.users,
        body.rights,
        memory.admin.inspection.now(),
        agent_id=body.agent_id,
        spaces=body.spaces,
    )
    _logger.info("API key %s was created by %s", key.id, admin.name)
    response.headers["Cache-Control"] = "no-store"
    return NewKey(key=StoredKey.of(key, admin), token=token)


@router.delete("/{key_id}", status_code=204, response_class=Response, responses=UNKNOWN)
def revoke(key_id: KeyId, admin: Admin, request: Request) -> None:
    """Revoke a key; its next request is refused."""
    keys = _kept(request)
    key = next((one for one in keys.read() if one.id == key_id), None)
    if key is None or not admin.governs(key.users, key.spaces):
        raise unknown(key_id)
    keys.revoke(key_id)
    _logger.info("API key %s was revoked by %s", key_id, admin.name)
