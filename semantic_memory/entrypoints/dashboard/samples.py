"""The service's figures over the last hours, sampled from its Prometheus registries."""

from __future__ import annotations

import math
import time
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

import anyio
from anyio import to_thread
from prometheus_client import CollectorRegistry
from prometheus_client.samples import Sample as Measure

from semantic_memory.domain.errors import StoreError
from semantic_memory.domain.ports import Clock
from semantic_memory.domain.values import Timestamp, Value
from semantic_memory.entrypoints.metrics import PREFIX

SECONDS = 15.0
"""Between two samples."""
STORE_SECONDS = 300.0
"""For which the figures of the store hold: to count them is to look at every memory."""
MOST = 960
"""Samples kept: four hours."""
_REQUESTS = f"{PREFIX}request_seconds"


class Sample(Value):
    """The service at one moment; rates and times are those since the sample before."""

    at: Timestamp
    requests_per_second: float
    errors_per_second: float
    """Requests answered with 5xx."""
    p50_ms: float | None
    """Of the requests; None if there were none."""
    p95_ms: float | None
    memories: int
    """That are active."""
    waiting: int
    """Memories that wait for their vectors."""
    sessions: int
    """With a message in the last 5 minutes."""
    rss_bytes: int | None
    """Memory of the process; None where the system doesn't tell."""
    store_bytes: int


@dataclass(slots=True)
class _Reading:
    """Return the registry's metrics, summed over their labels."""

    time: float
    buckets: Counter[float] = field(default_factory=Counter)
    """Requests by the upper bound of their seconds, each with those below it."""
    errors: float = 0.0
    memories: float = 0.0
    gauges: dict[str, float] = field(default_factory=dict)


class Sampler:
    """Takes samples and keeps the last ones."""

    def __init__(
        self,
        registry: CollectorRegistry,
        store: CollectorRegistry,
        clock: Clock,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        """`registry` is read at each sample, `store`, whose figures take longer, now and then."""
        self._registry = registry
        self._store = store
        self._stored: _Reading | None = None
        self._clock = clock
        self._timer = timer
        self._samples: deque[Sample] = deque(maxlen=MOST)
        self._last: _Reading | None = None

    def take(self) -> None:
        """Take one sample."""
        reading = _read(self._registry, self._timer())
        if self._stored is None or reading.time - self._stored.time >= STORE_SECONDS:
            self._stored = _read(self._store, reading.time)
        reading.memories = self._stored.memories
        reading.gauges |= self._stored.gauges
        if (last := self._last) is not None:
            if reading.time <= last.time:
                return
            self._samples.append(_sample(last, reading, self._clock))
        self._last = reading

    def latest(self, number: int) -> list[Sample]:
        """The last `number` samples, oldest first."""
        return [*self._samples][-number:]

    async def run(self) -> None:
        """Take samples until cancelled, but for times when the store can't be read."""
        while True:
            await anyio.sleep(SECONDS)
            with suppress(StoreError):
                await to_thread.run_sync(self.take)


def quantile(share: float, bounds: Iterable[tuple[float, float]]) -> float | None:
    """The quantile of a histogram given as (upper bound, cumulative count), ascending.

    Linear within its bucket, as Prometheus' histogram_quantile has it; None if it is empty.
    """
    steps = [(0.0, 0.0), *bounds]
    total = steps[-1][1]
    if total <= 0:
        return None
    wanted = share * total
    place = bisect_left([count for _, count in steps], wanted, lo=1)
    (low, below), (high, upto) = steps[place - 1], steps[place]
    if math.isinf(high):
        return low
    return low + (high - low) * (wanted - below) / (upto - below)


def _read(registry: CollectorRegistry, now: float) -> _Reading:
    reading = _Reading(now)
    for metric in registry.collect():
        for measure in metric.samples:
            _note(reading, measure)
    return reading


def _note(reading: _Reading, measure: Measure) -> None:
    name, labels, value = measure.name, measure.labels, measure.value
    if name == f"{_REQUESTS}_bucket":
        reading.buckets[float(labels["le"])] += value  # type: ignore[assignment]  # it counts
    elif name == f"{_REQUESTS}_count" and labels["status"].startswith("5"):
        reading.errors += value
    elif name == f"{PREFIX}memories" and labels["status"] == "active":
        reading.memories += value
    elif not labels:
        reading.gauges[name] = value


def _sample(last: _Reading, now: _Reading, clock: Clock) -> Sample:
    seconds = now.time - last.time
    new = sorted((bound, count - last.buckets[bound]) for bound, count in now.buckets.items())
    requests = new[-1][1] if new else 0.0
    gauges = now.gauges

    def milliseconds(share: float) -> float | None:
        found = quantile(share, new)
        return None if found is None else round(1_000 * found, 2)

    rss = gauges.get("process_resident_memory_bytes")
    return Sample(
        at=clock.now(),
        requests_per_second=round(requests / seconds, 3),
        errors_per_second=round((now.errors - last.errors) / seconds, 3),
        p50_ms=milliseconds(0.5),
        p95_ms=milliseconds(0.95),
        memories=int(now.memories),
        waiting=int(gauges.get(f"{PREFIX}unembedded", 0)),
        sessions=int(gauges.get(f"{PREFIX}active_sessions", 0)),
        rss_bytes=None if rss is None else int(rss),
        store_bytes=int(gauges.get(f"{PREFIX}store_bytes", 0)),
    )
