"""The contract of leases that several workers share."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from semantic_memory.domain.ports import Lease, Leases
from semantic_memory.pipeline.leasing import LocalLeases
from semantic_memory.testing import InMemoryLeases
from tests.conftest import eventually
from tests.support import postgres

Two = tuple[Leases, Leases]
LONG = 600.0


@pytest.fixture(params=["memory", "postgres"])
def two(request: pytest.FixtureRequest) -> Iterator[Two]:
    """The leases of two workers."""
    if request.param == "memory":
        leases = InMemoryLeases()
        yield leases, leases
        return
    postgres.require()
    from semantic_memory.domain.observers import ignore_event
    from semantic_memory.ledger.postgres.connections import Connections
    from semantic_memory.ledger.postgres.leases import PostgresLeases

    url = request.getfixturevalue("postgres_server").emptied("contract")
    one, other = Connections(url, ignore_event), Connections(url, ignore_event)
    yield PostgresLeases(one), PostgresLeases(other)
    one.close()
    other.close()


def test_a_name_has_one_lease_at_a_time(two):
    assert two[0].shared
    lease = two[0].take("a", LONG)
    assert lease.held
    assert two[1].take("a", LONG) is None
    assert two[0].take("a", LONG) is None
    assert two[1].take("b", LONG).held


def test_a_released_name_can_be_taken(two):
    lease = two[0].take("a", LONG)
    lease.release()
    assert not lease.held
    other = two[1].take("a", LONG)
    assert other.fence > lease.fence


def test_the_name_of_a_killed_worker_can_be_taken_once_its_time_is_over(two):
    lease = two[0].take("a", 0.2)
    taken: list[Lease] = []

    def take() -> bool:
        found = two[1].take("a", LONG)
        taken.extend([found] if found else [])
        return found is not None

    assert eventually(take)
    assert taken[0].fence > lease.fence
    assert not lease.held


def test_of_workers_that_race_for_a_name_one_has_it(two):
    with ThreadPoolExecutor(8) as pool:
        for name in map(str, range(10)):
            found = pool.map(lambda worker: two[worker % 2].take(name, LONG), range(8))  # noqa: B023 - used at once
            assert sum(lease is not None for lease in found) == 1


def test_of_workers_that_race_for_a_lease_that_ended_one_has_it(two):
    two[0].take("a", 0.0)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda worker: two[worker % 2].take("a", LONG), range(8)))
    assert sum(lease is not None for lease in found) == 1


def test_a_renewed_lease_outlasts_its_time(two):
    lease = two[0].take("a", 0.05)
    assert eventually(lambda: not lease.held)
    assert lease.renew()
    renewed = two[0].take("b", LONG)
    assert renewed.renew()
    assert renewed.held
    assert two[1].take("b", LONG) is None


def test_a_lost_lease_is_neither_renewed_nor_released(two):
    lease = two[0].take("a", 0.0)
    other = two[1].take("a", LONG)
    assert not lease.renew()
    assert not lease.held
    lease.release()
    assert other.renew()
    assert two[0].take("a", LONG) is None


def test_a_released_lease_is_not_renewed(two):
    lease = two[0].take("a", LONG)
    lease.release()
    lease.release()
    assert not lease.renew()
    assert not lease.held
    assert two[1].take("a", LONG).held


def test_fences_grow_whoever_takes_the_name(two):
    fences = []
    for number in range(6):
        lease = two[number % 2].take("a", LONG)
        fences.append(lease.fence)
        lease.release()
    assert fences == sorted(set(fences))


def test_the_only_process_is_granted_every_lease():
    leases = LocalLeases()
    assert not leases.shared
    for _ in range(2):
        lease = leases.take("a", 0.0)
        assert lease.held
        assert lease.renew()
        lease.release()
        assert lease.held
