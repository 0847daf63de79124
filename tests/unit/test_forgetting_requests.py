"""Requests to forget that users make in a conversation: recognised, and never stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from semantic_memory.domain.english.forgetting import Asked, asked_to_forget
from semantic_memory.domain.errors import InvalidInputError, NotFoundError
from semantic_memory.domain.events import ForgetRequested, ForgetSettled
from semantic_memory.settings import IngestSettings, Settings
from tests.conftest import say

MORE = Path(__file__).parents[1] / "support" / "forget_requests.jsonl"
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


def test_further_wordings_are_understood_and_their_look_alikes_are_not():
    rows = [json.loads(line) for line in MORE.read_text(encoding="utf-8").splitlines()]
    found = [asked_to_forget(row["text"]) for row in rows]
    pairs = zip(rows, found, strict=True)
    assert [row["text"] for row, asked in pairs if not _fits(row, asked)] == []


def _fits(row: dict[str, Any], asked: Asked | None) -> bool:
    return asked is None if row["scope"] is None else _is_right(row, asked)


def _is_right(row: dict[str, Any], asked: Asked | None) -> bool:
    scopes = {"topic": "subject", "everything": "everything", "message": row.get("message")}
    if asked is None or asked.scope != scopes[row["scope"]]:
        return False
    return not row["topic"] or any(one in asked.subject.lower() for one in row["topic"])


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("Would you mind forgetting what I said about Kara?", "Kara"),
        ("I'd prefer it if you forgot what I said about the results.", "the results"),
        ("It would be great if you could delete everything on my debts.", "my debts"),
        ("Pretend I never told you about the affair.", "the affair"),
        ("Act as if I never mentioned Berlin.", "Berlin"),
        ("What I said about the baby: please forget it.", "the baby"),
        ("About my salary: forget it, please.", "my salary"),
        ("That thing about my uncle - delete it from your memory.", "my uncle"),
        ("I'd like you to forget about my divorce.", "my divorce"),
        ("Do not store anything about my finances.", "my finances"),
        ("Forget my old address.", "my old address"),
        ("I want my location data deleted.", "my location data"),
        ("Never bring up my illness again, delete it.", "my illness"),
        ("Please un-remember what I said about my dad.", "my dad"),
        ("Delete any memories of my trip to Rome.", "my trip to Rome"),
    ],
)
def test_a_request_in_other_words_is_understood(text: str, subject: str):
    assert asked_to_forget(text) == Asked("subject", subject)


@pytest.mark.parametrize(
    "text",
    [
        "Would you mind deleting the second column?",
        "Pretend I never asked that question.",
        "Forget about my last question.",
        "Forget about my suggestion.",
        "I want my draft deleted.",
        "Don't bring up the budget again in the meeting.",
        "Let's drop everything and go to the beach.",
        "It would be great if you could remove the header.",
        "Delete all records of test users from the database.",
        "Forgetting what I said is rude.",
        "Do you remember what I told you about Eva?",
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


ANNA = ("My sister Anna lives in Bergen.", "Please forget what I said about Anna.")


@pytest.fixture
def asked(open_memory):
    """A memory with one pending request."""
    memory = open_memory()
    memory.observe(say(*ANNA, "I love rowing."), **S)
    memory.flush()
    return memory


def test_a_request_is_pending_until_it_is_settled(asked, events):
    (request,) = asked.requests(**U)
    assert (request.state, request.scope, request.subject) == ("pending", "subject", "Anna")
    assert (request.session_id, request.settled_at) == ("s1", None)
    session = asked.session(**S)
    assert session.requests.keys() == {request.message_id}
    settled = asked.settle_request(request.id, **U, answer="forget")
    assert (settled.state, settled.subject) == ("done", "")
    assert asked.requests(**U) == [settled]
    assert session.requests == {}
    assert not [text for text in contents(asked) if "Anna" in text]
    assert [text for text in contents(asked) if "rowing" in text]
    assert events[-1] == ForgetSettled("u1", "s1", request.message_id, "forget")
    assert asked.settle_request(request.id, **U, answer="decline") == settled
    with pytest.raises(NotFoundError):
        asked.settle_request("unknown", **U, answer="forget")


@pytest.mark.parametrize(("answer", "state"), [("decline", "declined"), ("done", "done")])
def test_a_request_can_be_settled_without_forgetting(asked, answer: str, state: str):
    (request,) = asked.requests(**U)
    assert asked.settle_request(request.id, **U, answer=answer).state == state
    assert [text for text in contents(asked) if "Anna" in text]
    assert [(one.state, one.subject) for one in asked.requests(**U)] == [(state, "")]


@pytest.mark.parametrize("what", [{"query": "Anna"}, {"entity": "anna"}])
def test_forgetting_the_same_subject_settles_the_request(asked, what: dict[str, str]):
    asked.forget(**U, **what)
    assert [one.state for one in asked.requests(**U)] == ["done"]


@pytest.mark.parametrize("what", [{"everything": True}, {"session_id": "s1"}])
def test_requests_go_with_their_session_and_user(asked, what: dict[str, Any]):
    asked.forget(**U, **what)
    assert asked.requests(**U) == []


def test_requests_are_those_of_one_user(asked):
    (request,) = asked.requests(**U)
    assert asked.requests(user_id="u2") == []
    with pytest.raises(NotFoundError):
        asked.settle_request(request.id, user_id="u2", answer="forget")
    with pytest.raises(InvalidInputError):
        asked.settle_request(request.id, **U, answer="perhaps")
    assert [one.state for one in asked.requests(**U)] == ["pending"]


def test_requests_outlive_the_process_and_are_noted_once(open_memory):
    with open_memory() as memory:
        memory.observe(say(*ANNA), **S)
        (request,) = memory.requests(**U)
    memory = open_memory()
    memory.observe(say(*ANNA), **S)
    memory.flush()
    assert memory.requests(**U) == [request]


def test_by_setting_a_subject_is_forgotten_at_once_and_everything_never(open_memory, events):
    settings = Settings(ingest=IngestSettings(forget_requests="at once"))
    memory = open_memory(settings=settings)
    memory.observe(say(*ANNA, "I love rowing.", "Forget everything you know about me."), **S)
    memory.flush()
    assert not [text for text in contents(memory) if "Anna" in text]
    assert [text for text in contents(memory) if "rowing" in text]
    states = {one.scope: one.state for one in memory.requests(**U)}
    assert states == {"subject": "done", "everything": "pending"}
    assert [one.answer for one in events if isinstance(one, ForgetSettled)] == ["forget"]


def test_what_an_earlier_process_left_is_done_at_once_too(open_memory):
    with open_memory() as memory:
        memory.observe(say(*ANNA), **S)
        memory.flush()
    settings = Settings(ingest=IngestSettings(forget_requests="at once"))
    memory = open_memory(settings=settings)
    memory.flush()
    assert not [text for text in contents(memory) if "Anna" in text]
