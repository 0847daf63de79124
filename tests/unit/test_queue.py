from ingest.queue import DebounceQueue
from semantic_memory.models import SessionKey

A, B = SessionKey("u1", "a"), SessionKey("u1", "b")


def queue() -> DebounceQueue:
    return DebounceQueue(quiet=30, most_wait=100, most_messages=20)


def test_a_session_is_due_once_it_has_gone_quiet():
    waiting = queue()
    waiting.push(A, now=0)
    waiting.push(A, now=20)
    assert waiting.take(now=49) == []
    assert waiting.wait(now=49) == 1
    assert waiting.take(now=50) == [A]
    assert waiting.take(now=99) == []
    assert waiting.wait(now=99) is None


def test_a_session_that_never_goes_quiet_is_due_all_the_same():
    waiting = queue()
    for now in range(0, 100, 10):
        assert waiting.take(now=now) == []
        waiting.push(A, now=now)
    assert waiting.take(now=100) == [A]


def test_many_messages_are_due_at_once():
    waiting = queue()
    waiting.push(A, now=0, messages=19)
    assert waiting.take(now=0) == []
    waiting.push(A, now=1)
    assert waiting.take(now=1) == [A]


def test_sessions_wait_for_themselves():
    waiting = queue()
    waiting.push(A, now=0)
    waiting.push(B, now=10)
    assert waiting.take(now=30) == [A]
    assert waiting.wait(now=30) == 10
    assert waiting.take_all() == [B]
    assert waiting.take_all() == []
