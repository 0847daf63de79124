"""One query on every face: the same memories, the same mistakes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import anyio
import pytest
from typer.testing import CliRunner

from semantic_memory import AsyncSemanticMemory, InvalidInputError
from semantic_memory.client import AsyncClient, Client
from semantic_memory.domain.filters import Filters
from semantic_memory.entrypoints.cli import app
from tests.service.conftest import Served
from tests.service.test_mcp import call, over_http, refusal
from tests.service.test_mcp import ids as memory_ids

USER = "maya"
QUERIES = (
    'tag:work.* -tag:old since:"last month" sort:time "web apps" auth*',
    "tag:work,home sort:importance limit:2",
    '-auth* -category:decision when:"since March"',
    "meta.ticket:>=7 -meta.kind:chat",
    'café meta.title:"a, b"',
    "status:active,archived min_importance:0.5",
    "until:yesterday",
    '{"metadata": {"$or": [{"ticket": 7}, {"kind": {"$exists": true}}]}, "not_tags": ["old"]}',
    "東京",
    "as_of:2026-05-01",
    "agent:ops,null -run:r1",
    "-agent:null",
)
Face = Callable[[str], list[str]]


@pytest.fixture
def stored(service: Served) -> Served:
    def add(content: str, days: float, **values: Any) -> None:
        at = service.clock.now()
        service.clock.advance(days=-days)
        service.memory.add(content, user_id=USER, **values)
        service.clock.moment = at

    add(
        "Chose OAuth to authenticate the web apps",
        30,
        tags=["work.auth"],
        importance=0.9,
        category="decision",
        metadata={"ticket": 7, "kind": "mail"},
    )
    add(
        "Basic authentication of old web apps",
        300,
        tags=["work.auth", "old"],
        importance=0.2,
        agent_id="ops",
    )
    add(
        "Meets at the Café on Fridays", 2, tags=["home"], metadata={"title": "a, b", "kind": "chat"}
    )
    add("東京に住んでいる", 1, importance=0.8, metadata={"ticket": 9.5, "kind": "chat"})
    add(
        "Deploys on Fridays",
        12,
        tags=["work"],
        category="project",
        metadata={"ticket": 8},
        run_id="r1",
    )
    add("Authors a weekly letter", 0, metadata={"ticket": "7"})
    service.memory.flush()
    return service


@pytest.fixture
def client(stored: Served) -> Iterator[Client]:
    with Client(stored.url, api_key=stored.token()) as client:
        yield client


def ids(found: Any) -> list[str]:
    return [fact.id for fact in found]


def awaited(open_memory: Callable[[], Any], query: str) -> list[str]:
    async def run() -> list[str]:
        return ids(await open_memory().list(user_id=USER, filters=query))

    return anyio.run(run)


def by_async_client(service: Served, token: str, query: str) -> list[str]:
    async def run() -> list[str]:
        async with AsyncClient(service.url, api_key=token) as client:
            return ids(await client.list(user_id=USER, filters=query))

    return anyio.run(run)


def by_pages(http: Any, query: str) -> list[str]:
    """Page by page, one memory each."""
    found: list[str] = []
    cursor: dict[str, str] = {}
    params = {"user_id": USER, "q": query.replace("limit:2", ""), "limit": 1}
    while True:
        answer = http.get("/v1/memories", params=params | cursor).raise_for_status().json()
        found += [one["id"] for one in answer["items"]]
        if answer["next"] is None:
            return found[:2] if "limit:2" in query else found
        cursor = {"cursor": answer["next"]}


def by_mcp(service: Served, token: str, query: str) -> list[str]:
    async def use(client: Any) -> Any:
        return await call(client, "list_memories", where=query)

    return memory_ids(over_http(service, token, use, user=USER))


def by_command(service: Served, query: str) -> list[str]:
    arguments = ["list", "--user", USER, "--where", query, "--json"]
    done = CliRunner().invoke(app, [*arguments, "--data-dir", str(service.directory)])
    assert done.exit_code == 0, done.output
    return [one["id"] for one in json.loads(done.stdout)]


def faces(service: Served, token: str, client: Client) -> dict[str, Face]:
    memory, http = service.memory, service.client(token)

    def by_rest(query: str) -> list[str]:
        answer = http.get("/v1/memories", params={"user_id": USER, "q": query})
        return [one["id"] for one in answer.raise_for_status().json()["items"]]

    def by_mapping(query: str) -> list[str]:
        fields = Filters.of(query).model_dump(exclude_unset=True)
        return ids(memory.list(user_id=USER, filters=fields))

    return {
        "library": lambda query: ids(memory.list(user_id=USER, filters=query)),
        "model": lambda query: ids(memory.list(user_id=USER, filters=Filters.of(query))),
        "mapping": by_mapping,
        "async": partial(awaited, lambda: AsyncSemanticMemory(memory)),
        "client": lambda query: ids(client.list(user_id=USER, filters=query)),
        "client, model": lambda query: ids(client.list(user_id=USER, filters=Filters.of(query))),
        "async client": partial(by_async_client, service, token),
        "rest": by_rest,
        "pages": partial(by_pages, http),
        "mcp": partial(by_mcp, service, token),
        "command line": partial(by_command, service),
    }


def test_every_face_lists_the_same(stored: Served):
    token = stored.token()
    with (
        stored.announced(token),
        Client(stored.url, api_key=token) as client,
    ):
        known = faces(stored, token, client)
        for query in QUERIES:
            found = {name: face(query) for name, face in known.items()}
            assert found["library"], query
            assert all(one == found["library"] for one in found.values()), (query, found)


@pytest.mark.parametrize("query", QUERIES)
def test_every_face_searches_exports_and_forgets_the_same(
    stored: Served, client: Client, query: str
):
    token = stored.token()
    http = stored.client(token)
    hits = [hit.fact.id for hit in stored.memory.search("web", user_id=USER, filters=query)]
    assert [hit.fact.id for hit in client.search("web", user_id=USER, filters=query)] == hits
    for filters in (query, Filters.of(query).model_dump(mode="json", exclude_unset=True)):
        body = {"user_id": USER, "query": "web", "filters": filters}
        answer = http.post("/v1/search", json=body).raise_for_status().json()
        assert [hit["fact"]["id"] for hit in answer["items"]] == hits

    async def use(client: Any) -> Any:
        return await call(client, "recall", query="web", where=query)

    assert memory_ids(over_http(stored, token, use, user=USER)) == hits
    if "sort:" in query:
        return
    listed = {fact.id for fact in stored.memory.list(user_id=USER, filters=query)}
    assert listed == set(hits)
    for record in (
        stored.memory.transfer.export(user_id=USER, filters=query),
        client.transfer.export(user_id=USER, filters=query),
    ):
        assert {one["fact"]["id"] for one in record if one["kind"] == "fact"} == listed
    shown = client.forget(user_id=USER, filters=query, dry_run=True)
    assert (shown, {fact.id for fact in shown.memories}) == (len(listed), listed)
    assert client.forget(user_id=USER, filters=query) == len(listed)
    assert not stored.memory.list(user_id=USER, filters=query)


def test_every_face_refuses_a_mistake_in_the_same_words(stored: Served, client: Client):
    query, says = "tag:work tga:x", "position 10: unknown key 'tga'; did you mean tag?"
    token = stored.token()
    http = stored.client(token)
    for memory in (stored.memory, client):
        for ask in (
            lambda memory=memory: memory.list(user_id=USER, filters=query),
            lambda memory=memory: memory.search("x", user_id=USER, filters=query),
            lambda memory=memory: memory.forget(user_id=USER, filters=query),
            lambda memory=memory: [*memory.transfer.export(user_id=USER, filters=query)],
        ):
            with pytest.raises(InvalidInputError) as raised:
                ask()
            assert says in str(raised.value)
    answers = [
        http.get("/v1/memories", params={"user_id": USER, "q": query}),
        http.get("/v1/transfer/export", params={"user_id": USER, "q": query}),
        http.post("/v1/search", json={"user_id": USER, "query": "x", "filters": query}),
        http.post("/v1/forget", json={"user_id": USER, "filters": query}),
    ]
    for answer in answers:
        assert answer.status_code == 422
        assert says in answer.json()["detail"]

    async def use(client: Any) -> Any:
        return await refusal(client, "list_memories", where=query)

    assert says in over_http(stored, token, use, user=USER)
    arguments = ["list", "--user", USER, "--where", query]
    done = CliRunner().invoke(app, [*arguments, "--data-dir", str(stored.directory)])
    assert isinstance(done.exception, InvalidInputError)  # which `main` shows, and ends with 2
    assert says in str(done.exception)
    assert len(stored.memory.list(user_id=USER)) == 6


def test_every_face_lists_the_same_tags(stored: Served):
    expected = {"home": 1, "old": 1, "work": 3, "work.auth": 2}
    token = stored.token()
    command = ["profile", "tags", "-u", USER, "--data-dir", str(stored.directory), "--json"]

    async def read(agent: Any) -> dict[str, int]:
        (resource,) = (await agent.read_resource("memory://tags")).contents
        return dict(json.loads(resource.text))

    with (
        stored.announced(token),
        Client(stored.url, api_key=token) as client,
    ):
        told = json.loads(CliRunner().invoke(app, command).stdout)
        for found in (stored.memory.profile.tags(user_id=USER), client.profile.tags(user_id=USER)):
            assert {one.tag: one.memories for one in found} == expected
    assert over_http(stored, token, read, user=USER) == expected
    assert {one["tag"]: one["memories"] for one in told} == expected


def test_every_face_leaves_out_weak_hits(stored: Served):
    token = stored.token()
    scores = [hit.score for hit in stored.memory.search("web apps", user_id=USER)]
    least = scores[1]
    expected = sum(score >= least for score in scores)
    assert 0 < expected < len(scores)
    body = {"user_id": USER, "query": "web apps", "min_score": least}
    answer = stored.client(token).post("/v1/search", json=body).raise_for_status().json()
    assert len(answer["items"]) == expected
    command = ["search", "web apps", "-u", USER, "--min-score", str(least), "--json"]

    with (
        stored.announced(token),
        Client(stored.url, api_key=token) as client,
    ):
        assert len(client.search("web apps", user_id=USER, min_score=least)) == expected
        done = CliRunner().invoke(app, [*command, "--data-dir", str(stored.directory)])
        assert len(json.loads(done.stdout)) == expected
