"""The clients do over HTTP what the library does."""

from __future__ import annotations

import inspect
from datetime import timedelta
from typing import Any

import anyio
import httpx
import pytest

from semantic_memory import Category, Message, SemanticMemory
from semantic_memory.aio import AsyncSemanticMemory
from semantic_memory.client import AsyncClient, Client
from semantic_memory.domain.errors import (
    AccessDeniedError,
    InvalidInputError,
    NotFoundError,
    RecordRefusedError,
    ServiceError,
    ServiceUnavailableError,
    SessionClosedError,
)
from tests.service.conftest import NOW, R, Served
from tests.support.surface import groups

OWN = {
    "open",
    "connect",
    "close",
    "sessions.open",
}  # of the directory, or an object that works here
VERBS = sorted(
    f"{group}.{name}".lstrip(".")
    for group, kind in {"": SemanticMemory, **groups(SemanticMemory)}.items()
    for name, member in vars(kind).items()
    if name[0] != "_" and not isinstance(member, property)
)


@pytest.mark.parametrize("kind", [Client, AsyncClient, AsyncSemanticMemory])
def test_every_verb_is_there_with_the_same_arguments(kind):
    def arguments(face: type, verb: str) -> list[tuple[object, ...]]:
        group, _, name = verb.rpartition(".")
        method = getattr(groups(face)[group] if group else face, name)
        parameters = inspect.signature(method).parameters.values()
        return [(p.name, p.kind, p.default) for p in parameters if p.name != "self"]

    for verb in set(VERBS) - OWN:
        assert arguments(kind, verb) == arguments(SemanticMemory, verb), verb


def exercise_items(memory: SemanticMemory | Client) -> list[object]:
    """Make every call about items; return the results."""
    items = memory.items
    big = {"text": "Prefers green tea", "n": 10**100, "list": [1, {"x": None}], "ok": True}
    maya: Any = {"user_id": "maya"}
    seen: list[object] = [items.put(["notes", "a b/ü"], "k/1 é", big, **maya)]
    items.put(["notes"], "k2", {"text": "Black coffee", "n": 2}, **maya, ttl=60.0, index=["text"])
    items.put(["notes"], "k2", {"text": "Of kim"}, user_id="kim", index=False)
    seen += [items.get(["notes", "a b/ü"], "k/1 é", **maya), items.get(["notes"], "k2", **maya)]
    seen.append(items.list(["notes"], **maya, filters={"n": {"$gt": 5}}))
    seen.append(items.list(user_id=None, limit=1, offset=1, refresh=False))
    seen += [items.search("tea", **maya), items.search("tea", ["notes"], **maya, by="words")]
    seen += [items.namespaces(user_id=None), items.namespaces(**maya, suffix=["*"], max_depth=1)]
    seen.append(memory.admin.users())
    records = [record for record in memory.transfer.export(**maya) if record["kind"] == "item"]
    seen += [
        records,
        memory.transfer.load(records, user_id="lea"),
        memory.transfer.load(records, user_id="lea"),
    ]
    document = memory.transfer.to_dict(**maya)
    seen += [document["items"], memory.transfer.from_dict(document, user_id="jo")]
    seen += [items.get(["notes"], "k2", user_id="lea"), memory.admin.stats().items]
    seen += [items.delete(["notes"], "k2", **maya), items.delete(["notes"], "k2", **maya)]
    gone = memory.forget(**maya, everything=True, dry_run=True)
    seen += [gone, gone.items, memory.forget(**maya, everything=True).items]
    seen += [items.list(**maya), len(items.list(user_id=None))]
    for call in (
        lambda: items.get(["notes"], "k2", **maya),
        lambda: items.put([], "k", {}, **maya),
        lambda: items.put(["a"], "", {}, **maya),
        lambda: items.put(["a"], "k", [], **maya),  # type: ignore[arg-type]
        lambda: items.put(["a"], "k", {}, **maya, index=["a["]),
        lambda: items.put(["a"], "k", {}, **maya, ttl=0.0),
        lambda: items.list(**maya, filters={"a'": 1}),
        lambda: items.list(**maya, filters={"a": {"$regex": "x"}}),
        lambda: items.search("", **maya),
    ):
        with pytest.raises((NotFoundError, InvalidInputError)) as caught:
            call()
        seen.append(caught.type)
    return seen


def test_items_behave_over_http_as_in_the_library(service: Served, open_memory):
    with Client(service.url) as client:
        assert exercise_items(client) == exercise_items(open_memory())


def exercise(memory: SemanticMemory | Client) -> list[object]:
    """Make every call; return the results without ids."""
    said = [
        Message(id="m1", role="user", content="I moved to Berlin in March.", created_at=NOW),
        Message(id="m2", role="assistant", content="How do you like it?", created_at=NOW),
    ]
    seen: list[object] = [
        memory.observe(said, user_id="maya", session_id="s1"),
        memory.observe(said, user_id="maya", session_id="s1"),
        memory.flush(),
    ]
    tea = memory.add("Prefers tea", user_id="maya", category="preference", tags=["drink.hot"])
    seen += [tea.content, tea.category, tea.tags]
    many = memory.transfer.add_many(
        [{"content": "Uses Linux", "category": Category.TECHNICAL}, {"content": "Has a cat"}],
        user_id="maya",
    )
    seen.append([fact.content for fact in many])
    seen.append([hit.fact.content for hit in memory.search("tea", user_id="maya", k=2)])
    narrowed = {"tags": ["drink"], "since": NOW - timedelta(days=1)}
    seen.append([hit.fact.content for hit in memory.search("it", user_id="maya", filters=narrowed)])
    seen.append(memory.search("tea", user_id="maya", as_of=NOW - timedelta(days=365)))
    seen.append(memory.context("tea", user_id="maya", budget=300).text)
    seen.append(memory.get(tea.id).content)
    seen.append(len(memory.list(user_id="maya", limit=2)))
    first, second = memory.list(user_id="maya", limit=2)
    page = memory.list(user_id="maya", limit=1, after=first.id)
    seen.append([fact.id for fact in page] == [second.id])
    everything = memory.list(user_id="maya", limit=None)
    seen.append(sorted(fact.content for fact in everything))
    drinks = memory.list(user_id="maya", filters={"tags": ["drink"], "categories": ["preference"]})
    seen.append([fact.content for fact in drinks])
    seen.append(memory.profile.tags(user_id="maya"))
    changed = memory.update(tea.id, user_id="maya", content="Prefers coffee", reason="said so")
    seen += [changed.content, [version.reason for version in memory.history.versions(tea.id)]]
    memory.flush()
    profile = memory.profile.update({"top_of_mind": "A trip."}, user_id="maya").profile
    seen.append({name: told and (told.text, told.origin) for name, told in profile})
    found = memory.profile.get(user_id="maya", as_of=NOW - timedelta(days=365))
    seen += [found, memory.profile.history("top_of_mind", user_id="maya")[-1].text]
    profile = memory.profile.update({"top_of_mind": None}, user_id="maya").profile
    seen.append(profile.top_of_mind and profile.top_of_mind.text)
    seen.append([info.session_id for info in memory.sessions.list(user_id="maya")])
    seen.append(memory.sessions.configure(user_id="maya", session_id="s1", extract=False))
    seen.append(memory.sessions.messages(user_id="maya", session_id="s1"))
    created = memory.sessions.create(
        user_id="maya",
        session_id="s2",
        compact=False,
        half_life_days={Category.PROJECT: 30.0},
        floor=0.2,
        language="German",
    )
    seen += [created.options, created.messages]
    seen.append(memory.sessions.configure(user_id="maya", session_id="s2", verbosity="brief"))
    seen.append(memory.sessions.close(user_id="maya", session_id="s2").closed_at is not None)
    with pytest.raises(SessionClosedError):
        memory.observe(said, user_id="maya", session_id="s2")
    seen.append(memory.sessions.load(user_id="maya", session_id="s2").closed_at)
    about = [Message(id="m7", role="user", content="Please forget what I said about Anna.")]
    memory.observe(about, user_id="maya", session_id="s2")
    (request,) = memory.history.requests(user_id="maya")
    seen.append((request.state, request.subject))
    settled = memory.history.settle(request.id, user_id="maya", answer="decline")
    seen.append((settled.state, settled.subject))
    records = [*memory.transfer.export(user_id="maya")]
    seen.append([record["kind"] for record in records])
    seen += [
        memory.transfer.load(records, user_id="maya"),
        memory.transfer.load(records, user_id="lea"),
    ]
    document = memory.transfer.to_dict(user_id="maya")
    seen += [sorted(document), [session["options"] for session in document["sessions"]]]
    seen += [
        memory.transfer.from_dict(document, user_id="maya"),
        memory.transfer.from_dict(document, user_id="kim"),
    ]
    seen.append(memory.forget(user_id="kim", everything=True))
    seen.append(memory.forget(user_id="lea", everything=True))
    memory.delete(tea.id, user_id="maya", reason="private")
    seen.append(memory.forget(user_id="maya", since=NOW, tag="drink"))
    seen += [memory.admin.users(), memory.admin.stats().memories, memory.admin.rebuild()]
    runs = memory.jobs.run(["dedup", "decay"], user_id="maya", dry_run=True)
    seen += [[run.job for run in runs], [run.job for run in memory.jobs.run(["compact"])]]
    seen.append([run.job for run in memory.jobs.runs()])
    seen.append([finding.check for finding in memory.admin.check()])
    for call in (
        lambda: memory.get(tea.id),
        lambda: memory.get("nothing", user_id="maya"),
        lambda: memory.add("", user_id="maya"),
        lambda: memory.search("x", user_id="a b"),
        lambda: memory.search("x", user_id="maya", filters={"mood": 1}),
        lambda: memory.list(user_id="maya", limit=0),
        lambda: memory.update(many[0].id, user_id="maya", category="mood"),
        lambda: memory.profile.update({"mood": "good"}, user_id="maya"),
        lambda: memory.profile.history("mood", user_id="maya"),
        lambda: memory.sessions.create(user_id="maya", session_id="s2"),
        lambda: memory.sessions.load(user_id="maya", session_id="s9"),
        lambda: memory.sessions.close(user_id="maya", session_id="s9"),
    ):
        with pytest.raises((NotFoundError, InvalidInputError)) as caught:
            call()
        seen.append(caught.type)
    return seen


def test_a_client_behaves_as_the_library_does(service: Served, open_memory):
    with Client(service.url) as client:
        assert exercise(client) == exercise(open_memory())


def test_an_asynchronous_client_behaves_as_the_library_does(service: Served, open_memory):
    async def exercise_async(memory: AsyncClient | AsyncSemanticMemory) -> list[object]:
        said = [Message(id="m1", role="user", content="I moved to Berlin", created_at=NOW)]
        seen: list[object] = [await memory.observe(said, user_id="maya", session_id="s1")]
        await memory.flush()
        tea = await memory.add("Prefers tea", user_id="maya")
        hits = await memory.search("tea", user_id="maya", k=1)
        records = [record async for record in memory.transfer.export(user_id="maya")]
        seen += [hits[0].fact.id == tea.id, [record["kind"] for record in records]]
        seen.append(await memory.transfer.load(records, user_id="lea"))
        with pytest.raises(NotFoundError):
            await memory.get("nothing", user_id="maya")
        return seen

    async def both() -> None:
        async with AsyncClient(service.url) as client:
            over_http = await exercise_async(client)
        assert over_http == await exercise_async(AsyncSemanticMemory(open_memory()))

    anyio.run(both)


def test_an_asynchronous_memory_opens_and_closes(tmp_path, open_memory):
    async def use() -> int:
        async with await AsyncSemanticMemory.open(tmp_path / "other", embedder=None) as memory:
            return len(await memory.admin.users())

    assert anyio.run(use) == 0


def test_a_key_that_does_not_reach_is_denied(service: Served):
    token = service.token(["maya"], [R])
    with Client(service.url, api_key=token) as client:
        assert client.list(user_id="maya") == []
        for call in (
            lambda: client.list(user_id="lea"),
            lambda: client.add("Likes tea", user_id="maya"),
            lambda: [*client.transfer.export(user_id="lea")],
            lambda: client.get("some-id"),
            client.admin.stats,
        ):
            with pytest.raises(AccessDeniedError):
                call()
    with Client(service.url, api_key="wrong") as client, pytest.raises(AccessDeniedError):
        client.list(user_id="maya")


class Scripted:
    """Server of scripted responses, in order; it repeats the last one."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = [*answers]
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def receipt() -> httpx.Response:
    body = {"accepted": 1, "duplicates": 0, "session_id": "s"}
    return httpx.Response(202, json=body)


def client_of(script: Scripted, **options: Any) -> Client:
    return Client("http://service", transport=httpx.MockTransport(script), **options)


SAID = [Message(role="user", content="Hello")]
NOW_AGAIN = {"Retry-After": "0"}


@pytest.mark.parametrize(
    "trouble",
    [
        httpx.ConnectError("refused"),
        httpx.ReadError("reset"),
        *(httpx.Response(code, headers=NOW_AGAIN) for code in (408, 409, 429, 502, 503, 504)),
    ],
    ids=str,
)
def test_what_fails_for_the_moment_is_sent_again_with_the_same_key(trouble):
    script = Scripted(trouble, receipt())
    assert client_of(script).observe(SAID, user_id="u", session_id="s").accepted == 1
    first, second = script.requests
    assert first.content == second.content
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]


@pytest.mark.parametrize("status", [400, 403, 404, 409, 413, 422, 500])
def test_what_fails_for_good_is_not_sent_again(status):
    script = Scripted(httpx.Response(status))
    with pytest.raises(ServiceError):
        client_of(script).observe(SAID, user_id="u", session_id="s")
    assert len(script.requests) == 1


def test_a_model_that_can_not_be_reached_is_the_services_concern():
    problem = {"type": "/problems/provider", "detail": "no answer from the model"}
    script = Scripted(httpx.Response(502, json=problem))
    with pytest.raises(Exception, match="no answer from the model") as caught:
        client_of(script).flush()
    assert caught.typename == "ProviderError"
    assert len(script.requests) == 1


def test_it_gives_up_at_last_and_says_where_it_tried():
    script = Scripted(httpx.Response(503, headers=NOW_AGAIN))
    with pytest.raises(ServiceUnavailableError):
        client_of(script, attempts=3).admin.stats()
    assert len(script.requests) == 3
    with (
        pytest.raises(ServiceUnavailableError, match=r"127\.0\.0\.1:9.*is it running"),
        Client("http://127.0.0.1:9", attempts=1) as client,
    ):
        client.admin.stats()


def test_a_refused_record_is_told_with_the_number_of_those_before_it(service: Served):
    fact = service.memory.add("Prefers tea", user_id="maya")
    records = [*service.memory.transfer.export(user_id="maya"), {"kind": "hologram"}]
    with Client(service.url) as client, pytest.raises(RecordRefusedError) as refused:
        client.transfer.load(records, user_id="lea")
    assert refused.value.loaded == 1, fact


def test_two_writes_have_two_keys():
    script = Scripted(receipt())
    client = client_of(script)
    client.observe(SAID, user_id="u", session_id="s")
    client.observe(SAID, user_id="u", session_id="s")
    first, second = script.requests
    assert first.headers["idempotency-key"] != second.headers["idempotency-key"]


@pytest.mark.parametrize("fact_id", ["", "..", "../users", "a/b", "a?b=c", "a%2fb", "a#b"])
def test_an_id_never_becomes_another_path(fact_id):
    script = Scripted(receipt())
    with pytest.raises(InvalidInputError):
        client_of(script).get(fact_id)
    assert not script.requests
