"""The names of the main class, and arguments that no face takes: refused at run time, and by mypy.

mypy reports a `type: ignore` that nothing needs: these stand for the errors that it must find.
"""

from __future__ import annotations

import anyio
import pytest

from semantic_memory import AsyncSemanticMemory, SemanticMemory
from semantic_memory.client import AsyncClient, Client
from tests.support.surface import FACES, groups, members

VERBS = set("observe add search context get list update delete forget flush close".split())
GROUPS = set("sessions profile history transfer events jobs admin items".split())
MEANT = r"'user'; did you mean 'user_id'\? it takes "


def test_every_face_has_eleven_verbs_and_the_same_groups():
    for face in FACES:
        assert members(face).keys() - {"open", "connect"} == VERBS | GROUPS, face
        assert groups(face).keys() == GROUPS


def test_a_misspelt_argument_is_refused_by_the_library(memory: SemanticMemory) -> None:
    with pytest.raises(TypeError, match=rf"^search\(\) .*{MEANT}"):
        memory.search("tea", user="maya")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=rf"^history\.undo\(\) .*{MEANT}"):
        memory.history.undo(user="maya")  # type: ignore[call-arg]


def test_a_misspelt_argument_is_refused_by_the_client() -> None:
    with Client("http://127.0.0.1:9") as client:
        with pytest.raises(TypeError, match=MEANT):
            client.forget(user="maya")  # type: ignore[call-arg]
        with pytest.raises(TypeError, match=MEANT):
            client.items.put(["a"], "k", {}, user="maya")  # type: ignore[call-arg]


def test_a_misspelt_argument_is_refused_by_the_asynchronous_faces(memory: SemanticMemory) -> None:
    async def ask() -> None:
        face = AsyncSemanticMemory(memory)
        with pytest.raises(TypeError, match=MEANT):
            await face.context("tea", user="maya")  # type: ignore[call-arg]
        async with AsyncClient("http://127.0.0.1:9") as client:
            with pytest.raises(TypeError, match=MEANT):
                await client.sessions.list(user="maya")  # type: ignore[call-arg]

    anyio.run(ask)
