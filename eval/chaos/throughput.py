"""Searches a second of one to three workers, and of the embedded form behind the same routes."""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import psycopg

from eval.bench import sentence
from eval.chaos.cluster import SCHEMA, Cluster, cluster
from eval.chaos.programs import WORKERS
from eval.load import service
from eval.processes import megabytes_on_disk, seconds_of
from semantic_memory.client import Client
from semantic_memory.domain.messages import Message

_BATCH = 50
_WARM_SECONDS = 5.0
"""Time of searches before the measured ones, so that users are in RAM."""
_GONE_SECONDS = 3.0
"""Time in which the proxy notices that a worker is gone."""
_USER = "X-Memory-User"


@dataclass(frozen=True, slots=True)
class Throughput:
    """Figures of searches under load."""

    form: str
    searches: int
    seconds: float
    p50: float
    p95: float
    """Times of a search, in ms."""
    cpu: Mapping[str, float]
    """CPU of a search in ms, by part; all threads and children."""
    kilobytes: float
    """Disk that a memory takes, indexes included, in KB."""
    message: Mapping[str, float]
    """CPU of a message in ms until its facts are extracted, embedded and indexed, by part."""


def measure_throughput(users: int, each: int, clients: int, seconds: float) -> Iterator[Throughput]:
    """Measure the embedded form, then workers; each user says `each` messages before."""
    names = [f"user-{number}" for number in range(users)]
    number = users * each
    with (
        TemporaryDirectory(prefix="sm-throughput-") as scratch,
        service(Path(scratch, "store")) as (process, url),
    ):
        pids = {"workers": [process.pid]}
        message = _fill(url, pids, names, each)
        kilobytes = 1e3 * megabytes_on_disk(Path(scratch)) / (2 * number)
        searched = _search_for(url, pids, names, clients, seconds)
        yield Throughput("embedded", *searched, kilobytes, message)
    with cluster({}) as running:
        url = running.urls[0]
        message = _fill(url, _pids(running, WORKERS), names, each)
        kilobytes = _kilobytes(running) / (2 * number)
        for workers in range(WORKERS, 0, -1):
            for worker in running.workers[workers:]:
                worker.kill()
            time.sleep(_GONE_SECONDS)
            form = f"{workers} worker{'s' if workers > 1 else ''}"
            searched = _search_for(url, _pids(running, workers), names, clients, seconds)
            yield Throughput(form, *searched, kilobytes, message)


def _pids(running: Cluster, workers: int) -> dict[str, list[int]]:
    found = {
        "workers": [worker.pid for worker in running.workers[:workers]],
        "postgres": [running.database.pid],
    }
    if running.proxy is not None:
        found["proxy"] = [running.proxy.pid]
    return found


def _fill(
    url: str, pids: Mapping[str, Sequence[int]], names: Sequence[str], each: int
) -> dict[str, float]:
    """Have each user say messages, of which each gives a fact or so; return the CPU of one."""
    dice = random.Random(0)
    before = _seconds(pids)
    with Client(url, timeout=600.0) as client:
        for user_id in names:
            for start in range(0, each, _BATCH):
                said = [
                    Message(role="user", content=sentence(dice, place))
                    for place in range(start, min(start + _BATCH, each))
                ]
                client.observe(said, user_id=user_id, session_id=f"s{start}")
        client.flush()
    return _since(pids, before, each * len(names))


def _seconds(pids: Mapping[str, Sequence[int]]) -> dict[str, float]:
    return {part: sum(map(seconds_of, own)) for part, own in pids.items()}


def _since(
    pids: Mapping[str, Sequence[int]], before: Mapping[str, float], number: int
) -> dict[str, float]:
    """Return the CPU that parts have taken since `before`, in ms of each of so many calls."""
    return {part: 1e3 * (now - before[part]) / number for part, now in _seconds(pids).items()}


def _kilobytes(running: Cluster) -> float:
    """Return the size of the database's tables and indexes."""
    with psycopg.connect(running.server_url) as connection:
        row = connection.execute(
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class"
            " WHERE relnamespace = %s::regnamespace AND relkind = 'r'",
            (SCHEMA,),
        ).fetchone()
    return float(row[0]) / 1e3 if row else 0.0


def _search_for(
    url: str,
    pids: Mapping[str, Sequence[int]],
    names: Sequence[str],
    clients: int,
    seconds: float,
) -> tuple[int, float, float, float, dict[str, float]]:
    """Search for some seconds; return the first figures of `Throughput`."""
    asyncio.run(_search(url, names, clients, time.monotonic() + _WARM_SECONDS))
    parts = {**pids, "clients": [os.getpid()]}
    before = _seconds(parts)
    start = time.monotonic()
    times = asyncio.run(_search(url, names, clients, start + seconds))
    taken = time.monotonic() - start
    cpu = _since(parts, before, len(times))
    ranked = statistics.quantiles(times, n=20)
    return len(times), taken, 1e3 * ranked[9], 1e3 * ranked[18], cpu


async def _search(url: str, names: Sequence[str], clients: int, ends: float) -> list[float]:
    """Search from several clients until `ends`; return the seconds of each search."""
    times: list[float] = []

    async def visit(number: int, http: httpx.AsyncClient) -> None:
        dice = random.Random(number)
        turn = 0
        while time.monotonic() < ends:
            user_id = names[(number + turn) % len(names)]
            turn += 1
            asked = {"user_id": user_id, "query": sentence(dice, turn), "k": 10}
            began = time.perf_counter()
            response = await http.post("/v1/search", json=asked, headers={_USER: user_id})
            response.raise_for_status()
            times.append(time.perf_counter() - began)

    async with (
        httpx.AsyncClient(base_url=url, timeout=60.0) as http,
        asyncio.TaskGroup() as group,
    ):
        for number in range(clients):
            group.create_task(visit(number, http))
    return times
