"""Scheduling of stages, and their failures."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator

import pytest

from semantic_memory.concurrency import check_stopped
from semantic_memory.domain.errors import ProviderError, StoreClosedError, StoreUnavailableError
from semantic_memory.domain.events import WorkerFailed
from semantic_memory.pipeline.runner import Runner
from semantic_memory.pipeline.stage import Outlook, Pace
from tests.conftest import eventually


class Doing:
    """A stage that runs a function."""

    def __init__(
        self, name: str, do: Callable[[Hashable], float | None], pending: tuple[Hashable, ...] = ()
    ) -> None:
        self.name = name
        self.runs: list[Hashable] = []
        self._do = do
        self._pending = pending

    def pending(self) -> Iterator[Hashable]:
        return iter(self._pending)

    def run(self, item: Hashable) -> float | None:
        self.runs.append(item)
        return self._do(item)

    def outlook(self) -> Outlook:
        return Outlook("doing", 0)


@pytest.fixture
def start(events):
    running: list[Runner] = []

    def start_it(
        *stages: tuple[Doing, Pace], threads: int = 2, retry_seconds: float = 0.05
    ) -> Runner:
        runner = Runner(events.append, retry_seconds, threads)
        for stage, pace in stages:
            runner.add(stage, pace)
        runner.start()
        running.append(runner)
        return runner

    yield start_it
    for runner in running:
        runner.close()


def nothing(item):
    return None


def down(item):
    raise ProviderError("the endpoint is down")


def test_what_was_left_pending_is_run_without_a_hint(start):
    stage = Doing("a", nothing, pending=(1, 2))
    start((stage, Pace()))
    assert eventually(lambda: sorted(map(str, stage.runs)) == ["1", "2"])


def test_an_item_is_due_once_its_hints_have_ceased(start):
    stage = Doing("a", nothing)
    runner = start((stage, Pace(quiet=3.0, most_wait=60)))
    for _ in range(5):
        runner.hint("a", 1)
        time.sleep(0.05)
    assert stage.runs == []
    assert eventually(lambda: stage.runs == [1])


def test_an_item_whose_hints_never_cease_is_due_all_the_same(start):
    stage = Doing("a", nothing)
    runner = start((stage, Pace(quiet=60, most_wait=0.2)))
    assert eventually(lambda: runner.hint("a", 1) or stage.runs != [])


def test_many_hints_are_due_at_once(start):
    stage = Doing("a", nothing)
    runner = start((stage, Pace(quiet=60, most_wait=60, most_hints=20)))
    runner.hint("a", 1, 19)
    runner.hint("a", 2, 1)
    time.sleep(0.05)
    assert stage.runs == []
    runner.hint("a", 1)
    assert eventually(lambda: stage.runs == [1])


def test_hints_that_come_during_a_run_lead_to_another(start):
    begun, go_on = threading.Event(), threading.Event()

    def wait(item):
        begun.set()
        go_on.wait(timeout=120)

    stage = Doing("a", wait)
    runner = start((stage, Pace()))
    runner.hint("a", 1)
    assert begun.wait(timeout=120)
    runner.hint("a", 1)
    runner.hint("a", 1)
    go_on.set()
    assert eventually(lambda: stage.runs == [1, 1])
    runner.flush()
    assert stage.runs == [1, 1]


def test_an_item_never_runs_twice_at_once(start):
    inside: Counter[Hashable] = Counter()
    most: Counter[Hashable] = Counter()
    guard = threading.Lock()

    def count(item):
        with guard:
            inside[item] += 1
            most[item] = max(most[item], inside[item])
        time.sleep(0.002)
        with guard:
            inside[item] -= 1

    stage = Doing("a", count)
    runner = start((stage, Pace(workers=4)), threads=4)
    flushing = [threading.Thread(target=runner.flush) for _ in range(3)]
    for number in range(200):
        runner.hint("a", number % 3)
        if number == 20:
            for thread in flushing:
                thread.start()
    for thread in flushing:
        thread.join(timeout=120)
    runner.flush()
    assert set(most.values()) == {1}


def test_a_stage_runs_as_many_items_at_once_as_it_has_workers(start):
    together = threading.Barrier(2, timeout=120)
    stage = Doing("a", lambda item: [together.wait(), None][1])
    runner = start((stage, Pace(workers=2)), threads=3)
    for item in range(4):
        runner.hint("a", item)
    assert eventually(lambda: sorted(map(str, stage.runs)) == list("0123"))


def test_a_stage_that_waits_for_a_model_holds_up_no_other(start):
    go_on = threading.Event()
    slow, quick = Doing("slow", lambda item: go_on.wait(timeout=120) and None), Doing("b", nothing)
    runner = start((slow, Pace()), (quick, Pace()))
    for item in range(5):
        runner.hint("slow", item)
    assert eventually(lambda: len(slow.runs) == 1)
    runner.hint("b", 1)
    assert eventually(lambda: quick.runs == [1])
    assert len(slow.runs) == 1
    go_on.set()


def test_a_run_says_when_it_wants_to_go_on(start):
    answers = iter([0.0, 0.05, None])
    stage = Doing("a", lambda item: next(answers))
    start((stage, Pace())).hint("a", 1)
    assert eventually(lambda: stage.runs == [1, 1, 1])


def test_a_stage_rests_after_its_runs(start):
    stage = Doing("a", lambda item: time.sleep(0.05))
    runner = start((stage, Pace(rest=1_000)))
    runner.hint("a", 1)
    runner.hint("a", 2)
    assert eventually(lambda: len(stage.runs) == 1)
    time.sleep(0.2)
    assert len(stage.runs) == 1
    runner.flush()  # doesn't wait for the rest
    assert len(stage.runs) == 2


def test_an_item_that_fails_waits_and_holds_up_no_other(start, events):
    failing = {1}

    def fail_once(item):
        if item in failing:
            failing.discard(item)
            raise StoreUnavailableError("the disk is full")

    stage = Doing("a", fail_once)
    runner = start((stage, Pace()))
    runner.hint("a", 1)
    runner.hint("a", 2)
    assert eventually(lambda: stage.runs == [1, 2, 1])
    assert events == [WorkerFailed("a", "StoreUnavailableError: the disk is full", 1.0)]


def test_a_hint_ends_the_pause_of_an_eager_stage(start):
    def fail_once(item):
        if len(stage.runs) == 1:
            raise ProviderError("the endpoint is down")

    stage = Doing("a", fail_once)
    runner = start((stage, Pace(eager=True)), retry_seconds=3_600)
    runner.hint("a", 1)
    assert eventually(lambda: len(stage.runs) == 1)
    assert eventually(lambda: runner.hint("a", 1) or len(stage.runs) == 2)


def test_a_provider_that_fails_is_tried_again_without_an_alarm(start, events):
    answers = iter([down, nothing])
    stage = Doing("a", lambda item: next(answers)(item))
    start((stage, Pace())).hint("a", 1)
    assert eventually(lambda: stage.runs == [1, 1])
    assert events == []


def test_flush_runs_stages_in_order_and_what_is_not_due(start):
    order = []
    first = Doing("a", lambda item: order.append("a"))
    second = Doing("b", lambda item: order.append("b"), pending=(1,))
    aside = Doing("c", lambda item: order.append("c"), pending=(1,))
    patient = Pace(quiet=60, most_wait=60)
    runner = start((first, patient), (second, patient), (aside, Pace(workers=0, flushed=False)))
    runner.hint("a", 1)
    assert runner.flush() == []
    assert order == ["a", "b"]


def test_flush_says_what_providers_failed_with_and_goes_on(start):
    failing, fine = Doing("a", down, pending=(1,)), Doing("b", nothing, pending=(2,))
    runner = start((failing, Pace()), (fine, Pace()), threads=0)
    assert runner.flush() == ["the endpoint is down"]
    assert fine.runs == [2]


def test_what_flush_raises_stays_pending(start):
    answers = iter([StoreUnavailableError("the disk is full"), None])

    def fail_once(item):
        if (error := next(answers)) is not None:
            raise error

    stage = Doing("a", fail_once)
    runner = start((stage, Pace()), threads=0)
    runner.hint("a", 1)
    with pytest.raises(StoreUnavailableError):
        runner.flush()
    runner.flush()
    assert stage.runs == [1, 1]
    runner.flush()
    assert stage.runs == [1, 1]


def test_an_item_that_is_gone_is_not_run(start):
    stage = Doing("a", nothing)
    runner = start((stage, Pace(quiet=0.1, most_wait=0.1)))
    runner.hint("a", 1)
    runner.drop("a", 1)
    runner.flush()
    time.sleep(0.2)
    assert stage.runs == []


def test_closing_ends_a_flush(start):
    stage = Doing("a", lambda item: 60.0)
    runner = start((stage, Pace(workers=0)))
    runner.hint("a", 1)
    raised = []

    def flush():
        try:
            runner.flush()
        except StoreClosedError as error:
            raised.append(error)

    thread = threading.Thread(target=flush)
    thread.start()
    assert eventually(lambda: stage.runs == [1])
    runner.close()
    thread.join(timeout=120)
    assert len(raised) == 1


def test_closing_ends_a_run_that_checks_for_it(start, events):
    began, ended = threading.Event(), threading.Event()

    def endless(item):
        try:
            while True:
                check_stopped()
                began.set()
        finally:
            ended.set()

    runner = start((Doing("a", endless), Pace()))
    runner.hint("a", 1)
    assert began.wait(10)
    runner.close()
    assert ended.is_set()
    assert events == []
