"""Forgetting on every face: library, client, REST, MCP and command line do the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from semantic_memory import InvalidInputError, Message
from semantic_memory.client import Client
from tests.service.conftest import Served
from tests.service.test_mcp import call, over_http, refusal
from tests.support.command_line import Cli

USER = "maya"
Refused = Callable[[], str]


def refused_by(forget: Callable[..., Any], **given: Any) -> str:
    with pytest.raises(InvalidInputError) as raised:
        forget(user_id=USER, **given)
    return str(raised.value)


@pytest.fixture
def faces(service: Served) -> Iterator[dict[str, Refused]]:
    token = service.token()
    http = service.client(token)
    command = Cli(service.directory)
    with (
        service.announced(token),
        Client(service.url, api_key=token) as client,
    ):
        yield {
            "library": lambda: refused_by(service.memory.forget),
            "client": lambda: refused_by(client.forget),
            "rest": lambda: http.post("/v1/forget", json={"user_id": USER}).json()["detail"],
            "mcp": lambda: over_http(
                service, token, lambda agent: refusal(agent, "forget_memories"), user=USER
            ),
            "command line": lambda: command("forget", "--user", USER, code=2).stderr,
        }


def test_forgetting_a_user_without_saying_so_is_refused_on_every_face(
    service: Served, faces: dict[str, Refused]
):
    service.memory.add("Maya prefers tea", user_id=USER)
    for face, refused in faces.items():
        said = refused().replace("\n", " ")
        assert "say what to forget" in said, (face, said)
        assert "everything" in said, (face, said)
    assert len(service.memory.list(user_id=USER)) == 1
    assert service.memory.forget(user_id=USER, everything=True) == 1


def shown_by(service: Served, token: str, given: dict[str, Any]) -> dict[str, set[str]]:
    """Return what each face says would be forgotten, sentences of messages included."""
    http, command = service.client(token), Cli(service.directory)
    body = {"user_id": USER, "dry_run": True, **given}
    by_rest = http.post("/v1/forget", json=body).raise_for_status().json()
    by_agent = over_http(
        service, token, lambda agent: call(agent, "forget_memories", **given), user=USER
    )
    options = [part for name, value in given.items() for part in (f"--{name}", value)]
    by_command = command.json("forget", "--user", USER, *options)
    with Client(service.url, api_key=token) as client:
        called = [
            one.forget(user_id=USER, dry_run=True, **given) for one in (service.memory, client)
        ]
    answers = {
        name: {fact["content"] for fact in answer["memories"]} | {*answer["sentences"]}
        for name, answer in (("rest", by_rest), ("command", by_command))
    }
    lines = [line.split(": ") for line in by_agent.splitlines()[1:-1]]
    answers["mcp"] = {
        line[-1].split(" ", 3)[-1] if re.match("[0-9a-f]{24,32} ", line[-1]) else line[-1]
        for line in lines
    }
    for name, found in zip(("library", "client"), called, strict=True):
        answers[name] = {fact.content for fact in found.memories} | {*found.sentences}
    return answers


@pytest.mark.parametrize("given", [{"entity": "Anna"}, {"query": "Anna's divorce"}])
def test_every_face_shows_first_what_would_be_forgotten(service: Served, given: dict[str, Any]):
    divorce, pasta = "Anna is getting a divorce.", "We had pasta by the lake."
    service.memory.observe(
        [Message(id="m1", role="user", content=f"{divorce} {pasta}")], user_id=USER, session_id="s1"
    )
    service.memory.add("Anna wants a divorce", user_id=USER)
    service.memory.add("Maya likes pasta", user_id=USER)
    service.memory.flush()
    token = service.token()
    with service.announced(token):
        before = service.memory.list(user_id=USER)
        for face, shown in shown_by(service, token, given).items():
            assert {divorce, "Anna wants a divorce"} <= shown, (face, shown)
            assert not [one for one in shown if "pasta" in one], (face, shown)
        assert service.memory.list(user_id=USER) == before
        (name, value), command = next(iter(given.items())), Cli(service.directory)
        command("forget", "--user", USER, f"--{name}", value, "--yes")
    left = {fact.content for fact in service.memory.list(user_id=USER)}
    assert {pasta, "Maya likes pasta"} <= left
    assert not [one for one in left if "divorce" in one]
