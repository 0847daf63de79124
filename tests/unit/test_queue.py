from ingest.queue import DebounceQueue, Due
from semantic_memory.domain.messages import SessionKey

A, B = SessionKey("u1", "a"), SessionKey("u1", "b")


def queue() -> DebounceQueue:
    return DebounceQueue(quiet=30, most_wait=100, most_messages=20)


def take(waiting: DebounceQueue, now: float) -> list[SessionKey]:
    due = waiting.due(now)
    for one in due:
        waiting.done(one)
    return [one.key for one in due]


def test_a_session_is_due_once_it_has_gone_quiet():
    waiting = queue()
    waiting.push(A, now=0)
    waiting.push(A, now=20)
    assert take(waiting, now=49) == []
    assert waiting.wait(now=49) == 1
    assert take(waiting, now=50) == [A]
    assert take(waiting, now=99) == []
    assert waiting.wait(now=99) is None


def test_a_session_that_never_goes_quiet_is_due_all_the_same():
    waiting = queue()
    for now in range(0, 100, 10):
        assert take(waiting, now=now) == []
        waiting.push(A, now=now)
    assert take(waiting, now=100) == [A]


def test_many_messages_are_due_at_once():
    waiting = queue()
    waiting.push(A, now=0, messages=19)
    assert take(waiting, now=0) == []
    waiting.push(A, now=1)
    assert take(waiting, now=1) == [A]


def test_sessions_wait_for_themselves():
    waiting = queue()
    waiting.push(A, now=0)
    waiting.push(B, now=10)
    assert take(waiting, now=30) == [A]
    assert waiting.wait(now=30) == 10
    assert waiting.all() == [Due(B, 1)]


def test_a_session_waits_on_until_it_has_been_read():
    waiting = queue()
    waiting.push(A, now=0)
    assert waiting.due(now=30) == waiting.due(now=30) == [Due(A, 1)]


def test_what_comes_in_while_a_session_is_read_waits_on():
    waiting = queue()
    waiting.push(A, now=0, messages=3)
    (due,) = waiting.due(now=30)
    waiting.push(A, now=31)
    waiting.done(due)
    assert waiting.all() == [Due(A, 1)]
    assert waiting.wait(now=31) == 30


def test_a_session_that_could_not_be_read_is_due_again_later():
    waiting = queue()
    waiting.push(A, now=0, messages=50)
    waiting.retry(A, at=100)
    assert waiting.due(now=99) == []
    assert take(waiting, now=100) == [A]
    assert waiting.all() == []


def test_whoever_waits_is_told_of_what_is_due_earlier_and_of_nothing_else():
    waiting = queue()
    assert waiting.wait(now=0) is None
    assert waiting.push(A, now=0)
    assert waiting.wait(now=0) == 30
    assert not waiting.push(A, now=10)
    assert not waiting.push(B, now=10)
    assert waiting.push(B, now=11, messages=20)  # due at once
    waiting.drop(B)
    waiting.retry(A, at=200)
    assert waiting.wait(now=12) == 188
    assert waiting.push(B, now=13)
