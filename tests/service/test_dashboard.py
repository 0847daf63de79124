"""The dashboard's files, and the routes that only it uses."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from semantic_memory import Category, Message
from semantic_memory.domain.fields import JOBS
from semantic_memory.entrypoints.dashboard import files
from semantic_memory.entrypoints.rights import Right
from tests.conftest import eventually
from tests.service.conftest import NOW, R, Serve, Served

STATIC = Path(files.__file__).parent / "static"
FILES = sorted(str(path.relative_to(STATIC)) for path in STATIC.rglob("*") if path.is_file())


@pytest.mark.parametrize("path", ["/", "/dashboard", "/dashboard/"])
def test_a_browser_is_led_to_the_dashboard_without_a_key(service: Served, path: str):
    service.token()
    answer = service.client(follow_redirects=True).get(path)
    assert answer.status_code == 200
    assert answer.url.path == "/dashboard/"
    assert "<script" in answer.text


def test_the_usual_place_of_documents_leads_to_the_page_of_routes(service: Served):
    service.token()
    answer = service.client().get("/docs")
    assert answer.status_code == 307
    assert answer.headers["location"] == "/dashboard/#/rest"


@pytest.mark.parametrize("name", FILES)
def test_every_file_is_served_with_its_type_and_policy(service: Served, name: str):
    answer = service.client().get(f"/dashboard/{name}")
    assert answer.status_code == 200
    assert answer.headers["x-content-type-options"] == "nosniff"
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy
    kinds = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}
    assert answer.headers["content-type"].startswith(kinds.get(Path(name).suffix, ""))


def test_nothing_but_the_files_is_served_below_the_dashboard(service: Served):
    service.token()
    http = service.client()
    for path in ("nothing.js", "%2e%2e/files.py", "..%2ffiles.py", "pages", "vendor/"):
        assert http.get(f"/dashboard/{path}").status_code == 404, path
    assert http.get("/dashboardish").status_code == 401
    answer = http.post("/dashboard/")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, HEAD"


def test_no_page_asks_for_anything_from_elsewhere():
    for name in FILES:
        if Path(name).suffix in (".js", ".css", ".html") and "vendor" not in name:
            text = (STATIC / name).read_text(encoding="utf-8")
            assert not re.search(r"https?://|innerHTML|dangerouslySet|\beval\b", text), name


def test_every_file_is_packaged_and_each_vendored_one_has_its_licence():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    packaged = project["tool"]["setuptools"]["package-data"]["semantic_memory"]
    assert "entrypoints/dashboard/static/**/*" in packaged
    vendored = [name for name in FILES if name.startswith("vendor/")]
    assert vendored == ["vendor/LICENSE.htm", "vendor/LICENSE.preact", "vendor/htm-preact-3.1.1.js"]


def test_a_caller_is_told_what_its_key_allows_and_no_more(service: Served):
    token = service.token(["maya", "team-*"], [R])
    said = service.client(token).get("/v1/caller").json()
    assert said["users"] == ["maya", "team-*"]
    assert said["rights"] == ["read"]
    assert said["name"] == token.split("_")[1]


def test_without_keys_the_caller_may_do_everything(service: Served):
    said = service.client().get("/v1/caller").json()
    assert said.pop("categories") == [one.value for one in Category]
    everything = {"users": ["*"], "rights": sorted(Right), "agent_id": None, "spaces": []}
    assert said == {"name": "anyone", **everything}


def test_the_weights_of_ranking_explain_every_score(service: Served):
    service.memory.add("Maya likes tea", user_id="maya")
    http = service.client()
    told = http.get("/v1/ranking").json()
    assert told["half_life_days"]["personal"] is None
    assert told["half_life_days"]["decision"] == 30
    asked = {"user_id": "maya", "query": "What does Maya like?"}
    (hit,) = http.post("/v1/search", json=asked).json()["items"]
    parts, weights = hit["parts"], told["weights"]
    base = weights["dense"] * max(parts["dense"], 0) + (1 - weights["dense"]) * parts["lexical"]
    added = sum(parts[name] for name in ("context", "speaker", "voice", "time")) - parts["asks"]
    assert base / told["total"] + added == pytest.approx(parts["match"])
    w = weights["relevance"]
    assert parts["match"] * (1 - w + w * parts["relevance"]) == pytest.approx(hit["score"])


def test_figures_are_sampled_while_the_service_runs(serve: Serve, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("semantic_memory.entrypoints.dashboard.samples.SECONDS", 0.1)
    service = serve()
    service.memory.add("Likes tea", user_id="maya")
    http = service.client()
    assert http.get("/v1/samples").json()["seconds"] == 15
    sampler = service.app.state.sampler
    sampler.take()
    assert eventually(lambda: bool(http.get("/v1/samples", params={"limit": 1}).json()["items"]))
    (sample,) = http.get("/v1/samples", params={"limit": 1}).json()["items"]
    assert sample["memories"] >= 0
    assert sample["requests_per_second"] >= 0


def test_a_listing_by_status_finds_what_can_be_restored(service: Served):
    fact = service.memory.add("Lives in Oslo", user_id="maya")
    service.clock.advance(days=1)
    service.memory.update(fact.id, content="Lives in Berlin")
    http = service.client()
    params = {"user_id": "maya", "status": "superseded"}
    (before,) = http.get("/v1/memories", params=params).json()["items"]
    told = http.get(f"/v1/history/explain/{before['id']}", params={"user_id": "maya"}).json()
    assert told["replaced_by"]["content"] == "Lives in Berlin"
    wrong = http.get("/v1/memories", params={**params, "status": "lost"})
    assert wrong.status_code == 422


# ---------------------------------------------------------------- inspection


PLACES = {
    "changes": ("GET", "/v1/inspection/changes?user_id=u1", None),
    "timelines": ("GET", "/v1/inspection/timelines?user_id=u1", None),
    "traces": ("GET", "/v1/inspection/traces?user_id=u1", None),
    "why-not": ("POST", "/v1/inspection/why-not", {"user_id": "u1", "query": "a", "text": "b"}),
}


@pytest.mark.parametrize("name", PLACES)
def test_inspection_needs_a_key_that_reads_the_user(service: Served, name: str):
    method, path, body = PLACES[name]

    def status(token: str) -> int:
        return service.client(token).request(method, path, json=body).status_code

    assert status(service.token(["u1"], [R])) == 200
    assert status(service.token(["u2"], [R])) == 403
    assert status(service.token(["u1"], [Right.WRITE])) == 403
    assert status(service.token(["u1"], [R], agent_id="cook")) == 403


def test_activity_names_only_the_users_of_the_key(service: Served):
    for user_id in ("u1", "u2"):
        service.memory.add("Likes tea", user_id=user_id)
    admin = service.client(service.token(["u1"], [Right.ADMIN]))
    items = admin.get("/v1/inspection/activity").json()["items"]
    assert [one["user_id"] for one in items] == ["u1"]
    reader = service.client(service.token(["u1"], [R]))
    assert reader.get("/v1/inspection/activity").status_code == 403


def test_the_backlog_counts_the_messages_that_were_not_read(service: Served):
    said = [Message(role="user", content=f"I have {n} cats.") for n in range(3)]
    for user_id in ("u1", "u2"):
        service.memory.observe(said, user_id=user_id, session_id="s1")
    admin = service.client(service.token(["u1"], [Right.ADMIN]))

    def backlog() -> Any:
        return admin.get("/v1/inspection/backlog").json()

    assert eventually(lambda: backlog()["left"] == 3)
    assert backlog()["messages"] == 3
    assert backlog()["waiting"] == 1
    assert backlog()["sessions"] == [
        {"user_id": "u1", "session_id": "s1", "messages": 3, "left": 3}
    ]
    service.memory.flush()
    done = backlog()
    assert (done["left"], done["waiting"], done["sessions"]) == (0, 0, [])
    assert done["unembedded"] == 0


def test_dead_letters_are_listed_with_their_events_and_removed(service: Served):
    fact = service.memory.add("Likes tea", user_id="u1")
    letters = service.memory.admin.inspection.dead_letters
    number = service.memory.events.list()[-1].id
    letters.add([number, number + 1_000], "the endpoint answered 500", 12, NOW)
    admin = service.client(service.token(rights=[Right.ADMIN]))
    found = admin.get("/v1/inspection/webhook").json()
    assert found["configured"] is False
    assert [one["letter"]["event_id"] for one in found["dead"]] == [number + 1_000, number]
    assert found["dead"][0]["event"] is None
    assert found["dead"][1]["event"]["memory_id"] == fact.id
    path = f"/v1/inspection/webhook/dead/{number}"
    assert service.client(service.token(["u1"])).delete(path).status_code == 403
    assert service.client(service.token(rights=[R])).delete(path).status_code == 403
    for _ in range(2):
        assert admin.delete(path).status_code == 204
    assert [one.event_id for one in letters.listed()] == [number + 1_000]


def test_the_page_of_jobs_has_every_job_that_runs_by_schedule():
    page = (STATIC / "pages" / "jobs.js").read_text(encoding="utf-8")
    listed = re.search(r"const JOBS = \{(.*?)\};", page, re.DOTALL)
    assert listed is not None
    assert tuple(re.findall(r"^  (\w+):", listed[1], re.MULTILINE)) == JOBS


def test_a_trace_is_read_with_its_memories_and_only_by_its_user(service: Served):
    fact = service.memory.add("Lives in Lisbon", user_id="u1")
    own = service.client(service.token(["u1"], [R]))
    own.post("/v1/search", json={"user_id": "u1", "query": "Lisbon"})
    (listed,) = own.get("/v1/inspection/traces?user_id=u1").json()["items"]
    shown = own.get(f"/v1/inspection/traces/{listed['id']}?user_id=u1").json()
    assert [one["id"] for one in shown["facts"]] == [fact.id]
    assert shown["trace"]["candidates"][0]["id"] == fact.id
    assert own.get("/v1/inspection/traces/nothing?user_id=u1").status_code == 404
    other = service.client(service.token(["u2"], [R]))
    assert other.get(f"/v1/inspection/traces/{listed['id']}?user_id=u2").status_code == 404


def test_spaces_are_asked_for_with_the_right_to_read_them(service: Served):
    body = {"user_id": "u1", "query": "a", "text": "b", "spaces": ["team"]}
    own = service.client(service.token(["u1"], [R]))
    assert own.post("/v1/inspection/why-not", json=body).status_code == 403
