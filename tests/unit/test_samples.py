"""Samples of the service's figures."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry

from semantic_memory.domain.reports import Stats
from semantic_memory.entrypoints.dashboard.samples import MOST, SECONDS, Sampler, quantile
from semantic_memory.entrypoints.metrics import MetricsObserver, RequestMetrics, StoreFigures
from semantic_memory.testing import FrozenClock
from tests.conftest import NOW

BOUNDS = (0.01, 0.1, 1.0, 10.0, math.inf)


@given(st.lists(st.floats(0.001, 9.9), min_size=1, max_size=200), st.floats(0.01, 1.0))
def test_a_quantile_lies_in_the_bucket_of_the_true_one(seconds: list[float], share: float):
    cumulative = [(bound, float(sum(one <= bound for one in seconds))) for bound in BOUNDS]
    found = quantile(share, cumulative)
    true = float(np.quantile(seconds, share, method="inverted_cdf"))
    high = min(bound for bound in BOUNDS if true <= bound)
    low = max((bound for bound in BOUNDS if bound < true), default=0.0)
    assert found is not None
    assert low <= found <= high


def test_a_quantile_of_nothing_is_none():
    assert quantile(0.5, [(1.0, 0.0), (math.inf, 0.0)]) is None
    assert quantile(0.5, []) is None


def test_a_quantile_beyond_the_last_bound_is_that_bound():
    assert quantile(0.95, [(1.0, 0.0), (math.inf, 4.0)]) == 1.0


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


def test_a_sample_tells_what_happened_since_the_one_before(registry: CollectorRegistry):
    times = iter([0.0, 10.0, 20.0])
    clock = FrozenClock(NOW)
    sampler = Sampler(registry, CollectorRegistry(), clock, timer=lambda: next(times))
    MetricsObserver(registry)
    requests = RequestMetrics(registry)
    requests.observe("GET", "/v1/a", 200, 5.0)
    sampler.take()
    assert sampler.latest(10) == []  # nothing to compare with
    for place in range(20):
        requests.observe("GET", f"/v1/{place % 2}", 500 if place < 5 else 200, 0.02)
    sampler.take()
    clock.advance(seconds=10)
    sampler.take()
    busy, calm = sampler.latest(10)
    assert busy.requests_per_second == 2.0
    assert busy.errors_per_second == 0.5
    assert busy.p50_ms is not None
    assert busy.p95_ms is not None
    assert 10 <= busy.p50_ms <= busy.p95_ms <= 25
    assert (calm.requests_per_second, calm.p50_ms, calm.p95_ms) == (0.0, None, None)
    assert (calm.at - busy.at).total_seconds() == 10
    assert sampler.latest(1) == [calm]


def test_no_more_than_four_hours_are_kept(registry: CollectorRegistry):
    sampler = Sampler(registry, CollectorRegistry(), FrozenClock(NOW))
    for _ in range(MOST + 10):
        sampler.take()
    assert len(sampler.latest(10 * MOST)) == MOST
    assert MOST * SECONDS == 4 * 3_600


def figures() -> Stats:
    return Stats(
        users=1,
        sessions=1,
        memories=7,
        by_category_and_status={"event/active": 7},
        unembedded=2,
        log_bytes=1,
        store_bytes=9,
        embedder="hash",
    )


def test_a_store_that_takes_long_to_count_is_counted_rarely():
    now, takes = [0.0], 3.0
    counted: list[float] = []

    def stats() -> Stats:
        counted.append(now[0])
        now[0] += takes
        return figures()

    store = CollectorRegistry()
    StoreFigures(store, stats, timer=lambda: now[0])
    for place in range(10):
        now[0] = max(now[0], place * SECONDS)
        assert list(store.collect())
    assert counted == [0.0, 60.0, 120.0]


def test_the_store_is_counted_every_five_minutes_and_told_in_every_sample(
    registry: CollectorRegistry,
):
    now = [0.0]
    counted: list[float] = []

    def stats() -> Stats:
        counted.append(now[0])
        return figures()

    store = CollectorRegistry()
    StoreFigures(store, stats, timer=lambda: now[0])
    sampler = Sampler(registry, store, FrozenClock(NOW), timer=lambda: now[0])
    for place in range(41):
        now[0] = place * SECONDS
        sampler.take()
    assert counted == [0.0, 300.0, 600.0]
    assert {(one.memories, one.waiting, one.store_bytes) for one in sampler.latest(MOST)} == {
        (7, 2, 9)
    }
