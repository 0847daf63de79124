"""Runners and deliveries that share leases, without a database."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from semantic_memory.application.dead_letters import delivered
from semantic_memory.application.webhook import Webhook
from semantic_memory.concurrency import Backoff
from semantic_memory.delivery import http_endpoint
from semantic_memory.domain.changes import Add
from semantic_memory.domain.errors import StoreUnavailableError
from semantic_memory.domain.events import WorkerFailed
from semantic_memory.ledger.sqlite import SqliteLedger
from semantic_memory.pipeline.leasing import Leasing
from semantic_memory.pipeline.runner import Runner
from semantic_memory.pipeline.stage import Pace, named
from semantic_memory.testing import InMemoryLeases
from tests.conftest import eventually, make_fact
from tests.support.webhooks import SECRET, Endpoint, receiving
from tests.unit.test_runner import Doing, nothing

LONG = 600.0
AT_ONCE = Pace()


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("semantic_memory.pipeline.runner._LOOK_SECONDS", 0.05)
    monkeypatch.setattr("semantic_memory.pipeline.runner._TAKEN_SECONDS", 0.05)
    monkeypatch.setattr("semantic_memory.application.webhook._LOOK_SECONDS", 0.05)


@pytest.fixture
def leases() -> InMemoryLeases:
    return InMemoryLeases()


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def leasing(leases, opened) -> Callable[..., Leasing]:
    """Return a function that makes what a process holds its leases with."""

    def make(seconds: float = LONG) -> Leasing:
        leasing = Leasing(leases, seconds)
        opened.callback(leasing.close)
        return leasing

    return make


@pytest.fixture
def run(leasing, opened, events):
    """Return a function that starts a runner of its own for each stage."""

    def start(*stages: Doing, pace: Pace = AT_ONCE, threads: int = 1) -> list[Runner]:
        runners = []
        for stage in stages:
            runner = Runner(events.append, 0.05, threads, leasing())
            runner.add(stage, pace)
            runner.start()
            opened.callback(runner.close)
            runners.append(runner)
        return runners

    return start


class Leaving(Doing):
    """A stage with an item that is pending until it has been run by any runner."""

    left: set[int]

    def pending(self):
        return iter(sorted(self.left))

    def run(self, item):
        super().run(item)
        self.left.discard(item)


def leaving(*items: int, number: int = 2) -> list[Leaving]:
    left = set(items)
    stages = [Leaving("a", nothing) for _ in range(number)]
    for stage in stages:
        stage.left = left
    return stages


# ---------------------------------------------------------------- runners


def test_an_item_that_another_process_runs_is_put_off_without_a_failure(run, leases, events):
    stage = Doing("a", nothing)
    lease = leases.take(named("a", 1), LONG)
    (runner,) = run(stage)
    runner.hint("a", 1)
    assert not eventually(lambda: bool(stage.runs), seconds=0.3)
    lease.release()
    assert eventually(lambda: stage.runs == [1])
    assert events == []


def test_a_stage_that_takes_no_leases_runs_an_item_in_several_processes(run):
    both = threading.Barrier(2, timeout=120)

    def meet(item):
        both.wait()

    stages = [Doing("a", meet), Doing("a", meet)]
    for runner in run(*stages, pace=Pace(leased=False)):
        runner.hint("a", 1)
    assert eventually(lambda: [stage.runs for stage in stages] == [[1], [1]])


def test_flushing_waits_for_an_item_that_another_process_runs(run, leases):
    stage = Doing("a", nothing, pending=(1,))
    lease = leases.take(named("a", 1), LONG)
    (runner,) = run(stage, threads=0)
    flushing = threading.Thread(target=runner.flush)
    flushing.start()
    flushing.join(0.3)
    assert flushing.is_alive()
    lease.release()
    flushing.join(120)
    assert stage.runs == [1]


def test_what_becomes_pending_without_a_hint_is_found(run):
    stages = leaving(number=1)
    run(*stages)
    stages[0].left.add(1)
    assert eventually(lambda: stages[0].runs == [1])


def test_what_another_process_has_done_meanwhile_is_dropped(run):
    stages = leaving()
    runner, _ = run(*stages, pace=Pace(quiet=LONG, most_wait=LONG))
    stages[0].left.add(1)
    assert eventually(lambda: 1 in runner._lanes["a"].waiting)  # noqa: SLF001
    stages[0].left.discard(1)
    assert eventually(lambda: 1 not in runner._lanes["a"].waiting)  # noqa: SLF001


def test_a_look_that_fails_is_told_and_tried_again(run, events):
    faults = [StoreUnavailableError("no server")]

    class Faulty(Leaving):
        def pending(self):
            if faults and self.runs:
                raise faults.pop()
            return super().pending()

    stage = Faulty("a", nothing)
    stage.left = {1}
    run(stage)
    assert eventually(lambda: not faults)
    stage.left.add(2)
    assert eventually(lambda: stage.runs[-1:] == [2])
    (told,) = [one for one in events if isinstance(one, WorkerFailed)]
    assert (told.step, told.repeated) == ("a", False)


def test_a_lease_that_cannot_be_taken_is_a_failure_that_is_tried_again(events, opened):
    faults = [StoreUnavailableError("no server")]

    class Faulty(InMemoryLeases):
        def take(self, name, seconds):
            if faults:
                raise faults.pop()
            return super().take(name, seconds)

    stage = Doing("a", nothing)
    runner = Runner(events.append, 0.05, 1, Leasing(Faulty()))
    opened.callback(runner.close)
    runner.add(stage)
    runner.start()
    runner.hint("a", 1)
    assert eventually(lambda: stage.runs == [1])
    assert [type(one) for one in events] == [WorkerFailed]


# ---------------------------------------------------------------- renewal


def test_leases_are_renewed_while_they_are_held_and_released_then(leasing, leases):
    keeping = leasing(1.0)
    with keeping.held("a") as first, keeping.held("b") as second:
        assert not eventually(lambda: not (first.held and second.held), seconds=2.5)
        assert leases.take("a", LONG) is None
    assert not first.held
    assert leases.take("a", LONG)


def test_a_lease_that_was_lost_is_not_taken_back(leasing, leases):
    keeping = leasing(0.3)
    keeping.close()
    with keeping.held("a") as lease:
        assert eventually(lambda: not lease.held)
        other = leases.take("a", LONG)
    assert other.held
    assert leases.take("a", LONG) is None


# ---------------------------------------------------------------- delivery


@pytest.fixture
def hook() -> Iterator[Endpoint]:
    with receiving() as hook:
        yield hook


@pytest.fixture
def ledger(tmp_path: Path, opened: ExitStack) -> SqliteLedger:
    ledger = SqliteLedger(tmp_path / "ledger.sqlite3")
    opened.callback(ledger.close)
    return ledger


@pytest.fixture
def deliver(ledger, clock, events, opened, leasing, hook):
    def start(keeping: Leasing | None = None) -> Webhook:
        webhook = Webhook(
            ledger,
            http_endpoint(hook.url, SECRET),
            (),
            clock,
            events.append,
            Backoff(0.0, 0.0),
            keeping or leasing(),
        )
        webhook.start()
        opened.callback(webhook.close)
        return webhook

    return start


def test_of_several_processes_one_delivers_and_another_goes_on_when_it_ends(deliver, ledger, hook):
    first, _ = deliver(), deliver()
    ledger.apply([Add(make_fact(number)) for number in (1, 2)])
    assert eventually(lambda: len(hook.received) == 2)
    first.close()
    ledger.apply([Add(make_fact(3))])
    assert eventually(lambda: len(hook.received) == 3)
    assert [event["memory_id"] for event in hook.events] == ["fact-1", "fact-2", "fact-3"]


def test_a_paused_delivery_moves_no_place_back(deliver, ledger, hook):
    go_on = threading.Event()

    def answer() -> int:
        assert go_on.wait(timeout=120)
        return 204

    hook.status = answer
    paused = deliver()
    ledger.apply([Add(make_fact(1))])
    assert eventually(lambda: len(hook.received) == 1)
    ledger.set_meta("webhook", "9")  # another process has taken over, and come further
    go_on.set()
    paused.close()
    assert delivered(ledger) == 9
