"""Locks are granted in the order of asking: a call waits behind those before it only."""

import threading
from functools import partial

import pytest

from semantic_memory.concurrency import FairLock, KeyedLocks
from tests.conftest import eventually, say


def queued(lock: FairLock) -> int:
    return len(lock._waiting)  # noqa: SLF001  # the order of asking shows nowhere else


def waits(lock: FairLock, number: int) -> bool:
    return queued(lock) == number


def test_a_lock_is_granted_in_the_order_of_asking():
    lock, granted = FairLock(), []

    def take(number: int) -> None:
        with lock:
            granted.append(number)

    threads = []
    with lock:
        for number in range(20):
            thread = threading.Thread(target=take, args=(number,))
            thread.start()
            threads.append(thread)
            assert eventually(partial(waits, lock, number + 1))
    for thread in threads:
        thread.join()
    assert granted == [*range(20)]


def test_a_thread_that_asks_again_waits_behind_those_that_wait():
    lock, granted = FairLock(), []

    def take() -> None:
        with lock:
            granted.append("other")

    lock.acquire()
    other = threading.Thread(target=take)
    other.start()
    assert eventually(lambda: queued(lock) == 1)
    lock.release()
    with lock:
        granted.append("own")
    other.join()
    assert granted == ["other", "own"]


def test_a_lock_is_reentrant_and_can_be_tried():
    lock = FairLock()
    tried = []
    with lock, lock:
        thread = threading.Thread(target=lambda: tried.append(lock.acquire(blocking=False)))
        thread.start()
        thread.join()
    assert tried == [False]
    assert lock.acquire(blocking=False)
    lock.release()


def test_a_lock_excludes():
    lock, count = FairLock(), 0

    def add() -> None:
        nonlocal count
        for _ in range(300):
            with lock:
                before = count
                count = before + 1

    threads = [threading.Thread(target=add) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count == 2_400


def test_locks_by_key_are_fair_too():
    locks: KeyedLocks[str] = KeyedLocks()
    granted = []

    def take(number: int) -> None:
        with locks.hold("a"):
            granted.append(number)

    threads = []
    with locks.hold("a"):
        for number in range(10):
            thread = threading.Thread(target=take, args=(number,))
            thread.start()
            threads.append(thread)
            lock, _ = locks._locks["a"]  # noqa: SLF001
            assert eventually(partial(waits, lock, number + 1))
    for thread in threads:
        thread.join()
    assert granted == [*range(10)]


@pytest.mark.timeout(300)
def test_forgetting_one_user_is_granted_amid_the_writes_of_others(memory):
    memory.add("Likes figs", user_id="quiet")
    ended, writes, seen = threading.Event(), [], []

    def write(number: int) -> None:
        turn = 0
        while not ended.is_set():
            turn += 1
            said = say(f"I own boat {turn}", start=turn)
            memory.observe(said, user_id=f"busy{number}", session_id="s")
            memory.add(f"Owns boat {turn}", user_id=f"busy{number}")
            writes.append(number)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    try:
        assert eventually(lambda: len(writes) > 30)
        before = len(writes)
        memory.forget(user_id="quiet", everything=True)
        seen.append(len(writes) - before)
    finally:
        ended.set()
        for thread in threads:
            thread.join()
    assert memory.list(user_id="quiet") == []
    assert seen[0] < 60  # grants of others meanwhile; six at most queue at a time


@pytest.mark.timeout(300)
def test_a_check_ends_amid_writes_and_finds_nothing_wrong(open_memory):
    memory = open_memory()
    memory.add("Likes figs", user_id="quiet")
    ended = threading.Event()

    def write() -> None:
        turn = 0
        while not ended.is_set():
            turn += 1
            memory.observe(say(f"I own boat {turn}", start=turn), user_id="busy", session_id="s")
            memory.add(f"Owns boat {turn}", user_id="busy")

    threads = [threading.Thread(target=write) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(3):
            found = {finding.check: finding for finding in memory.admin.check()}
            assert found["index"].ok, found["index"]
            assert found["ledger"].ok, found["ledger"]
    finally:
        ended.set()
        for thread in threads:
            thread.join()
