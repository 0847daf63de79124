"""POST over HTTP, with bounds on the time and on the size of an answer.

An answer may be endless: a model that repeats itself, a server that sends spaces to keep the
connection, a wrong address. So it is read in parts and given up once it is too large or takes too
long, before anything parses it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from semantic_memory.domain.errors import AnswerUnusableError
from semantic_memory.llm.refusals import read_refusal

MOST_BYTES = 2_000_000
"""Largest answer that is read; what a model thought aloud is part of it."""


class UnreachableError(Exception):
    """An endpoint can't be reached, or broke off; asking again may help."""


class Transport:
    """JSON over HTTP to one endpoint; `client` has its address, its headers and its time-outs."""

    def __init__(self, client: httpx.Client, seconds: float) -> None:
        """Give up an answer that isn't complete after `seconds`."""
        self._client = client
        self._seconds = seconds

    def post(self, path: str, body: Mapping[str, Any]) -> bytes:
        """Return the body of the answer.

        Raises RefusalError for an error's status, UnreachableError if there is no answer, and
        AnswerUnusableError if there is no end of it.
        """
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        end = deadline(self._seconds)
        try:
            with self._client.stream("POST", path, content=content, headers=headers) as response:
                data = bounded(response.iter_bytes(), end)
        except httpx.HTTPError as error:
            raise UnreachableError(f"{type(error).__name__}: {error}") from error
        if not response.is_success:
            raise read_refusal(response.status_code, data, retry_after(response.headers))
        return data


def deadline(seconds: float) -> float:
    """Return the time, by the monotonic clock, at which an answer is given up."""
    return time.monotonic() + seconds


def bounded(parts: Iterable[bytes], end: float) -> bytes:
    """Return the body that arrives in parts.

    Raises AnswerUnusableError once it is too large, UnreachableError if it isn't complete by `end`.
    """
    data = bytearray()
    for part in parts:
        data += part
        if len(data) > MOST_BYTES:
            raise AnswerUnusableError(f"the endpoint's answer is larger than {MOST_BYTES:,} bytes")
        if time.monotonic() > end:
            raise UnreachableError("the answer didn't end in time")
    return bytes(data)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds after which an endpoint wants to be asked again, if it says so.

    >>> retry_after({"retry-after-ms": "1500"})
    1.5
    """
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1_000)
        return max(0.0, float(headers["retry-after"]))
    except KeyError:
        return None
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(headers["retry-after"]).timestamp() - time.time())
    except (ValueError, TypeError):
        return None
