"""A run: load on several workers while parts are killed, then all checks."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval.chaos.checks import violations
from eval.chaos.clients import Promises, Visitor, connected
from eval.chaos.cluster import SCHEMA, Cluster
from eval.chaos.faults import Fault, draw_faults, inflict
from eval.chaos.outage import Outage, suffer
from eval.chaos.reading import Answers, Tables, ask, read_tables
from semantic_memory.client import Client

SETTINGS: Mapping[str, str] = {
    "SEMANTIC_MEMORY_INGEST__QUIET_SECONDS": "1",
    "SEMANTIC_MEMORY_INGEST__MOST_WAIT_SECONDS": "3",
    "SEMANTIC_MEMORY_INDEX__EXACT_LIMIT": "60",
    "SEMANTIC_MEMORY_UPKEEP__USAGE_MINUTES": "0.05",
    "SEMANTIC_MEMORY_UPKEEP__SWEEP_MINUTES": "0.1",
}
"""Settings of the workers: sessions are extracted and jobs run while parts are killed, and some
users outgrow the exact scan and are searched in Chroma."""
_PATIENCE_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a run."""

    promises: Promises
    kills: Counter[str]
    ended: Counter[str]
    """Parts that ended by themselves and were started again, as a supervisor would."""
    outage: Outage | None
    violations: Mapping[str, Sequence[str]]

    @property
    def failed(self) -> bool:
        """True if any check failed."""
        return any(self.violations.values())


def run_chaos(
    cluster: Cluster, users: int, clients: int, seconds: float, seed: int, outage: float = 0.0
) -> Outcome:
    """Put the load of `clients` on a service, kill its parts at random, and check it.

    With `outage`, the database is away for so many seconds more, under load too.
    """
    dice = random.Random(seed)
    faults = draw_faults(dice, [*cluster.parts], seconds)
    promises = Promises()
    ended: Counter[str] = Counter()
    visitors = [(f"user-{number % users}", number) for number in range(clients)]
    load = _under_load(cluster, visitors, seconds, faults, promises, ended, outage)
    away = asyncio.run(load)
    settle(cluster)
    tables, answers = read(cluster, promises)
    found = violations(promises, tables, answers)
    found["nothing written"] = [] if promises.writes else ["no write was acknowledged"]
    if away is not None:
        found["unanswered in the outage"] = away.violations
    kills = Counter(fault.part for fault in faults)
    return Outcome(promises, kills, ended, away, found)


async def _under_load(
    cluster: Cluster,
    visitors: Sequence[tuple[str, int]],
    seconds: float,
    faults: Sequence[Fault],
    promises: Promises,
    ended: Counter[str],
    outage: float,
) -> Outage | None:
    away = None
    start = time.monotonic()
    async with connected(cluster.urls) as reached, asyncio.TaskGroup() as group:
        for user_id, number in visitors:
            visitor = Visitor(number, user_id, reached, promises)
            group.create_task(visitor.run(start + seconds + outage))
        supervisor = group.create_task(_supervise(cluster, ended))
        await inflict(faults, cluster.parts, start)
        if outage:
            away = await suffer(cluster, outage)
        await asyncio.sleep(max(0.0, start + seconds + outage - time.monotonic()))
        supervisor.cancel()
    return away


async def _supervise(cluster: Cluster, ended: Counter[str]) -> None:
    """Start programs again that end by themselves, as a worker does without its database."""
    while True:
        await asyncio.sleep(0.5)
        for program in (*cluster.workers, cluster.chroma):
            if program.has_ended:
                ended[program.name] += 1
                program.start()


def settle(cluster: Cluster) -> None:
    """Wait until every part is back and nothing is pending, and erase what was forgotten."""
    for program in (*cluster.workers, cluster.chroma):
        if program.has_ended:
            program.start()
        program.wait()
    with Client(
        cluster.worker_urls[0], timeout=_PATIENCE_SECONDS, seconds=_PATIENCE_SECONDS
    ) as client:
        client.flush()
        client.jobs.run(["compact"])
        client.flush()


def read(cluster: Cluster, promises: Promises) -> tuple[Tables, list[Answers]]:
    """Read the tables, and ask every worker."""
    tables = read_tables(cluster.server_url, SCHEMA, cluster.chroma_url)
    named = zip(cluster.workers, cluster.worker_urls, strict=True)
    return tables, [ask(worker.name, url, promises, tables) for worker, url in named]
