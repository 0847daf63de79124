"""An outage of the database: what each worker and the proxy answer meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field

import httpx

from eval.chaos.cluster import Cluster
from semantic_memory.domain.values import new_id

_PAUSE_SECONDS = 1.0
_PATIENCE_SECONDS = 30.0
_LAST_SECONDS = 15.0
"""Seconds before the end in which no answer is asked for, as it might come when it is back."""
_USER = "user-0"


@dataclass(slots=True)
class Outage:
    """Answers to writes while the database was away."""

    answers: Counter[str] = field(default_factory=Counter)
    """Number of answers by status, or by the error of the connection."""
    slowest: float = 0.0
    """Seconds of the slowest answer."""
    violations: list[str] = field(default_factory=list)
    """Answers other than 503 with Retry-After."""


async def suffer(cluster: Cluster, seconds: float) -> Outage:
    """Take the database away for so long, and write to every address in turn meanwhile.

    Begins once all workers run: one that is started without its database ends.
    """
    found = Outage()
    for worker in cluster.workers:
        await asyncio.to_thread(worker.wait)
    await asyncio.to_thread(cluster.database.kill)
    try:
        ends = time.monotonic() + seconds
        async with (
            asyncio.TaskGroup() as group,
            httpx.AsyncClient(timeout=_PATIENCE_SECONDS) as http,
        ):
            for url in {*cluster.urls, *cluster.worker_urls}:
                group.create_task(_write(http, url, ends, found))
            await asyncio.sleep(seconds)
    finally:
        await asyncio.to_thread(cluster.database.start)
    return found


async def _write(http: httpx.AsyncClient, url: str, ends: float, found: Outage) -> None:
    while time.monotonic() < ends - _LAST_SECONDS:
        start = time.monotonic()
        body = {
            "user_id": _USER,
            "session_id": "outage",
            "messages": [{"id": new_id(), "role": "user", "content": "Said while it was away."}],
        }
        try:
            response = await http.post(f"{url}/v1/messages", json=body)
        except httpx.TransportError as error:
            answer, is_right = type(error).__name__, False
        else:
            waits = response.headers.get("retry-after")
            answer = f"{response.status_code}{'' if waits is None else ' with Retry-After'}"
            is_right = response.status_code == 503 and waits is not None
        found.answers[answer] += 1
        found.slowest = max(found.slowest, time.monotonic() - start)
        if not is_right:
            found.violations.append(f"{url}: {answer}")
        await asyncio.sleep(_PAUSE_SECONDS)
