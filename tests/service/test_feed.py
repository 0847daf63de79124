"""The feed of changes over HTTP: pages, server-sent events, and clients that resume."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from semantic_memory.client import AsyncClient, Client
from semantic_memory.domain.errors import AccessDeniedError, EventsRemovedError
from tests.conftest import eventually
from tests.service.conftest import A, R, Served, W, served

STREAM = {"Accept": "text/event-stream"}


def frames(response: httpx.Response) -> Iterator[dict[str, str]]:
    """The fields of each event as it comes, and of each sign of life."""
    frame: dict[str, str] = {}
    for line in response.iter_lines():
        if line:
            name, _, value = line.partition(": ")
            frame[name] = value
        else:
            yield frame
            frame = {}


def ids(events: Any) -> list[str]:
    return [event["memory_id"] for event in events]


def test_a_page_as_json(service, http):
    facts = [service.memory.add(f"Likes town {n}", user_id="maya") for n in "abc"]
    first = http.get("/v1/events", params={"limit": 2}).json()
    assert ids(first["items"]) == [fact.id for fact in facts[:2]]
    assert first["items"][0]["kind"] == "added"
    rest = http.get("/v1/events", params={"after": first["next"], "kinds": ["added"]}).json()
    assert ids(rest["items"]) == [facts[2].id]
    assert http.get("/v1/events", params={"after": rest["next"]}).json()["items"] == []


def test_a_stream_begins_now_and_tells_what_happens(service, http):
    service.memory.add("Likes tea", user_id="maya")
    with http.stream("GET", "/v1/events", headers=STREAM) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["cache-control"] == "no-store"
        stream = frames(response)
        assert next(stream)["id"] == "1"
        fact = service.memory.add("Plays chess", user_id="maya")
        frame = next(stream)
    assert (frame["event"], frame["id"]) == ("added", "2")
    assert json.loads(frame["data"])["memory_id"] == fact.id
    assert "chess" not in frame["data"]


def test_the_last_event_id_resumes_a_stream_and_goes_before_the_url(service, http):
    facts = [service.memory.add(f"Likes town {n}", user_id="maya") for n in "abc"]
    headers = STREAM | {"Last-Event-ID": "2"}
    with http.stream("GET", "/v1/events", params={"after": 0}, headers=headers) as response:
        stream = frames(response)
        next(stream)
        assert json.loads(next(stream)["data"])["memory_id"] == facts[2].id


def test_a_place_that_was_never_reached_is_refused(http):
    assert http.get("/v1/events", params={"after": 9}).status_code == 422
    assert http.get("/v1/events", headers=STREAM | {"Last-Event-ID": "9"}).status_code == 422
    assert http.get("/v1/events", headers=STREAM | {"Last-Event-ID": "x"}).status_code == 422


def test_a_place_behind_removed_events_is_refused_with_where_to_resume(serve, monkeypatch):
    monkeypatch.setenv("SEMANTIC_MEMORY_UPKEEP__EVENTS", "2")
    service = serve()
    for number in range(5):
        service.memory.add(f"Likes town {number}", user_id="maya")
    service.memory.jobs.run(["expiry"])
    place = service.memory.events.list()[0].id - 1
    answer = service.client().get("/v1/events", params={"after": 1})
    assert (answer.status_code, answer.json()["resume"]) == (422, place)
    with Client(service.url) as client:
        for refused in (client.events.list, client.events.subscribe):
            with pytest.raises(EventsRemovedError) as caught:
                next(iter(refused(after=1)))
            assert caught.value.resume == place
        assert client.events.list(after=place)[0].id == place + 1


def test_a_silent_stream_says_that_it_is_alive(service, http, monkeypatch):
    monkeypatch.setattr("semantic_memory.entrypoints.api.feed.HEARTBEAT_SECONDS", 0.05)
    with http.stream("GET", "/v1/events", headers=STREAM) as response:
        stream = frames(response)
        beats = [next(stream) for _ in range(3)]
    assert beats == [{"": "", "id": "0"}] * 3


def test_a_key_sees_the_events_of_its_users_alone(service):
    of_maya = service.memory.add("Likes tea", user_id="team.maya")
    service.memory.add("Likes coffee", user_id="kim")
    of_ben = service.memory.add("Likes milk", user_id="team.ben")
    team = service.client(service.token(["team.*"], [R]))
    page = team.get("/v1/events").json()
    assert ids(page["items"]) == [of_maya.id, of_ben.id]
    assert page["next"] == 3
    maya = service.client(service.token(["team.maya"], [R]))
    assert ids(maya.get("/v1/events").json()["items"]) == [of_maya.id]
    assert maya.get("/v1/events", params={"user_id": "kim"}).status_code == 403
    with team.stream("GET", "/v1/events", params={"after": 0}, headers=STREAM) as response:
        stream = frames(response)
        next(stream)
        assert [json.loads(next(stream)["data"])["memory_id"] for _ in range(2)] == [
            of_maya.id,
            of_ben.id,
        ]


@pytest.mark.parametrize("rights", [(W,), (A,)], ids=str)
@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_a_key_without_the_right_to_read_sees_no_event(service, rights, accept):
    client = service.client(service.token(["*"], rights))
    assert client.get("/v1/events", headers={"Accept": accept}).status_code == 403


def test_a_stream_ends_when_its_key_is_revoked(service, monkeypatch):
    monkeypatch.setattr("semantic_memory.entrypoints.api.feed.HEARTBEAT_SECONDS", 0.05)
    client = service.client(service.token())
    with client.stream("GET", "/v1/events", headers=STREAM) as response:
        stream = frames(response)
        next(stream)
        service.keys.revoke(next(iter(service.keys.read())).id)
        assert all("data" not in frame for frame in stream)


def test_a_revoked_key_gets_no_event_that_comes_later(service):
    client = service.client(service.token())
    with client.stream("GET", "/v1/events", headers=STREAM) as response:
        stream = frames(response)
        next(stream)
        service.keys.revoke(next(iter(service.keys.read())).id)
        service.memory.add("Likes tea", user_id="maya")
        assert list(stream) == []


def test_streams_end_when_the_service_does(tmp_path):
    with served(tmp_path / "store", drain_seconds=30) as service:
        response = service.client().send(
            service.client().build_request("GET", "/v1/events", headers=STREAM), stream=True
        )
        stream = frames(response)
        next(stream)
        ended = threading.Thread(target=lambda: list(stream))
        ended.start()
        clients, service.clients = service.clients, []
    ended.join(60)
    assert not ended.is_alive()
    for client in clients:
        client.close()


def test_a_connection_that_goes_away_frees_its_stream(service, http):
    with http.stream("GET", "/v1/events", headers=STREAM) as response:
        stream = frames(response)  # which closes the response when it goes
        next(stream)
        assert len(service.app.state.streams) == 1
    assert eventually(lambda: not len(service.app.state.streams))


def test_the_client_reads_pages_and_follows(service):
    with Client(service.url) as client:
        first = client.add("Likes tea", user_id="maya")
        page = client.events.list(user_id="maya", kinds=["added"], limit=5)
        assert page == service.memory.events.list(user_id="maya")
        assert page.next == service.memory.events.list(after="now").next
        with client.events.subscribe() as feed, client.events.subscribe(after=0) as all_of_it:
            second = client.add("Plays chess", user_id="maya")
            assert next(feed).memory_id == second.id
            assert [next(all_of_it).memory_id for _ in range(2)] == [first.id, second.id]
        assert list(feed) == []


def test_the_asynchronous_client_follows(service):
    async def followed() -> None:
        async with AsyncClient(service.url) as client:
            async with await client.events.subscribe(user_id="maya") as feed:
                fact = await client.add("Plays chess", user_id="maya")
                assert (await anext(feed)).memory_id == fact.id
            assert [event async for event in feed] == []

    anyio.run(followed)


def test_a_client_without_the_right_is_refused(service):
    with (
        Client(service.url, api_key=service.token(["*"], [W])) as client,
        pytest.raises(AccessDeniedError),
    ):
        client.events.subscribe()


def test_a_client_resumes_where_the_service_was_restarted(tmp_path: Path):
    store = tmp_path / "store"

    class Following(httpx.HTTPTransport):
        """Finds the service at the port of its latest start."""

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            request.url = request.url.copy_with(port=running[-1].port)
            return super().handle_request(request)

    running: list[Served] = []
    with served(store) as service:
        running.append(service)
        client = Client(service.url, transport=Following())
        feed = client.events.subscribe()
        first = service.memory.add("Likes tea", user_id="maya")
        assert next(feed).memory_id == first.id
        missed = service.memory.add("Plays chess", user_id="maya")
    with served(store) as service:
        running.append(service)
        later = service.memory.add("Likes milk", user_id="maya")
        seen = [event.memory_id for event in (next(feed), next(feed)) if event]
        assert seen == [missed.id, later.id]
        feed.close()
        client.close()
