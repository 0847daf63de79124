"""Delivers the feed of changes to an HTTP endpoint, signed as in Standard Webhooks 1.0.

At least once and in order: the place behind what was delivered is kept in the ledger, and an event
is sent again until the endpoint takes it. A thread of its own waits for the endpoint; nothing else
does.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import threading
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

import httpx

from semantic_memory.concurrency import Backoff
from semantic_memory.domain.errors import ConfigurationError, StoreClosedError, StoreError
from semantic_memory.domain.events import Event, WorkerFailed
from semantic_memory.domain.feed import EventKind, MemoryEvent
from semantic_memory.domain.ports import Clock, Ledger
from semantic_memory.domain.values import derived_id

_CURSOR = "webhook"  # key in the ledger's meta
_PREFIX = "whsec_"
_AT_ONCE = 100
_SECONDS = 10.0
_TIMEOUT = httpx.Timeout(_SECONDS)
_UNKEPT = 1_000  # events that are passed over before the place behind them is kept
_STEP = "webhook"


@dataclass(frozen=True)
class Endpoint:
    """The receiver of events."""

    url: str = field(repr=False)
    key: bytes = field(repr=False)
    kinds: Collection[EventKind]


def endpoint(url: str, secret: str | None, kinds: Collection[EventKind]) -> Endpoint:
    """Return an endpoint. Raises ConfigurationError for a URL or a secret that can't be used."""
    try:
        address = httpx.URL(url)
    except httpx.InvalidURL:
        address = httpx.URL()
    if address.scheme not in ("http", "https") or not _resolvable(address):
        raise ConfigurationError("webhook.url must be an http or https address of an endpoint")
    if address.userinfo:
        raise ConfigurationError("webhook.url must hold no password: set webhook.secret")
    return Endpoint(url, _key(secret), kinds)


def _resolvable(address: httpx.URL) -> bool:
    """Tell whether a connection can be tried: sockets refuse empty and long labels of a host."""
    try:
        address.raw_host.decode("ascii").encode("idna")
    except UnicodeError:
        return False
    return bool(address.host) and (address.port or 0) < 1 << 16


def _key(secret: str | None) -> bytes:
    try:
        key = base64.b64decode((secret or "").removeprefix(_PREFIX), validate=True)
    except binascii.Error:
        key = b""
    if not 24 <= len(key) <= 64:
        raise ConfigurationError(
            "webhook.secret must be whsec_ and 24 to 64 random bytes in base64:"
            " `echo whsec_$(openssl rand -base64 32)` makes one"
        )
    return key


def signed(body: bytes, message_id: str, seconds: int, key: bytes) -> dict[str, str]:
    """Return the headers of a message that is sent `seconds` after 1970."""
    content = f"{message_id}.{seconds}.".encode() + body
    digest = base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()
    return {
        "content-type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": f"v1,{digest}",
    }


def message(event: MemoryEvent) -> tuple[str, bytes]:
    """Return the id and the body of an event's message, the same at each attempt."""
    # The reason is free text, which forgetting can't take back from an endpoint.
    data: Mapping[str, object] = event.model_dump(
        mode="json", exclude_defaults=True, exclude={"reason"}
    )
    body = {"type": f"memory.{event.kind.value}", "timestamp": data["at"], "data": data}
    at = event.at.isoformat()
    message_id = derived_id(_STEP, str(event.id), at, event.user_id, event.memory_id or "")
    return message_id, json.dumps(body, separators=(",", ":")).encode()


class Webhook:
    """A thread that delivers what happens, from its first start on, until it is closed."""

    def __init__(
        self,
        ledger: Ledger,
        to: Endpoint,
        clock: Clock,
        observe: Callable[[Event], None],
        backoff: Backoff = Backoff(),  # noqa: B008 - immutable
    ) -> None:
        self._ledger = ledger
        self._to = to
        self._clock = clock
        self._observe = observe
        self._backoff = backoff
        self._http = httpx.Client(timeout=_TIMEOUT)
        self._woken = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="semantic-memory-webhook")
        self._thread.daemon = True
        self._stop: Callable[[], None] | None = None
        self._after = self._kept = 0

    def start(self) -> None:
        """Begin, behind what was delivered before."""
        self._stop = self._ledger.on_commit(self._woken.set)
        if self._ledger.meta(_CURSOR) is None:
            self._ledger.set_meta(_CURSOR, str(self._ledger.last_event()))
        self._after = self._kept = int(self._ledger.meta(_CURSOR) or 0)
        self._thread.start()

    def _run(self) -> None:
        failures = 0
        while not self._closing.is_set():
            self._woken.clear()
            if self._closing.is_set():  # in between, by another thread, whose call was cleared
                break
            try:
                if not self._deliver_some():
                    self._woken.wait()
                failures = 0
            except StoreClosedError:
                break
            except Exception as error:
                failures += 1
                pause = self._backoff.pause(failures)
                self._observe(WorkerFailed(_STEP, _said(error), pause, repeated=failures > 1))
                self._closing.wait(pause)
        with suppress(StoreError):  # events that were passed over are passed over again
            self._keep()

    def _deliver_some(self) -> bool:
        """Deliver the next events; return False if there are none."""
        page = self._ledger.events(self._after, _AT_ONCE, kinds=self._to.kinds)
        try:
            for event in page:
                if self._closing.is_set():
                    return True
                self._send(event)
                self._after = event.id
            self._after = page.next
        finally:
            if page or self._after - self._kept >= _UNKEPT:
                self._keep()
        return bool(page)

    def _keep(self) -> None:
        """Keep the place behind what was dealt with for the next start."""
        if self._after != self._kept:
            self._ledger.set_meta(_CURSOR, str(self._after))
            self._kept = self._after

    def _send(self, event: MemoryEvent) -> None:
        message_id, body = message(event)
        headers = signed(body, message_id, int(self._clock.now().timestamp()), self._to.key)
        with self._http.stream("POST", self._to.url, content=body, headers=headers) as response:
            response.raise_for_status()
            if (
                response.headers.get("content-length") == "0"
                or response.status_code == httpx.codes.NO_CONTENT
            ):
                response.read()  # keeps the connection; any other body may be slow or huge

    def close(self) -> None:
        """Wait for the delivery under way, for 10 s at most, and start no other."""
        self._closing.set()
        self._woken.set()
        if self._stop is not None:
            self._stop()
        if self._thread.is_alive():
            self._thread.join(_SECONDS)
        self._http.close()


def _said(error: Exception) -> str:
    """Describe a failure without the URL, which may be secret."""
    if isinstance(error, httpx.HTTPStatusError):
        return f"the endpoint answered {error.response.status_code}"
    if isinstance(error, httpx.HTTPError):
        return f"the endpoint can't be reached ({type(error).__name__})"
    return str(error) if isinstance(error, StoreError) else type(error).__name__
