"""Each face forgets the same: what must go goes, what must stay stays."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import anyio
import pytest

from semantic_memory import AsyncSemanticMemory
from semantic_memory.client import Client
from tests.crash.matrix import MATRIX, WORDS, deleted, fill, words_left
from tests.service.conftest import Served
from tests.service.test_mcp import call, over_http
from tests.support.command_line import Cli

FACES = ("library", "async", "client", "rest", "mcp", "command line")


class Faces:
    """The ways in which a user's memories are forgotten: one deleted, or what meets conditions."""

    def __init__(self, service: Served, client: Client, token: str) -> None:
        self.service, self.client, self.token = service, client, token

    def forget(self, face: str, user_id: str, given: dict[str, Any]) -> None:
        one = deleted(self.service.memory.list(user_id=user_id, limit=None), given)
        match face:
            case "library" | "client":
                memory = self.service.memory if face == "library" else self.client
                if one is None:
                    memory.forget(user_id=user_id, **given)
                else:
                    memory.delete(one, user_id=user_id)
            case "async":
                anyio.run(self._awaited, one, user_id, given)
            case "rest":
                self._by_rest(one, user_id, _plain(given))
            case "mcp":
                self._by_agent(one, user_id, _plain(given))
            case _:
                self._by_command(one, user_id, _plain(given))

    async def _awaited(self, one: str | None, user_id: str, given: dict[str, Any]) -> None:
        memory = AsyncSemanticMemory(self.service.memory)
        if one is None:
            await memory.forget(user_id=user_id, **given)
        else:
            await memory.delete(one, user_id=user_id)

    def _by_rest(self, one: str | None, user_id: str, given: dict[str, Any]) -> None:
        http = self.service.client(self.token)
        if one is None:
            answer = http.post("/v1/forget", json={"user_id": user_id, **given})
        else:
            answer = http.delete(f"/v1/memories/{one}", params={"user_id": user_id})
        answer.raise_for_status()

    def _by_agent(self, one: str | None, user_id: str, given: dict[str, Any]) -> None:
        names = {"filters": "where"}
        what = {names.get(name, name): value for name, value in given.items()}
        tool = "forget_memories" if one is None else "forget"
        what = ({"memory_id": one} if one is not None else what) | {"confirm": True}
        over_http(self.service, self.token, lambda agent: call(agent, tool, **what), user=user_id)

    def _by_command(self, one: str | None, user_id: str, given: dict[str, Any]) -> None:
        command = Cli(self.service.directory)
        if one is not None:
            command("delete", one)
            return
        names = {"session_id": "session", "filters": "where"}
        options = []
        for name, value in given.items():
            options += [f"--{names.get(name, name)}", *([] if value is True else [value])]
        command("forget", "--user", user_id, *options, "--yes")


@pytest.fixture
def faces(service: Served) -> Iterator[Faces]:
    token = service.token()
    with (
        service.announced(token),
        Client(service.url, api_key=token) as client,
    ):
        yield Faces(service, client, token)


def _plain(given: dict[str, Any]) -> dict[str, Any]:
    return {
        name: f"{value:%Y-%m-%dT%H:%M:%S}" if isinstance(value, datetime) else value
        for name, value in given.items()
    }


@pytest.mark.parametrize("what", MATRIX)
def test_every_face_forgets_the_same(service: Served, faces: Faces, what: str):
    given, gone = MATRIX[what]
    users = {face: f"user-{n}" for n, face in enumerate(FACES)}
    for user_id in (*users.values(), "bystander"):
        fill(service.memory, user_id)
        assert words_left(service.memory, user_id) == WORDS
    for face, user_id in users.items():
        faces.forget(face, user_id, dict(given))
        assert words_left(service.memory, user_id) == WORDS - gone, face
    assert words_left(service.memory, "bystander") == WORDS
