"""Two proxies send a user to the same worker, whatever either has seen of workers before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from eval.chaos.programs import haproxy
from tests.support.proxies import (
    ADDRESSES,
    NAME,
    await_workers,
    name_server,
    named_workers,
    proxy,
    version,
)

USERS = [f"user-{number}" for number in range(200)]
BY_ADDRESS = (3, 0)
"""The first version that places workers on its ring by their addresses."""
FIRST, *OTHERS, LAST = ADDRESSES


@pytest.fixture(scope="module")
def program() -> str:
    found = haproxy()
    if found is None:
        pytest.skip("needs HAProxy (Debian: apt-get install haproxy)")
    return found


@pytest.fixture
def by_address(program: str) -> str:
    if (found := version(program)) < BY_ADDRESS:
        said = ".".join(map(str, found))
        pytest.skip(f"needs HAProxy 3.0 (in Debian 13; or name it in HAPROXY), this is {said}")
    return program


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with named_workers() as port:
        yield port


def places(client: httpx.Client, addresses: Sequence[str]) -> list[str]:
    """Return the worker that each user is sent to, once all of them are up."""
    await_workers(client, addresses)
    found = [client.get("/", headers={"X-Memory-User": user}).text for user in USERS]
    assert {*found} == {*addresses}
    return found


def listed(port: int, addresses: Sequence[str]) -> Mapping[str, str]:
    return {f"WORKER_{n}": f"{address}:{port}" for n, address in enumerate(addresses, start=1)}


@contextmanager
def by_name(
    program: str, directory: Path, port: int, addresses: Sequence[str]
) -> Iterator[httpx.Client]:
    """Run a proxy that learns from DNS which workers there are."""
    named = {"WORKERS": f"{NAME}:{port}"}
    with name_server(addresses) as asking, proxy(program, directory, named, asking) as client:
        yield client


def test_proxies_that_list_the_workers_in_one_order_agree_on_every_user(
    program: str, port: int, tmp_path: Path
):
    known = [FIRST, *OTHERS]
    with (
        proxy(program, tmp_path / "one", listed(port, known)) as one,
        proxy(program, tmp_path / "other", listed(port, known)) as other,
    ):
        assert places(other, known) == places(one, known)


def test_proxies_that_list_the_workers_in_two_orders_agree_on_every_user(
    by_address: str, port: int, tmp_path: Path
):
    known = [FIRST, *OTHERS]
    with (
        proxy(by_address, tmp_path / "one", listed(port, known)) as one,
        proxy(by_address, tmp_path / "other", listed(port, known[::-1])) as other,
    ):
        assert places(other, known) == places(one, known)


def test_proxies_before_which_workers_came_in_two_orders_agree_on_every_user(
    by_address: str, port: int, tmp_path: Path
):
    known, backwards = [FIRST], [LAST]
    with (
        by_name(by_address, tmp_path / "one", port, known) as one,
        by_name(by_address, tmp_path / "other", port, backwards) as other,
    ):
        await_workers(one, known)
        await_workers(other, backwards)
        known[:] = backwards[:] = ADDRESSES
        assert places(other, ADDRESSES) == places(one, ADDRESSES)


def test_a_proxy_that_saw_a_worker_replaced_agrees_with_one_that_is_started_then(
    by_address: str, port: int, tmp_path: Path
):
    known, now = [FIRST, *OTHERS], [LAST, *OTHERS]
    with by_name(by_address, tmp_path / "one", port, known) as one:
        before = places(one, known)
        known[:] = now
        after = places(one, now)
        with by_name(by_address, tmp_path / "other", port, now[::-1]) as other:
            assert places(other, now) == after
    kept = [(a, b) for a, b in zip(before, after, strict=True) if a in OTHERS and b in OTHERS]
    assert all(a == b for a, b in kept)
