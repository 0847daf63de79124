"""An HTTP endpoint that events are sent to, signed as in Standard Webhooks 1.0."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from datetime import datetime

import httpx

from semantic_memory.domain.errors import ConfigurationError, DeliveryError
from semantic_memory.domain.feed import MemoryEvent
from semantic_memory.domain.values import derived_id

_PREFIX = "whsec_"
_TIMEOUT = httpx.Timeout(10.0)
_LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=None)


class HttpEndpoint:
    """The receiver of events: a `Delivery`. Its address and its key are in no representation."""

    def __init__(self, url: str, key: bytes) -> None:
        self._url = url
        self._key = key
        self._http = httpx.Client(timeout=_TIMEOUT, limits=_LIMITS)

    @property
    def name(self) -> str:
        """A digest of the address."""
        return hashlib.sha256(self._url.encode()).hexdigest()

    def send(self, events: Sequence[MemoryEvent], at: datetime) -> None:
        """Send events, signed at a time. Raises DeliveryError, which doesn't tell the URL."""
        message_id, body = message(events[0]) if len(events) == 1 else batch(events)
        headers = signed(body, message_id, int(at.timestamp()), self._key)
        try:
            self._post(body, headers)
        except httpx.HTTPStatusError as error:
            answered = f"the endpoint answered {error.response.status_code}"
            raise DeliveryError(answered, error.response.status_code) from error
        except httpx.HTTPError as error:
            unreached = f"the endpoint can't be reached ({type(error).__name__})"
            raise DeliveryError(unreached) from error

    def _post(self, body: bytes, headers: Mapping[str, str]) -> None:
        with self._http.stream("POST", self._url, content=body, headers=headers) as response:
            response.raise_for_status()
            if (
                response.headers.get("content-length") == "0"
                or response.status_code == httpx.codes.NO_CONTENT
            ):
                response.read()  # keeps the connection; any other body may be slow or huge

    def close(self) -> None:
        """Close the connection."""
        self._http.close()


def http_endpoint(url: str, secret: str | None) -> HttpEndpoint:
    """Return an endpoint. Raises ConfigurationError for a URL or a secret that can't be used."""
    try:
        address = httpx.URL(url)
    except httpx.InvalidURL:
        address = httpx.URL()
    if address.scheme not in ("http", "https") or not _resolvable(address):
        raise ConfigurationError("webhook.url must be an http or https address of an endpoint")
    if address.userinfo:
        raise ConfigurationError("webhook.url must hold no password: set webhook.secret")
    return HttpEndpoint(url, _key(secret))


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


def batch(events: Sequence[MemoryEvent]) -> tuple[str, bytes]:
    """Return the id and the body of a message with several events of a user, in their order."""
    messages = [message(event) for event in events]
    data = [json.loads(body) for _, body in messages]
    body = {"type": "memory.batch", "timestamp": data[0]["timestamp"], "data": {"events": data}}
    message_id = derived_id("webhook", *(one for one, _ in messages))
    return message_id, json.dumps(body, separators=(",", ":")).encode()


def message(event: MemoryEvent) -> tuple[str, bytes]:
    """Return the id and the body of an event's message, the same at each attempt."""
    # The reason is free text, which forgetting can't take back from an endpoint.
    data: Mapping[str, object] = event.model_dump(
        mode="json", exclude_defaults=True, exclude={"reason"}
    )
    body = {"type": f"memory.{event.kind.value}", "timestamp": data["at"], "data": data}
    at = event.at.isoformat()
    message_id = derived_id("webhook", str(event.id), at, event.user_id, event.memory_id or "")
    return message_id, json.dumps(body, separators=(",", ":")).encode()
