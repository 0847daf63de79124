"""A run: load on several workers while parts are killed, then all checks."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from eval.chaos.checks import violations
from eval.chaos.clients import Promises, Visitor, connected
from eval.chaos.cluster import SCHEMA, Cluster
from eval.chaos.faults import APART_SECONDS, Fault, draw_faults, inflict
from eval.chaos.outage import Outage, suffer
from eval.chaos.reading import Answers, Tables, ask, read_tables
from semantic_memory.client import Client

SETTINGS: Mapping[str, str] = {
    "SEMANTIC_MEMORY_INGEST__QUIET_SECONDS": "1",
    "SEMANTIC_MEMORY_INGEST__MOST_WAIT_SECONDS": "3",
    "SEMANTIC_MEMORY_INDEX__EXACT_LIMIT": "60",
    "SEMANTIC_MEMORY_UPKEEP__USAGE_MINUTES": "0.05",
    "SEMANTIC_MEMORY_UPKEEP__SWEEP_MINUTES": "0.1",
    "SEMANTIC_MEMORY_INGEST__SECRETS": "keep",
}
"""Settings of the workers: sessions are extracted and jobs run while parts are killed, and some
users outgrow the exact scan and are searched in Chroma. Nothing is masked: of a hundred drawn words
the judge of secrets takes one to stand beside a secret, and the text seems lost."""
LEAST_AVAILABLE = 0.95
IN_TIME_SECONDS = 10.0
"""A call that takes longer isn't answered in time; a call is several requests, and may be sent
again."""
_RETURN_SECONDS = 5.0  # until workers have connections again
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
    availability: float
    """Share of the calls outside outages of the database that succeeded in time."""

    @property
    def failed(self) -> bool:
        """True if any check failed."""
        return any(self.violations.values())


def run_chaos(
    cluster: Cluster,
    users: int,
    clients: int,
    seconds: float,
    seed: int,
    outage: float = 0.0,
    least_writes: int | None = None,
    apart: float = APART_SECONDS,
    rounds: int = 1,
) -> Outcome:
    """Put the load of `clients` on a service, kill its parts at random, and check it.

    With `outage`, the database is away for so many seconds more, under load too. A run with fewer
    acknowledged writes than `least_writes`, two a second by default, has shown nothing and fails;
    up to `rounds` of `seconds` each follow one another until there are so many, as a slow machine
    needs.
    """
    least = round(2 * seconds) if least_writes is None else least_writes
    dice = random.Random(seed)
    drawn = (draw_faults(dice, [*cluster.parts], seconds, apart) for _ in range(rounds))
    promises = Promises()
    ended: Counter[str] = Counter()
    visitors = [(f"user-{number % users}", number) for number in range(clients)]
    load = _under_load(cluster, visitors, seconds, drawn, least, promises, ended, outage)
    away, faults, database_away = asyncio.run(load)
    settle(cluster)
    tables, answers = read(cluster, promises)
    found = violations(promises, tables, answers)
    few = f"{promises.writes} writes were acknowledged, {least} are needed"
    found["too few writes"] = [] if promises.writes >= least else [few]
    share = availability(promises, database_away)
    found["not available"] = [] if share >= LEAST_AVAILABLE else [f"{share:.1%} of calls"]
    if away is not None:
        found["unanswered in the outage"] = away.violations
    kills = Counter(f"{one.part}{' (frozen)' * one.frozen}" for one in faults)
    return Outcome(promises, kills, ended, away, found, share)


def outages(
    faults: Sequence[Fault], start: float, seconds: float, outage: float
) -> list[tuple[float, float]]:
    """Return when the database was away, by the monotonic clock, and for a moment after."""
    away = [(one.at, one.back_at + _RETURN_SECONDS) for one in faults if one.part == "postgres"]
    if outage:
        away.append((seconds, seconds + outage + _RETURN_SECONDS))
    return [(start + begins, start + ends) for begins, ends in away]


def availability(promises: Promises, outages: Sequence[tuple[float, float]]) -> float:
    """Return the share of calls that succeeded in time, of those that met no outage."""
    met = [
        (end - begin, succeeded)
        for begin, end, succeeded in promises.calls
        if not any(begin < until and end > since for since, until in outages)
    ]
    good = sum(succeeded and took <= IN_TIME_SECONDS for took, succeeded in met)
    return good / len(met) if met else 0.0


async def _under_load(
    cluster: Cluster,
    visitors: Sequence[tuple[str, int]],
    seconds: float,
    drawn: Iterable[Sequence[Fault]],
    least: int,
    promises: Promises,
    ended: Counter[str],
    outage: float,
) -> tuple[Outage | None, list[Fault], list[tuple[float, float]]]:
    away = None
    faults: list[Fault] = []
    over = asyncio.Event()
    start, lasted = time.monotonic(), 0.0
    async with connected(cluster.urls) as reached, asyncio.TaskGroup() as group:
        for user_id, number in visitors:
            group.create_task(Visitor(number, user_id, reached, promises).run(over))
        supervisor = group.create_task(_supervise(cluster, ended))
        for of_round in drawn:
            await inflict(of_round, cluster.parts, start + lasted)
            faults += [fault.later(lasted) for fault in of_round]
            lasted += seconds
            await asyncio.sleep(max(0.0, start + lasted - time.monotonic()))
            if promises.writes >= least:
                break
        if outage:
            away = await suffer(cluster, outage)
        await asyncio.sleep(max(0.0, start + lasted + outage - time.monotonic()))
        over.set()
        supervisor.cancel()
    return away, faults, outages(faults, start, lasted, outage)


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
