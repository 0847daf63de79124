"""The header with a request's user, by which a proxy spreads requests."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from semantic_memory.client import Client
from tests.service.conftest import Served

ADD = {"content": "Prefers tea", "user_id": "maya"}


@pytest.mark.parametrize(
    ("method", "path", "options"),
    [
        ("POST", "/v1/memories", {"json": ADD}),
        ("GET", "/v1/memories", {"params": {"user_id": "maya"}}),
        ("POST", "/v1/search", {"json": {"query": "tea", "user_id": "maya"}}),
    ],
)
def test_a_header_with_another_user_is_refused(
    service: Served, method: str, path: str, options: dict[str, Any]
) -> None:
    client = service.client()
    assert client.request(method, path, headers={"X-Memory-User": "maya"}, **options).is_success
    refused = client.request(method, path, headers={"X-Memory-User": "bob"}, **options)
    assert refused.status_code == 400
    assert "X-Memory-User is 'bob', the request's user is 'maya'" in refused.json()["detail"]


def test_spaces_of_a_request_are_no_contradiction(service: Served) -> None:
    asked = {"query": "tea", "user_id": "maya", "spaces": ["team"]}
    answer = service.client().post("/v1/search", json=asked, headers={"X-Memory-User": "maya"})
    assert answer.status_code == 200


def test_a_request_of_no_user_may_name_one(service: Served) -> None:
    assert service.client().get("/v1/admin/stats", headers={"X-Memory-User": "maya"}).is_success


def test_the_client_names_the_user(service: Served) -> None:
    sent: list[httpx.Request] = []

    class Recording(httpx.HTTPTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            sent.append(request)
            return super().handle_request(request)

    with Client(service.url, transport=Recording()) as client:
        client.add("Prefers tea", user_id="maya")
        client.list(user_id="maya")
        client.search("tea", user_id="maya")
        client.admin.stats()
    users = [request.headers.get("X-Memory-User") for request in sent]
    assert users == ["maya", "maya", "maya", None]
