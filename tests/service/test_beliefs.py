"""The review of beliefs over the service: clients, rights and answers."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import anyio
import pytest

from semantic_memory.client import AsyncClient, Client
from semantic_memory.consolidation.superseding import cause, perhaps_changed, superseded
from semantic_memory.domain.changes import Update
from semantic_memory.domain.errors import AccessDeniedError, NotFoundError
from semantic_memory.domain.facts import Status
from tests.service.conftest import NOW, R, Served, W
from tests.support.inside import inside

U: dict[str, Any] = {"user_id": "maya"}


@pytest.fixture
def pairs(service: Served) -> list[tuple[str, str]]:
    """Add a fact that another one ended, then one that is linked to another; return their ids."""
    names = ("Has a cat", "Likes tea", "Plays chess", "Owns a boat")
    ids = [service.memory.add(text, **U).id for text in names]
    service.memory.flush()  # nothing else changes them meanwhile
    ledger = inside(service.memory).ledger
    cat, gone, chess, given_up = ledger.get(ids)
    why = cause(gone, "pairs-1", ("an end",), NOW, 0.9)
    likely = cause(given_up, "pairs-1", ("perhaps an end",), NOW, 0.8)
    ledger.apply(
        [
            Update(superseded(cat, gone, why), "superseded", NOW, "an end"),
            Update(perhaps_changed(chess, likely), "linked", NOW, likely.reason),
        ]
    )
    return [(ids[0], ids[1]), (ids[2], ids[3])]


def test_a_client_reviews_undoes_and_settles(service: Served, pairs: list[tuple[str, str]]):
    (cat, gone), (chess, given_up) = pairs
    with Client(service.url, api_key=service.token()) as client:
        (one,) = client.history.retired(since=NOW - timedelta(days=1), **U)
        assert one.newer is not None
        assert (one.fact.id, one.newer.id, one.cause.quote) == (cat, gone, "Likes tea")
        assert client.history.retired(since=NOW + timedelta(days=1), **U) == []
        (planned,) = client.history.undo(day=NOW.date(), dry_run=True, **U)
        assert planned.status is Status.SUPERSEDED
        (back,) = client.history.undo(day=NOW.date(), reason="it is back", **U)
        assert (back.id, back.status) == (cat, Status.ACTIVE)
        (link,) = client.history.to_confirm(**U)
        assert link.newer is not None
        assert (link.fact.id, link.newer.id) == (chess, given_up)
        assert client.history.explain(chess).perhaps_changed_by == (client.get(given_up),)
        assert client.history.accept(chess, given_up, **U).status is Status.SUPERSEDED
        with pytest.raises(NotFoundError):
            client.history.reject(chess, given_up, **U)
        assert {one.label for one in client.history.labels(**U)} == {"over", "neither"}


def test_an_asynchronous_client_does_the_same(service: Served, pairs: list[tuple[str, str]]):
    (cat, _), (chess, given_up) = pairs

    async def reviewed() -> tuple[list[str], bool]:
        async with AsyncClient(service.url, api_key=service.token()) as client:
            found = await client.history.undo(decision=cat, **U)
            kept = await client.history.reject(chess, given_up, **U)
            return [fact.id for fact in found], kept.status is Status.ACTIVE

    assert anyio.run(reviewed) == ([cat], True)


def test_a_key_without_the_right_to_read_gets_ids(service: Served, pairs: list[tuple[str, str]]):
    (cat, _), (chess, given_up) = pairs
    http = service.client(service.token(("maya",), (W,)))
    undone = http.post("/v1/history/undo", json={**U, "decision": cat})
    assert undone.json() == {"items": [{"id": cat}]}
    link = {**U, "older": chess, "newer": given_up}
    assert http.post("/v1/history/reject", json=link).json() == {"id": chess}
    assert http.post("/v1/history/undo", json={**U, "decision": cat, "dry_run": True}).is_error


@pytest.mark.parametrize(
    ("rights", "users", "agent"),
    [((R,), ("maya",), None), ((R, W), ("tom",), None), ((R, W), ("maya",), "coder")],
)
def test_others_change_no_belief(service: Served, pairs, rights, users, agent):
    (cat, _), (chess, given_up) = pairs
    token = service.token(users, rights, agent_id=agent)
    with Client(service.url, api_key=token) as client:
        for call in (
            lambda: client.history.undo(decision=cat, **U),
            lambda: client.history.accept(chess, given_up, **U),
            lambda: client.history.reject(chess, given_up, **U),
        ):
            with pytest.raises(AccessDeniedError):
                call()
    assert service.memory.get(cat).status is Status.SUPERSEDED
    assert service.memory.get(chess).status is Status.ACTIVE
