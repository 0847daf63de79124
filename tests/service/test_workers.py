"""Several workers of a service, whose keys, answers and rates are in one PostgreSQL database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from ingest.encryption import Cipher, new_key
from semantic_memory import SemanticMemory
from semantic_memory.domain.errors import ConfigurationError, StoreUnavailableError
from semantic_memory.domain.events import MemoriesForgotten
from semantic_memory.domain.observers import ignore_event
from semantic_memory.domain.once import working
from semantic_memory.entrypoints.api.replies import Reply, Turn
from semantic_memory.entrypoints.state import opened
from semantic_memory.testing import FrozenClock, HashEmbedder
from tests.conftest import eventually
from tests.service.conftest import ALL, NOW, Served, held_up, served
from tests.support import postgres

postgres.require()

from semantic_memory.entrypoints.state.local_rates import Limit  # noqa: E402
from semantic_memory.entrypoints.state.postgres_keys import PostgresKeys  # noqa: E402
from semantic_memory.entrypoints.state.postgres_rates import (  # noqa: E402
    RETURN_SECONDS,
    SHARE_SECONDS,
    PostgresRates,
    Share,
)
from semantic_memory.entrypoints.state.postgres_replies import PostgresReplies  # noqa: E402
from semantic_memory.ledger.postgres.connections import Connections  # noqa: E402

TEA = {"user_id": "maya", "content": "Prefers green tea"}
ANSWER = Reply("print", 201, "application/json", b'{"user_id":"maya","content":"Has a veranda"}')


@pytest.fixture
def url(postgres_server: postgres.Server) -> str:
    return postgres_server.emptied("service")


@pytest.fixture
def connections(url: str) -> Iterator[Connections]:
    with closing(Connections(url, ignore_event)) as connections:
        yield connections


class Timer:
    """Seconds that pass when they are told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


# ---------------------------------------------------------------- over HTTP


@pytest.fixture
def start(tmp_path: Path, url: str) -> Iterator[Callable[..., Served]]:
    """Return a function that starts a worker with memories of its own."""
    with ExitStack() as stack:

        def start_it(name: str, **settings: Any) -> Served:
            state = stack.enter_context(opened(tmp_path / name, None, url))
            return stack.enter_context(served(tmp_path / name, state=state, **settings))

        yield start_it


def test_workers_share_keys(start):
    one, other = start("one"), start("other")
    token = one.token()
    clients = [worker.client(token) for worker in (one, other)]
    assert [http.get("/v1/admin/stats").status_code for http in clients] == [200, 200]
    assert other.client().get("/v1/admin/stats").status_code == 401
    one.keys.revoke(token.split("_")[1])
    assert clients[0].get("/v1/admin/stats").status_code == 401
    assert eventually(lambda: clients[1].get("/v1/admin/stats").status_code == 401)


def test_a_write_that_is_sent_again_to_another_worker_happens_once(start, monkeypatch):
    one, other = start("one"), start("other")
    token = one.token()
    clients = [
        worker.client(token, headers={"Idempotency-Key": "k1"}, timeout=90.0)
        for worker in (one, other)
    ]
    with (
        ThreadPoolExecutor() as pool,
        held_up(one.memory, monkeypatch) as entered,
    ):
        first = pool.submit(clients[0].post, "/v1/memories", json=TEA)
        assert entered.wait(60)
        early = clients[1].post("/v1/memories", json=TEA)
    late = clients[1].post("/v1/memories", json=TEA)
    assert (early.status_code, early.headers["retry-after"]) == (409, "1")
    assert late.json() == first.result().json()
    assert late.headers["idempotency-replayed"] == "true"
    assert other.memory.list(user_id="maya") == []
    one.memory.forget(user_id="maya", everything=True)
    assert clients[1].post("/v1/memories", json=TEA).status_code == 410


def test_workers_share_the_rate_of_a_key(start):
    both = [start(name, requests_per_minute=20) for name in ("one", "other")]
    token = both[0].token()
    clients = [worker.client(token) for worker in both]
    answers = [clients[number % 2].get("/v1/admin/stats") for number in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 429, 429]
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 3


def test_without_the_database_nobody_is_let_in_and_its_name_is_not_told(tmp_path: Path):
    server = postgres.create()
    server.start()
    try:
        with (
            opened(tmp_path, None, server.emptied("service")) as state,
            served(tmp_path, state=state) as service,
        ):
            http = service.client(service.token())
            assert http.get("/v1/admin/stats").status_code == 200
            server.stop("immediate")
            assert eventually(lambda: http.get("/v1/admin/stats").status_code == 503)
            answer = service.client("smk_x_y").get("/v1/admin/stats")
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
            assert "postgres" not in answer.text
            assert service.client(service.doorkeeper.local_token).get("/healthz").is_success
            server.start()
            assert eventually(lambda: http.get("/v1/admin/stats").status_code == 200)
    finally:
        server.stop("immediate")
        server.remove()


# ---------------------------------------------------------------- keys


def test_a_copy_of_the_keys_is_used_for_a_second_at_most(connections: Connections):
    timer = Timer()
    here, there = PostgresKeys(connections, timer=timer), PostgresKeys(connections)
    _, token = there.create("agent", ["maya"], ALL, NOW)
    assert here.at_hand() is None
    key = here.read().find(token)
    assert key is not None
    there.revoke(key.id)
    timer.now = 0.9
    copy = here.at_hand()
    assert copy is not None
    assert copy.find(token) is key
    timer.now = 1.0
    assert here.at_hand() is None
    assert here.read().find(token) is None


def test_a_new_key_is_found_before_the_copy_is_old(connections: Connections):
    timer = Timer()
    here, there = PostgresKeys(connections, timer=timer), PostgresKeys(connections)
    here.read()
    _, token = there.create("agent", ["maya"], ALL, NOW)
    timer.now = 0.05
    assert here.read().find(token) is None  # tries of unknown keys don't wear the database down
    timer.now = 0.1
    assert here.read().find(token) is not None


def test_keys_that_do_not_change_are_read_once(connections: Connections):
    timer = Timer()
    keys = PostgresKeys(connections, timer=timer)
    keys.create("agent", ["maya"], ALL, NOW)
    before = keys.read()
    timer.now = 5.0
    assert keys.read() is before


def test_a_damaged_key_is_named_and_can_be_revoked(connections: Connections):
    keys = PostgresKeys(connections)
    key, _ = keys.create("agent", ["maya"], ALL, NOW)
    with connections.transaction() as db:
        db.execute("UPDATE api_keys SET record = '[{'")
    with pytest.raises(ConfigurationError, match=f"keys revoke {key.id}"):
        PostgresKeys(connections).read()
    keys.revoke(key.id)
    assert len(PostgresKeys(connections).read()) == 0


# ---------------------------------------------------------------- answers


@contextmanager
def answers(
    connections: Connections, lease_seconds: float = 3_600.0, encryption: Cipher | None = None
) -> Iterator[PostgresReplies]:
    clock = FrozenClock(NOW)
    with closing(PostgresReplies(connections, clock, encryption, lease_seconds)) as replies:
        yield replies


def test_the_request_of_a_killed_worker_is_free_when_its_lease_is_over(connections: Connections):
    with answers(connections, 0.1) as killed, answers(connections) as other:
        assert killed.begin("a") is Turn.OURS
        killed.close()  # its leases are renewed no longer
        assert eventually(lambda: other.begin("a") is Turn.OURS)
        killed.keep("a", ANSWER)  # it only slept: the answer of who has the lease counts
        assert killed.begin("a") is Turn.TAKEN
        other.keep("a", ANSWER._replace(status=200))
        assert killed.begin("a") == ANSWER._replace(status=200)


def killed(connections: Connections) -> None:
    """End the connection that shows a worker to be there, as a kill would."""
    with connections.transaction() as db:
        db.execute(
            "SELECT pg_terminate_backend(l.pid) FROM pg_locks l,"
            " (SELECT hashtextextended(worker, 0) AS key FROM replies) r WHERE l.locktype ="
            " 'advisory' AND (l.classid::bigint << 32 | l.objid::bigint) = r.key"
        )


def test_the_request_of_a_killed_worker_is_free_at_once(connections: Connections):
    with answers(connections) as one, answers(connections) as other:
        assert one.begin("a") is Turn.OURS
        assert other.begin("a") is Turn.TAKEN
        killed(connections)
        assert eventually(lambda: other.begin("a") is Turn.OURS)
        assert one.begin("a") is Turn.TAKEN


def test_a_write_that_was_committed_is_not_done_again_by_the_next_worker(
    connections: Connections, url: str
):
    with (
        answers(connections) as one,
        answers(connections) as other,
        SemanticMemory.open(url, embedder=HashEmbedder()) as memory,
    ):
        assert one.begin("a") is Turn.OURS
        with working(one.marking("a"), done=False):
            fact = memory.add("Has a veranda", user_id="maya")
        killed(connections)
        assert eventually(lambda: other.begin("a") is Turn.AGAIN)
        with working(other.marking("a"), done=True):
            assert memory.add("Has a veranda", user_id="maya") == fact
        assert memory.add("Has a veranda", user_id="maya").confirmed_at is not None


def test_a_worker_that_slept_commits_nothing_once_another_has_its_request(
    connections: Connections, url: str
):
    with (
        answers(connections, 0.1) as slow,
        answers(connections) as other,
        SemanticMemory.open(url, embedder=HashEmbedder()) as memory,
    ):
        slow.begin("a")
        slow.close()
        assert eventually(lambda: other.begin("a") is Turn.OURS)
        with (
            working(slow.marking("a"), done=False),
            pytest.raises(StoreUnavailableError, match="taken over"),
        ):
            memory.add("Has a veranda", user_id="maya")
        assert memory.list(user_id="maya") == []


def test_a_request_that_failed_after_its_write_is_not_done_again(connections: Connections, url):
    with (
        answers(connections) as one,
        SemanticMemory.open(url, embedder=HashEmbedder()) as memory,
    ):
        one.begin("a")
        with working(one.marking("a"), done=False):
            memory.add("Has a veranda", user_id="maya")
        one.end("a")
        assert one.begin("a") is Turn.AGAIN


def test_a_deletion_that_is_sent_again_succeeds(start: Callable[..., Served]):
    one = start("one")
    http = one.client(one.token())
    fact = http.post("/v1/memories", json=TEA).json()
    for _ in range(2):
        answer = http.delete(f"/v1/memories/{fact['id']}", params={"user_id": "maya"})
        assert answer.status_code == 204
    unknown = http.delete(f"/v1/memories/{fact['id']}", params={"user_id": "lea"})
    assert unknown.status_code == 404


def test_a_lease_is_renewed_while_the_request_is_worked_on(connections: Connections):
    def until() -> object:
        with connections.snapshot() as db:
            return db.execute("SELECT leased_until FROM replies").fetchone()

    with answers(connections, 6.0) as one, answers(connections) as other:
        assert one.begin("a") is Turn.OURS
        first = until()
        assert eventually(lambda: until() != first)
        assert other.begin("a") is Turn.TAKEN


def test_who_has_lost_a_request_does_not_end_it_for_another(connections: Connections):
    with answers(connections, 0.1) as slow, answers(connections) as other:
        slow.begin("a")
        slow.close()
        assert eventually(lambda: other.begin("a") is Turn.OURS)
        slow.end("a")
        assert slow.begin("a") is Turn.TAKEN


def test_encrypted_answers_and_keys_are_not_readable_in_the_database(connections: Connections):
    cipher = Cipher([new_key()])
    PostgresKeys(connections, cipher).create("pavilion", ["maya"], ALL, NOW)
    with answers(connections, encryption=cipher) as replies:
        replies.begin("a")
        replies.keep("a", ANSWER)
        with connections.snapshot() as db:
            rows = [
                db.execute(f"SELECT * FROM {one}").fetchall() for one in ("api_keys", "replies")
            ]
        held = repr(rows)
        for word in ("pavilion", "maya", "veranda", "print'"):
            assert word not in held
        assert replies.begin("a") == ANSWER


def test_answers_of_an_older_key_are_read_and_withdrawn(connections: Connections):
    old, new = new_key(), new_key()
    with answers(connections, encryption=Cipher([old])) as replies:
        for name in "ab":
            replies.begin(name)
            replies.keep(name, ANSWER)
    with answers(connections, encryption=Cipher([new, old])) as replies:
        assert replies.begin("a") == ANSWER
        replies.withdraw(MemoriesForgotten("maya", 1, 0))
        assert replies.begin("b") == Reply("print", 410, "", b"")


# ---------------------------------------------------------------- rates


def test_a_share_lasts_its_time_and_grows_with_need():
    share = Share(wanted=2, granted=2, drawn=0.0, ends=0.1)
    assert [share.take(0.05) for _ in range(3)] == [0.0, 0.0, None]
    assert share.next(0.06, most=100) == 4
    assert share.next(0.06, most=3) == 3
    assert share.next(0.2, most=100) == 2
    rest = Share(wanted=8, granted=8, drawn=0.0, ends=0.1)
    assert [rest.take(0.05), rest.take(0.1)] == [0.0, None]
    assert (rest.next(0.1, most=100), rest.returned(0.5)) == (1, 7)
    assert rest.returned(RETURN_SECONDS) == 0


def test_an_empty_bucket_is_not_asked_for_each_request():
    share = Share(wanted=8, granted=1, drawn=0.0, ends=0.1)
    assert [share.take(0.05), share.take(0.06)] == [0.0, pytest.approx(0.04)]
    assert share.take(0.1) is None


def test_a_bucket_fills_by_the_clock_of_the_database(connections: Connections):
    timer = Timer()
    rates = PostgresRates(connections, 60, timer)  # 6 at once
    assert [rates.draw("a") for _ in range(6)] == [0.0] * 6
    assert 0.0 < rates.draw("a") <= 1.0
    with connections.passing() as db:
        db.execute("UPDATE rates SET at = at - 3600")
    timer.now = 2.0
    assert [rates.draw("a") for _ in range(6)] == [0.0] * 6
    assert rates.draw("a") > 0.0


def test_what_is_left_of_a_share_is_given_back(connections: Connections):
    timer = Timer()
    limit = Limit.per_minute(60_000)
    rates = PostgresRates(connections, 60_000, timer)
    for _ in range(100):
        assert rates.draw("a") == 0.0
    drawn = 1 + 2 + 4 + 8 + 16 + 32 + 64  # six shares that were used up, and one that wasn't
    assert tokens(connections) >= limit.size - drawn
    timer.now = SHARE_SECONDS
    with connections.passing() as db:
        db.execute("UPDATE rates SET tokens = 0, at = at + 3600")  # it doesn't fill meanwhile
    assert rates.draw("a") == 0.0
    assert tokens(connections) == 0.0
    for _ in range(26):
        assert rates.draw("a") == 0.0


def tokens(connections: Connections) -> float:
    with connections.snapshot() as db:
        row = db.execute("SELECT tokens FROM rates").fetchone()
    assert row is not None
    return float(row[0])
