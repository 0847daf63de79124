"""One search over a user's own memory and that of a team, on every face."""

from __future__ import annotations

from typing import Any

import pytest

from semantic_memory.client import Client
from semantic_memory.domain.errors import AccessDeniedError, InvalidInputError
from tests.conftest import say
from tests.service.conftest import R, Served, W
from tests.service.test_access import detail
from tests.service.test_mcp import call, over_http, over_stdio, refusal
from tests.service.test_scopes import NAMES, Face
from tests.service.test_scopes import face as face  # a fixture

MAYA: dict[str, Any] = {"user_id": "maya"}
OWN, TEAM, OTHER = "Maya deploys on Fridays", "The team deploys on Mondays", "Bo deploys at night"
ASKED = "When do we deploy?"


@pytest.fixture
def deploys(service: Served) -> dict[str, str]:
    """The ids of what the user, the team and a stranger say about one thing."""
    told = {"maya": OWN, "team-a": TEAM, "bo": OTHER}
    return {user: service.memory.add(text, user_id=user).id for user, text in told.items()}


def said(hits: Any) -> set[tuple[str, str | None]]:
    """Return the text and the space of each hit, in the forms of all faces."""
    plain = [one if isinstance(one, dict) else one.model_dump() for one in hits]
    return {(one.get("fact", one)["content"], one["space"]) for one in plain}


@pytest.mark.parametrize("face", NAMES, indirect=True)
def test_a_space_is_searched_with_the_users_own_memory(face: Face, deploys: dict[str, str]):
    assert said(face("search", ASKED)) == {(OWN, None)}
    assert said(face("search", ASKED, spaces=["team-a"])) == {(OWN, None), (TEAM, "team-a")}
    assert "Mondays" not in str(face("context", ASKED))
    block = str(face("context", ASKED, spaces=["team-a"]))
    assert f"{TEAM} (of team-a)" in block
    assert OWN in block
    assert f"{OWN} (of" not in block
    assert "night" not in block


REFUSED = [["bo"], ["team-b"], ["team-a", "bo"], ["nobody"]]


@pytest.mark.parametrize("spaces", REFUSED, ids=str)
@pytest.mark.parametrize("path", ["/v1/search", "/v1/context"])
def test_a_key_reads_no_space_that_it_does_not_cover(service, deploys, path, spaces):
    client = service.client(service.token(["maya"], [R, W], spaces=["team-a"]))
    asked = {**MAYA, "query": ASKED}
    assert client.post(path, json={**asked, "spaces": ["team-a"]}).is_success
    refused = client.post(path, json={**asked, "spaces": spaces})
    assert refused.status_code == 403
    assert detail(refused)["detail"] == "this key doesn't cover that user"


def test_a_key_without_the_right_to_read_searches_no_space(service, deploys):
    client = service.client(service.token(["maya", "team-a"], [W]))
    asked = {**MAYA, "query": ASKED, "spaces": ["team-a"]}
    assert client.post("/v1/search", json=asked).status_code == 403


def test_a_client_is_refused_by_name_of_the_error(service, deploys):
    with (
        Client(service.url, api_key=service.token(["maya"], [R])) as client,
        pytest.raises(AccessDeniedError, match="doesn't cover that user"),
    ):
        client.search(ASKED, **MAYA, spaces=["team-a"])


def test_a_key_of_one_agent_sees_in_a_space_what_the_agent_sees(service, deploys):
    service.memory.add("The travel agent deploys by train", user_id="team-a", agent_id="travel")
    token = service.token(["maya"], [R], agent_id="cook", spaces=["team-a"])
    with Client(service.url, api_key=token) as client:
        found = said(client.search(ASKED, **MAYA, spaces=["team-a"]))
        assert found == {(OWN, None), (TEAM, "team-a")}
        assert "train" not in client.context(ASKED, **MAYA, spaces=["team-a"]).text


def test_tools_read_the_spaces_of_the_key_beside_the_user(service, deploys):
    async def use(client: Any) -> None:
        found = await call(client, "recall", query=ASKED)
        assert OWN in found
        assert f"(of team-a) {TEAM}" in found
        assert OTHER not in found
        assert TEAM in await call(client, "recall", query=ASKED, as_context=True)
        assert TEAM in str(await client.get_prompt("with_memory", {"question": ASKED}))
        mine = {"memory_id": deploys["team-a"], "confirm": True}
        assert "no memory" in await refusal(client, "forget", **mine)

    token = service.token(["maya"], [R, W], spaces=["team-a", "team-b-*"])
    over_http(service, token, use)
    assert service.memory.get(deploys["team-a"]).content == TEAM

    async def refused(client: Any) -> None:
        said = await refusal(client, "recall", query=ASKED)
        assert "doesn't cover that user" in said
        assert "night" not in said

    over_http(service, token, refused, user="bo")


def test_tools_read_as_many_spaces_of_a_key_as_a_search_takes(service, deploys):
    async def use(client: Any) -> None:
        assert f"(of team-a) {TEAM}" in await call(client, "recall", query=ASKED)

    spaces = ["team-a", "team-a", *(f"team-{number}" for number in range(9))]
    over_http(service, service.token(["maya"], [R, W], spaces=spaces), use)


def test_a_server_over_stdio_has_spaces_and_an_agent_of_its_own(service, deploys):
    async def use(client: Any) -> None:
        found = await call(client, "recall", query=ASKED)
        assert OWN in found
        assert f"(of team-a) {TEAM}" in found
        added = (await call(client, "remember", content="Cooks on Sundays")).split()[-1]
        assert service.memory.get(added).agent_id == "cook"
        assert "Travels" not in await call(client, "recall", query="Travels on Saturdays")

    service.memory.add("Travels on Saturdays", **MAYA, agent_id="travel")
    with service.announced():
        place = ["--user", "maya", "--data-dir", str(service.directory)]
        over_stdio(use, *place, "--agent", "cook", "--space", "team-a")


def test_no_verb_but_search_and_context_knows_spaces(service, deploys):
    client = service.client(service.token(["maya"], [R, W], spaces=["team-a"]))
    beside = {"spaces": ["team-a"]}
    for path, body in [("/v1/forget", {"query": "deploys"}), ("/v1/memories", {"content": "Tea"})]:
        assert client.post(path, json={**MAYA, **body, **beside}).status_code == 422
    team = {"user_id": "team-a"}
    assert client.post("/v1/forget", json={**team, "query": "deploys"}).status_code == 403
    assert service.memory.get(deploys["team-a"]).content == TEAM


def test_uses_are_counted_for_the_owner_of_each_memory(service, deploys):
    memory = service.memory
    memory.context(ASKED, **MAYA, spaces=["team-a"])
    memory.jobs.run(jobs=["usage"])
    used = {user: memory.get(one).use_count for user, one in deploys.items()}
    assert used == {"maya": 1, "team-a": 1, "bo": 0}


def test_the_trail_is_that_of_the_user_and_names_the_space(service, deploys):
    memory = service.memory
    memory.context(ASKED, **MAYA, spaces=["team-a"])
    (record,) = memory.history.audit(**MAYA)
    assert {one.id: one.space for one in record.memories} == {
        deploys["maya"]: None,
        deploys["team-a"]: "team-a",
    }
    assert memory.history.audit(user_id="team-a") == []


def test_the_core_and_what_is_important_are_the_users_alone(service):
    memory = service.memory
    memory.profile.update({"work_context": "A team of three in Oslo."}, user_id="team-a")
    memory.profile.update({"work_context": "Bakes bread in Bergen."}, **MAYA)
    memory.add("The office key is under the mat", user_id="team-a", importance=1.0)
    block = memory.context("Which planets have rings?", **MAYA, spaces=["team-a"]).text
    assert "Bergen" in block
    assert "Oslo" not in block
    assert "mat" not in block


def test_blocks_of_several_owners_keep_to_the_budget_and_to_one_order(service):
    memory = service.memory
    for number in range(30):
        memory.add(f"The team deploys service {number} on Mondays", user_id="team-a")
        memory.add(f"Maya deploys service {number} on Fridays", **MAYA)
    first = memory.context(ASKED, **MAYA, spaces=["team-a"], budget=300)
    assert first.tokens <= 300
    assert {hit.space for hit in first.hits} == {None, "team-a"}
    assert memory.context(ASKED, **MAYA, spaces=["team-a"], budget=300).text == first.text


def test_a_text_of_both_is_the_users_own(service):
    for user in ("maya", "team-a"):
        service.memory.add("Deploys on Mondays", user_id=user)
    hits = service.memory.search("deploys", **MAYA, spaces=["team-a"])
    assert said(hits) == {("Deploys on Mondays", None)}


def test_sessions_of_one_name_are_not_mixed(service):
    memory = service.memory
    memory.observe(say("I deploy on Fridays.", "I sleep late."), **MAYA, session_id="s1")
    memory.observe(
        say("Releases ship on Mondays when we deploy.", "We met."),
        user_id="team-a",
        session_id="s1",
    )
    memory.flush()
    text = memory.context(ASKED, **MAYA, spaces=["team-a"]).text
    lines = [line for line in text.splitlines() if "deploy" in line]
    assert any("Fridays" in line and "of team-a" not in line for line in lines)
    assert any("Mondays" in line and "of team-a" in line for line in lines)


@pytest.mark.parametrize("spaces", [["maya"], ["team-a", "team-a"], ["a/b"], "team-a", ["s"] * 9])
def test_spaces_are_other_users_each_named_once(service, spaces):
    with pytest.raises(InvalidInputError, match="spaces"):
        service.memory.search("tea", **MAYA, spaces=spaces)


def test_a_filter_holds_for_every_owner(service, deploys):
    for user in ("maya", "team-a"):
        service.memory.add(f"{user} deploys with Helm", user_id=user, tags=["tools"])
    hits = service.memory.search(ASKED, **MAYA, spaces=["team-a"], filters="tag:tools", k=5)
    assert {hit.space for hit in hits} == {None, "team-a"}
    assert all("Helm" in hit.fact.content for hit in hits)
    words = service.memory.search(ASKED, **MAYA, spaces=["team-a"], filters="Mondays")
    assert said(words) == {(TEAM, "team-a")}
