"""Keys, kept answers and rates: in files of one process, and in a database of several workers.

Each promise is tried by two of them over the same store, as two workers have. The answers in a
file, and rates in RAM, are one process's: there both are the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from ingest.encryption import Cipher, new_key
from semantic_memory.domain.errors import InvalidInputError, NotFoundError
from semantic_memory.domain.events import MemoriesForgotten
from semantic_memory.domain.ports.encryption import Encryption
from semantic_memory.entrypoints.api.access import Rates
from semantic_memory.entrypoints.api.replies import WITHDRAWN, Replies, Reply, Turn
from semantic_memory.entrypoints.keys import ApiKey, Keys
from semantic_memory.entrypoints.rights import Right
from semantic_memory.entrypoints.state import ServiceState, opened
from semantic_memory.testing import FrozenClock
from tests.conftest import NOW, eventually
from tests.support import postgres

R, W, A = Right.READ, Right.WRITE, Right.ADMIN
ANSWER = Reply("print", 201, "application/json", b'{"user_id":"maya","content":"Likes tea"}')
OTHER = Reply("print", 201, "application/json", b'{"user_id":"lea","content":"Likes tea"}')


@dataclass
class Workers:
    """Two workers' views of one store."""

    open: Callable[[Encryption | None], ServiceState]
    shared: bool
    clock: FrozenClock
    stack: ExitStack
    encryption: Encryption | None

    def states(self) -> tuple[ServiceState, ServiceState]:
        return self.open(self.encryption), self.open(self.encryption)

    def two_replies(self) -> tuple[Replies, Replies]:
        one, other = self.states()
        first = self.stack.enter_context(one.replies(self.clock))
        second = self.stack.enter_context(other.replies(self.clock)) if self.shared else first
        return first, second

    def two_rates(self, requests_per_minute: int) -> tuple[Rates, Rates]:
        one, other = (state.rates(requests_per_minute) for state in self.states())
        return one, other if self.shared else one


@pytest.fixture(params=["files", "postgres", "sealed"])
def workers(
    request: pytest.FixtureRequest, tmp_path: Path, clock: FrozenClock
) -> Iterator[Workers]:
    url = None
    if request.param != "files":
        postgres.require()
        server: postgres.Server = request.getfixturevalue("postgres_server")
        url = server.emptied("service")
    encryption = Cipher([new_key()]) if request.param == "sealed" else None
    with ExitStack() as stack:

        def open_it(encryption: Encryption | None) -> ServiceState:
            return stack.enter_context(opened(tmp_path, encryption, url))

        yield Workers(open_it, url is not None, clock, stack, encryption)


# ---------------------------------------------------------------- keys


def known(keys: Keys, token: str) -> ApiKey | None:
    """Look a token up as the service does."""
    ring = keys.at_hand()
    return (keys.read() if ring is None else ring).find(token)


def test_a_key_is_known_to_every_worker(workers: Workers):
    one, other = (state.keys() for state in workers.states())
    key, token = one.create("agent", ["maya"], [R], NOW, agent_id="cook", spaces=["team-a"])
    for keys in (one, other):
        assert keys.read().find(token) == key
        assert [*keys.read()] == [key]
        for wrong in (token[:-1], token.replace("smk", "key", 1), "", "smk__"):
            assert keys.read().find(wrong) is None


def test_keys_are_listed_in_the_order_of_their_making(workers: Workers):
    one, other = (state.keys() for state in workers.states())
    made = [keys.create("agent", ["maya"], [R], NOW)[0] for keys in (one, other, one)]
    assert [*workers.states()[0].keys().read()] == made


def test_a_revoked_key_is_known_to_no_worker(workers: Workers):
    one, other = (state.keys() for state in workers.states())
    (key, token), (_, kept) = (one.create("agent", ["maya"], [R], NOW) for _ in range(2))
    assert other.read().find(token) == key
    one.revoke(key.id)
    assert one.read().find(token) is None
    assert eventually(lambda: known(one, token) is None)
    assert eventually(lambda: known(other, token) is None)
    assert known(other, kept) is not None
    with pytest.raises(NotFoundError, match="keys list"):
        other.revoke(key.id)


@pytest.mark.parametrize(
    ("users", "rights"), [([], [R]), (["maya"], []), (["a*b"], [R]), (["a b"], [R]), ([""], [R])]
)
def test_a_key_that_makes_no_sense_is_not_made(workers: Workers, users, rights):
    keys = workers.states()[0].keys()
    with pytest.raises(InvalidInputError):
        keys.create("agent", users, rights, NOW)
    assert len(keys.read()) == 0


def test_a_key_has_no_rights_that_contradict_each_other(workers: Workers):
    keys = workers.states()[0].keys()
    with pytest.raises(InvalidInputError, match="right to read"):
        keys.create("agent", ["maya"], [W], NOW, spaces=["team-a"])
    with pytest.raises(InvalidInputError, match="administer"):
        keys.create("agent", ["maya"], [R, A], NOW, agent_id="cook")


# ---------------------------------------------------------------- answers


def test_one_of_all_workers_works_on_a_request(workers: Workers):
    both = workers.two_replies()
    with ThreadPoolExecutor(8) as pool:
        turns = [*pool.map(lambda number: both[number % 2].begin("a"), range(8))]
    assert sorted(turns, key=str) == [Turn.OURS] + [Turn.TAKEN] * 7
    assert both[1].begin("b") is Turn.OURS


def test_an_answer_is_given_again_by_every_worker(workers: Workers):
    one, other = workers.two_replies()
    assert one.begin("a") is Turn.OURS
    one.keep("a", ANSWER)
    one.end("a")
    assert one.begin("a") == other.begin("a") == ANSWER


def test_a_request_that_ended_without_an_answer_is_worked_on_again(workers: Workers):
    one, other = workers.two_replies()
    assert one.begin("a") is Turn.OURS
    one.end("a")
    assert other.begin("a") is Turn.OURS


def test_an_answer_is_kept_for_a_day(workers: Workers):
    one, _ = workers.two_replies()
    one.begin("a")
    one.keep("a", ANSWER)
    workers.clock.advance(hours=23)
    assert workers.two_replies()[0].begin("a") == ANSWER
    workers.clock.advance(hours=2)
    assert workers.two_replies()[0].begin("a") is Turn.OURS


def test_forgetting_on_any_worker_withdraws_the_answers_of_all(workers: Workers):
    one, other = workers.two_replies()
    for name, reply in (("a", ANSWER), ("b", OTHER)):
        one.begin(name)
        one.keep(name, reply)
    other.withdraw(MemoriesForgotten("maya", 1, 0))
    for replies in (one, other):
        assert replies.begin("a") == Reply("print", WITHDRAWN, "", b"")
        assert replies.begin("b") == OTHER


def test_an_answer_about_what_was_forgotten_meanwhile_is_kept_without_its_text(workers: Workers):
    one, other = workers.two_replies()
    for name in "ab":
        one.begin(name)
    other.withdraw(MemoriesForgotten("maya", 1, 0))
    one.keep("a", ANSWER)
    one.keep("b", OTHER)
    assert other.begin("a") == Reply("print", WITHDRAWN, "", b"")
    assert other.begin("b") == OTHER


def test_forgetting_and_keeping_at_once_leave_no_text_and_wait_in_no_ring(workers: Workers):
    both = workers.two_replies()
    names = [str(number) for number in range(100)]

    def keep(name: str) -> None:
        replies = both[int(name) % 2]
        assert replies.begin(name) is Turn.OURS
        replies.keep(name, ANSWER)

    def forget(number: int) -> None:
        both[number % 2].withdraw(MemoriesForgotten("maya", 1, 0))

    with ThreadPoolExecutor(6) as pool:
        done = [pool.submit(keep, name) for name in names]
        done += [pool.submit(forget, number) for number in range(20)]
        for one in done:
            one.result()
    forget(0)
    assert {both[0].begin(name) for name in names} == {Reply("print", WITHDRAWN, "", b"")}


# ---------------------------------------------------------------- rates


def sent(rates: Rates, name: str) -> float:
    wait = rates.take(name)
    return rates.draw(name) if wait is None else wait


def test_a_caller_has_its_rate_on_all_workers_together(workers: Workers):
    both = workers.two_rates(20)
    waits = [sent(both[number % 2], "busy") for number in range(4)]
    assert waits[:2] == [0.0, 0.0]
    assert all(2.0 < wait <= 3.0 for wait in waits[2:])
    assert sent(both[1], "calm") == 0.0


def test_workers_let_pass_no_more_than_the_rate_allows(workers: Workers):
    both = workers.two_rates(600)  # 60 at once, 10 a second
    began = time.monotonic()

    def send(number: int) -> int:
        passed = 0
        for _ in range(300):
            passed += sent(both[number % 2], "busy") == 0.0
        return passed

    # Rates in RAM are taken by the thread of the event loop alone.
    with ThreadPoolExecutor(4 if workers.shared else 1) as pool:
        passed = sum(pool.map(send, range(4)))
    assert 40 <= passed <= 60 + 10 * (time.monotonic() - began + 1)
