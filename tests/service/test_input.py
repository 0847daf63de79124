"""Values that can't be used, at every face: an error that names them, and never a traceback."""

from __future__ import annotations

import pytest

from tests.service.conftest import Served
from tests.support.command_line import in_process

BODIES = {
    "k of 1.5": ("/v1/search", b'{"user_id": "maya", "query": "x", "k": 1.5}'),
    "k is true": ("/v1/search", b'{"user_id": "maya", "query": "x", "k": true}'),
    "k is NaN": ("/v1/search", b'{"user_id": "maya", "query": "x", "k": NaN}'),
    "k is infinite": ("/v1/search", b'{"user_id": "maya", "query": "x", "k": 1e999}'),
    "a query with NUL": ("/v1/search", b'{"user_id": "maya", "query": "a\\u0000"}'),
    "a query with a surrogate": ("/v1/search", b'{"user_id": "maya", "query": "\\ud800"}'),
    "a query of raw bytes": ("/v1/search", b'{"user_id": "maya", "query": "\xff"}'),
    "a user with a surrogate": ("/v1/search", b'{"user_id": "\\ud800", "query": "x"}'),
    "a key with a surrogate": ("/v1/search", b'{"user_id": "maya", "query": "x", "\\ud800": 1}'),
    "confidence of NaN": ("/v1/memories", b'{"user_id": "m", "content": "x", "confidence": NaN}'),
    "confidence is true": ("/v1/memories", b'{"user_id": "m", "content": "x", "confidence": true}'),
    "metadata of NaN": (
        "/v1/memories",
        b'{"user_id": "m", "content": "x", "metadata": {"a": NaN}}',
    ),
    "metadata with a surrogate": (
        "/v1/memories",
        b'{"user_id": "m", "content": "x", "metadata": {"a": "\\udfff"}}',
    ),
    "a message that is null": (
        "/v1/messages",
        b'{"user_id": "m", "session_id": "s", "messages": [null]}',
    ),
    "messages that are null": (
        "/v1/messages",
        b'{"user_id": "m", "session_id": "s", "messages": null}',
    ),
    "an import of null": ("/v1/transfer/import?user_id=maya", b"null\n"),
    "an import of a list": ("/v1/transfer/import?user_id=maya", b"[1]\n"),
    "deep nesting": ("/v1/search", b"[" * 100_000),
    "jobs that are a text": ("/v1/jobs/run", b'{"jobs": "dedup"}'),
}


@pytest.mark.parametrize(("path", "body"), BODIES.values(), ids=BODIES)
def test_the_service_answers_400_or_422(service: Served, path: str, body: bytes) -> None:
    answer = service.client().post(path, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422), answer.text
    assert answer.json()["detail"]


PATHS = {
    "an id that is a surrogate": "/v1/memories/%ED%A0%80?user_id=maya",
    "an id with NUL": "/v1/memories/%00?user_id=maya",
    "a user that is no UTF-8": "/v1/memories?user_id=%FF",
    "the profile of a time beyond": "/v1/profile?user_id=maya&as_of=9999-12-31T23:59:59-14:00",
    "a limit that is true": "/v1/memories?user_id=maya&limit=true",
    "a limit of 1.5": "/v1/memories?user_id=maya&limit=1.5",
    "confidence of NaN": "/v1/memories?user_id=maya&min_confidence=nan",
    "since that is no time": "/v1/memories?user_id=maya&q=since:tomorrowish",
}


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
def test_the_service_refuses_parameters(service: Served, path: str) -> None:
    assert service.client().get(path).status_code in (400, 404, 422)


@pytest.mark.parametrize("query", ["since 9999-12-31", "9999-12-31", "before 0001-01-01"])
def test_the_service_answers_dates_at_the_ends_of_time(service: Served, query: str) -> None:
    body = {"user_id": "maya", "query": query, "filters": {"as_of": "0001-01-01T00:00:00Z"}}
    for path in ("/v1/search", "/v1/context"):
        assert service.client().post(path, json=body).status_code == 200


COMMANDS = {
    "an id that is a surrogate": ["show", "\ud800", "--user", "maya"],
    "k of 1.5": ["search", "x", "--user", "maya", "-k", "1.5"],
    "a query with a surrogate": ["search", "\udcff", "--user", "maya"],
    "a query with NUL": ["search", "a\x00", "--user", "maya"],
    "a user with a surrogate": ["list", "--user", "\ud800"],
    "confidence of NaN": ["add", "x", "--user", "maya", "--confidence", "nan"],
}


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_the_command_line_says_what_is_wrong(tmp_path, arguments: list[str]) -> None:
    done = in_process(*arguments, data_dir=tmp_path / "store")
    assert done.returncode in (1, 2)
    assert done.stderr.strip()
    assert "Traceback" not in done.stderr


REFUSED = {
    "a key of a body": (
        ("POST", "/v1/memories", {"user_id": "maya", "content": "x", "categry": "personal"}),
        "unknown key 'categry'; did you mean 'category'? known: agent_id, body, category",
    ),
    "a key within a body": (
        ("POST", "/v1/transfer/add-many", {"user_id": "maya", "items": [{"contnt": "x"}]}),
        "unknown key 'contnt' in items.0; did you mean 'content'? known: agent_id, body",
    ),
    "a key of filters": (
        ("POST", "/v1/search", {"user_id": "maya", "query": "x", "filters": {"tagz": ["a"]}}),
        "unknown key 'tagz' in filters; did you mean 'tags'? known: agents",
    ),
    "a key of a query": (
        ("GET", "/v1/memories?user_id=maya&sortt=time", None),
        "unknown key 'sortt'; did you mean 'sort'? known: ",
    ),
    "a missing field": (("POST", "/v1/search", {"user_id": "maya"}), "query is missing"),
    "a missing parameter": (("GET", "/v1/profile/tags", None), "user_id is missing"),
    "a number beyond": (
        ("GET", "/v1/jobs/runs?limit=0", None),
        "limit must be 1 to ",
    ),
    "no JSON": (("POST", "/v1/search", b"{"), "the body is no JSON: "),
}


@pytest.mark.parametrize(("request_", "words"), REFUSED.values(), ids=REFUSED)
def test_the_service_names_the_keys_that_there_are(service: Served, request_, words: str) -> None:
    method, path, body = request_
    given = {"content": body} if isinstance(body, bytes) else {"json": body}
    given |= {"headers": {"Content-Type": "application/json"}}
    answer = service.client().request(method, path, **given)
    assert answer.status_code == 422
    assert words in answer.json()["detail"]
    assert "pydantic" not in answer.text
