"""Send calls: idempotency keys, errors by name, and methods that carry verbs out."""

from __future__ import annotations

import inspect
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from datetime import timedelta
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import httpx

from semantic_memory.client.verbs import LINES, Call, Verb
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

P = ParamSpec("P")
T = TypeVar("T")

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


class Sender(Protocol):
    """Sends calls and waits."""

    def send(self, call: Call) -> bytes:
        """Send a call; return the answer's body."""
        ...


class AsyncSender(Protocol):
    """Sends calls without blocking."""

    async def send(self, call: Call) -> bytes:
        """Send a call; return the answer's body."""
        ...


SenderT = TypeVar("SenderT", bound=Sender)
AsyncSenderT = TypeVar("AsyncSenderT", bound=AsyncSender)


def sent(verb: Verb[P, T]) -> Callable[Concatenate[SenderT, P], T]:
    """Make a method that builds the verb's request and sends its calls."""

    def method(self: SenderT, /, *args: P.args, **kwargs: P.kwargs) -> T:
        steps = verb.carried_out(verb.build(*args, **kwargs))
        try:
            call = next(steps)
            while True:
                call = steps.send(self.send(call))
        except StopIteration as end:
            value: T = end.value
            return value

    return _as_method(method, verb)


def awaited(verb: Verb[P, T]) -> Callable[Concatenate[AsyncSenderT, P], Awaitable[T]]:
    """Make an asynchronous method that builds the verb's request and sends its calls."""

    async def method(self: AsyncSenderT, /, *args: P.args, **kwargs: P.kwargs) -> T:
        steps = verb.carried_out(verb.build(*args, **kwargs))
        try:
            call = next(steps)
            while True:
                call = steps.send(await self.send(call))
        except StopIteration as end:
            value: T = end.value
            return value

    return _as_method(method, verb)


MethodT = TypeVar("MethodT", bound=Callable[..., Any])


def _as_method(method: MethodT, verb: Verb[..., Any]) -> MethodT:
    """Give a method the name, documentation and signature that `help` and editors show."""
    request = verb.request
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    parameters = inspect.signature(verb.build).parameters.values()
    method.__name__ = method.__qualname__ = request.verb.rpartition(".")[2]
    method.__doc__ = request.__doc__
    method.__signature__ = inspect.Signature([own, *parameters])  # type: ignore[attr-defined]
    return method
