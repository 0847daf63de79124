"""Parts of sending a call: idempotency keys, errors by name, which calls may be repeated."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable
from datetime import timedelta
from typing import Any

import httpx

from semantic_memory.client.calls import LINES, Call
from semantic_memory.domain.errors import (
    AccessDeniedError,
    ConcurrentUpdateError,
    EventsRemovedError,
    InputRefusedError,
    InvalidInputError,
    LogFullError,
    NotFoundError,
    ProviderError,
    RecordRefusedError,
    SchemaTooNewError,
    SemanticMemoryError,
    ServiceError,
    ServiceUnavailableError,
    SessionClosedError,
    SessionExistsError,
)
from semantic_memory.domain.values import new_id

_BY_TYPE: dict[str, type[SemanticMemoryError]] = {
    "invalid-input": InvalidInputError,
    "bad-request": InvalidInputError,
    "too-large": InvalidInputError,
    "log-full": LogFullError,
    "not-found": NotFoundError,
    "concurrent-update": ConcurrentUpdateError,
    "schema-too-new": SchemaTooNewError,
    "session-closed": SessionClosedError,
    "session-exists": SessionExistsError,
    "input-refused": InputRefusedError,
    "provider": ProviderError,
    "unauthenticated": AccessDeniedError,
    "forbidden": AccessDeniedError,
}
_TEMPORARY = frozenset({408, 429, 502, 503, 504})


class _TemporaryError(ServiceUnavailableError):
    """A failure after which sending again may help."""

    def __init__(self, message: str, seconds: float | None = None) -> None:
        super().__init__(message)
        self.seconds = seconds


def retryable(error: Exception) -> bool | timedelta:
    """Return True or the pause asked for by the service if sending again may help."""
    if not isinstance(error, _TemporaryError):
        return False
    return True if error.seconds is None else timedelta(seconds=error.seconds)


def request_options(call: Call) -> dict[str, Any]:
    """Return the options for httpx. A write gets a key of its own, so that it can be sent again."""
    options: dict[str, Any] = {"params": call.query, "headers": {}}
    if (user_id := _user(call)) is not None:
        options["headers"]["X-Memory-User"] = user_id
    if call.json is not None:
        options["json"] = call.json
    if call.lines is not None:
        options["headers"]["Content-Type"] = LINES
    elif call.method != "GET":
        options["headers"]["Idempotency-Key"] = new_id()
    return options


def _user(call: Call) -> str | None:
    """Return the user of a call, by whom a proxy may choose the worker."""
    named = call.json if isinstance(call.json, dict) else {}
    user_id: str | None = call.query.get("user_id") or named.get("user_id")
    return user_id


def unreachable(url: httpx.URL, error: httpx.TransportError) -> ServiceUnavailableError:
    """Build the error for a call that got no answer."""
    reason = str(error) or type(error).__name__
    return _TemporaryError(f"can't reach the memory service at {url}: {reason}; is it running?")


def check(response: httpx.Response) -> None:
    """Raise the error that a response reports; its body must have been read."""
    if response.is_success:
        return
    try:
        said = json.loads(response.content)
        name, detail = str(said["type"]).rpartition("/")[2], str(said["detail"])
    except (ValueError, KeyError, TypeError):
        name, detail = "", f"{response.status_code} {response.reason_phrase}"
    if name == "invalid-input" and "loaded" in said:
        raise RecordRefusedError(detail, said["loaded"])
    if name == "events-removed":
        raise EventsRemovedError(detail, said["resume"])
    if (kind := _BY_TYPE.get(name)) is not None:
        raise kind(detail)
    waits = response.headers.get("retry-after", "")
    if response.status_code in _TEMPORARY or (response.status_code == 409 and waits):
        raise _TemporaryError(detail, float(waits) if waits.isdecimal() else None)
    raise ServiceError(detail)


async def as_async(lines: Iterable[bytes]) -> AsyncIterator[bytes]:
    """Yield the same lines to an asynchronous client."""
    for line in lines:
        yield line
