"""Forgetting on every face: library, client, REST, MCP and command line do the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from semantic_memory import InvalidInputError
from semantic_memory.client import Client
from semantic_memory.entrypoints.api.server import _announced
from tests.service.conftest import Served
from tests.service.test_mcp import over_http, refusal
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
        _announced(service.directory, service.url, token),
        Client(service.url, api_key=token) as client,
    ):
        yield {
            "library": lambda: refused_by(service.memory.forget),
            "client": lambda: refused_by(client.forget),
            "rest": lambda: http.post("/v1/forget", json={"user_id": USER}).json()["detail"],
            "mcp": lambda: over_http(
                service, token, lambda agent: refusal(agent, "forget_memories", user_id=USER)
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
