"""Requests to forget that users make in a conversation: recognised, and never stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from semantic_memory.domain.english.forgetting import Asked, asked_to_forget
from semantic_memory.domain.events import ForgetRequested
from tests.conftest import say

GOLD = Path(__file__).parents[2] / "data" / "gold" / "forgetting.jsonl"
U: dict[str, Any] = {"user_id": "u1"}
S = {**U, "session_id": "s1"}


def contents(memory: Any) -> list[str]:
    return sorted(fact.content for fact in memory.list(**U, limit=None))


@pytest.mark.parametrize("half", ["build", "measure"])
def test_most_requests_and_no_look_alike_are_recognised(half: str):
    rows = [json.loads(line) for line in GOLD.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row["half"] == half]
    asking = [row for row in rows if row["scope"] is not None]
    found = {row["id"]: asked_to_forget(row["text"]) for row in rows}
    false = [row["text"] for row in rows if row["scope"] is None and found[row["id"]]]
    share = sum(found[row["id"]] is not None for row in asking) / len(asking)
    right = sum(_is_right(row, found[row["id"]]) for row in asking) / len(asking)
    print(f"{half}: recognised {share:.3f}, understood {right:.3f}, look-alikes {len(false)}")
    assert share >= 0.9
    assert right >= 0.9
    assert false == []


def _is_right(row: dict[str, Any], asked: Asked | None) -> bool:
    scopes = {"topic": "subject", "everything": "everything", "message": row.get("message")}
    if asked is None or asked.scope != scopes[row["scope"]]:
        return False
    return not row["topic"] or any(one in asked.subject.lower() for one in row["topic"])


@pytest.mark.parametrize(
    "text",
    [
        "Remove the stuff on the left side of the page.",
        "Remove all mentions of the old brand in the README.",
        "Don't keep that variable, inline it.",
        "don't log that in production",
        "Don't save it, I'm still editing.",
        "I don't remember this.",
        "Everything about the launch was deleted by accident.",
        "I told her to forget what I said about the party.",
        "Get rid of that function, it's unused.",
        "Forget about it.",
    ],
)
def test_orders_about_texts_and_programs_are_no_requests(text: str):
    assert asked_to_forget(text) is None


def test_a_request_is_put_to_the_application_and_never_stored(open_memory, events):
    memory = open_memory()
    session = memory.session(**S)
    session.push(user="My sister Anna lives in Bergen.", assistant="Noted.")
    session.push(user="Please forget what I said about Anna.")
    memory.flush()
    assert not [text for text in contents(memory) if "forget" in text]
    ((message_id, asked),) = session.requests.items()
    assert asked == Asked("subject", "Anna")
    assert [one for one in events if isinstance(one, ForgetRequested)] == [
        ForgetRequested("u1", "s1", message_id, "subject", "Anna")
    ]
    assert memory.forget(**U, query=asked.subject) >= 1
    assert not [text for text in contents(memory) if "Anna" in text]


def test_what_is_not_to_be_remembered_is_neither_recalled_nor_extracted(open_memory):
    memory = open_memory()
    memory.observe(say("Off the record: I live in Bergen.", "I love rowing."), **S)
    memory.flush()
    assert not [text for text in contents(memory) if "Bergen" in text]
    assert memory.search("Bergen", **U, k=1)[0].fact.content != "I live in Bergen"
    memory.rebuild()
    assert not [text for text in contents(memory) if "Bergen" in text]


@pytest.mark.parametrize("apart", [True, False], ids=["later", "at once"])
def test_a_message_that_is_taken_back_goes_with_its_facts(open_memory, apart: bool):
    memory = open_memory()
    said = say("I love rowing.", "I live in Bergen.", "Don't remember that.", "I paint.")
    if apart:
        memory.observe(said[:2], **S)
        memory.flush()
        assert [text for text in contents(memory) if "Bergen" in text]
    memory.observe(said, **S)
    memory.flush()
    assert not [text for text in contents(memory) if "Bergen" in text or "remember" in text]
    assert "I love rowing." in contents(memory)
    assert [finding for finding in memory.check() if not finding.ok] == []
