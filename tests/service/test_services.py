"""Services in processes of their own that share a store in a database."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from semantic_memory.domain.errors import ConfigurationError
from semantic_memory.entrypoints.api.server import serve
from semantic_memory.settings import ServiceSettings, Settings
from tests.conftest import eventually
from tests.support import postgres
from tests.support.processes import is_running
from tests.support.services import PATIENCE, Service

postgres.require()

Pair = tuple[Service, Service]


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Server]:
    """A server of these tests alone, which they stop."""
    server = postgres.create()
    server.start()
    yield server
    server.stop("immediate")
    server.remove()


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("services")


@pytest.fixture(scope="module")
def services(server: postgres.Server, directory: Path) -> Iterator[Pair]:
    url = server.emptied("services")
    both = Service(url, directory), Service(url, directory, workers=2)
    try:
        for service in both:
            service.ready()
        yield both
    finally:
        for service in both:
            service.kill()


def user(name: str) -> dict[str, Any]:
    return {"user_id": name}


def found(service: Service, query: str, **asked: Any) -> list[str]:
    answer = service.client.post("/v1/search", json={"query": query, **asked})
    assert answer.status_code == 200, answer.text
    return [hit["fact"]["content"] for hit in answer.json()["items"]]


def say(service: Service, text: str, **to: Any) -> None:
    message = {"role": "user", "content": text}
    answer = service.client.post("/v1/messages", json={"messages": [message], **to})
    assert answer.status_code == 202, answer.text


def test_what_one_takes_in_the_other_finds_at_once(services: Pair) -> None:
    one, other = services
    said = {**user("maya"), "session_id": "s1"}
    say(one, "I moved to Lisbon in spring", **said)
    assert found(other, "Lisbon", **user("maya")) == ["I moved to Lisbon in spring"]
    say(other, "My sister lives in Porto", **said)
    assert "My sister lives in Porto" in found(one, "sister Porto", **user("maya"))
    messages = one.client.get("/v1/sessions/messages", params=said).json()["items"]
    assert [message["content"] for message in messages] == [
        "I moved to Lisbon in spring",
        "My sister lives in Porto",
    ]


def test_a_fact_that_one_adds_is_in_the_prompts_of_the_other(services: Pair) -> None:
    one, other = services
    asked = {"query": "What does Ida drink?", **user("ida")}
    assert other.client.post("/v1/context", json=asked).json()["text"] == ""
    one.client.post("/v1/memories", json={"content": "Ida drinks green tea", **user("ida")})
    assert "green tea" in other.client.post("/v1/context", json=asked).json()["text"]


def test_writers_of_a_session_keep_their_order_whichever_service_they_ask(services: Pair) -> None:
    said = {**user("noa"), "session_id": "s1"}

    def write(writer: int) -> None:
        for turn in range(12):
            say(services[(writer + turn) % 2], f"Writer {writer} says number {turn}", **said)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(write, range(3)))
    orders = [
        [
            one["content"]
            for one in service.client.get("/v1/sessions/messages", params=said).json()["items"]
        ]
        for service in services
    ]
    assert orders[0] == orders[1]
    for writer in range(3):
        own = [text for text in orders[0] if text.startswith(f"Writer {writer} ")]
        assert own == [f"Writer {writer} says number {turn}" for turn in range(12)]


def test_what_one_forgets_the_other_knows_no_more(services: Pair) -> None:
    one, other = services
    say(one, "My favourite jam is marmalade", **user("lee"), session_id="s1")
    assert found(other, "marmalade", **user("lee"))
    other.client.post("/v1/forget", json={**user("lee"), "query": "marmalade"})
    assert found(one, "marmalade", **user("lee")) == []
    messages = one.client.get("/v1/sessions/messages", params={**user("lee"), "session_id": "s1"})
    assert messages.status_code in (200, 404)
    assert "marmalade" not in messages.text


def test_work_and_jobs_are_shared(services: Pair) -> None:
    one, other = services
    say(one, "I am allergic to peanuts", **user("pat"), session_id="s1")
    assert other.client.post("/v1/flush").status_code == 204
    facts = one.client.get("/v1/memories", params=user("pat")).json()["items"]
    assert {fact["category"] for fact in facts} > {"conversation"}
    runs = other.client.post("/v1/jobs/run", json={"jobs": ["all"]}).json()["items"]
    assert [run["error"] for run in runs] == [None] * len(runs)
    assert one.client.get("/v1/admin/check").json()["items"][0]["check"] == "database"


def test_a_worker_that_is_killed_is_replaced(services: Pair) -> None:
    _, several = services
    before = several.workers()
    assert len(before) == 2
    os.kill(before[0], signal.SIGKILL)
    assert eventually(lambda: len({*several.workers()} - {before[0]}) == 2, PATIENCE)
    say(several, "The harbour is closed", **user("kim"), session_id="s1")
    assert found(several, "harbour", **user("kim")) == ["The harbour is closed"]


def test_every_scrape_has_the_sum_of_all_workers(services: Pair) -> None:
    _, several = services

    def scraped() -> dict[str, float]:
        answer = httpx.get(f"{several.client.base_url}/metrics", timeout=PATIENCE)
        lines = [line for line in answer.text.splitlines() if not line.startswith("#")]
        return {name: float(number) for name, _, number in (one.rpartition(" ") for one in lines)}

    def post(path: str, body: Any) -> None:  # each by a connection of its own, to any worker
        url = f"{several.client.base_url}/v1/{path}"
        httpx.post(url, json=body, timeout=PATIENCE).raise_for_status()

    search = "semantic_memory_search_seconds_count"
    observed = "semantic_memory_messages_observed_total"
    before = scraped()
    for number in range(12):
        post("search", {"query": "tea", **user(f"zoe-{number}")})
        said = [{"role": "user", "content": "I drink tea"}]
        post("messages", {"messages": said, **user("zoe"), "session_id": f"s{number}"})
    after = [scraped() for _ in range(8)]
    assert [one[search] - before.get(search, 0) for one in after] == [12] * 8
    assert [one[observed] - before.get(observed, 0) for one in after] == [12] * 8
    assert [one["semantic_memory_active_sessions"] for one in after[1:]] == [
        after[0]["semantic_memory_active_sessions"]
    ] * 7
    os.kill(several.workers()[0], signal.SIGKILL)  # what it counted stays counted
    assert eventually(lambda: several.status() == 200, PATIENCE)
    assert scraped()[search] - before.get(search, 0) == 12


def test_while_the_database_is_away_requests_are_put_off(
    services: Pair, server: postgres.Server
) -> None:
    one, other = services
    say(one, "Ola drinks green tea", **user("ola"), session_id="s1")
    server.stop("immediate")
    try:
        assert eventually(lambda: one.status() == other.status() == 503, PATIENCE)
        answer = one.client.post("/v1/search", json={"query": "tea", **user("ola")})
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
        assert one.client.get("/healthz").status_code == 200
    finally:
        server.start()
    for service in services:
        service.ready()
    assert found(one, "green tea", **user("ola")) == ["Ola drinks green tea"]


def test_a_service_that_is_told_to_end_leaves_nothing_behind(
    server: postgres.Server, directory: Path
) -> None:
    service = Service(server.emptied("ending"), directory, workers=2)
    service.ready()
    workers = service.workers()
    assert service.end() == 0
    assert not any(map(is_running, workers))
    assert not (directory / "data").exists()


def test_a_service_whose_workers_cannot_begin_ends(directory: Path) -> None:
    service = Service("postgresql://nobody@127.0.0.1:1/memories", directory, workers=2)
    try:
        assert service.process.wait(PATIENCE) == 1
        assert "a worker couldn't begin" in service.log.read_text()
    finally:
        service.kill()


def test_several_workers_need_a_database(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, service=ServiceSettings(workers=2))
    with pytest.raises(ConfigurationError, match=r"2 workers need store\.url"):
        serve(settings)
