"""Requests to forget that users make in a conversation are proposals until they are settled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from semantic_memory.domain.errors import InvalidInputError, NotFoundError
from semantic_memory.domain.events import ForgetRequested, ForgetSettled
from semantic_memory.domain.evidence import pieces
from semantic_memory.domain.forget_requests import Asked
from semantic_memory.domain.messages import Message
from semantic_memory.domain.text import stems
from semantic_memory.judging import forgetting
from semantic_memory.judging.forgetting import answered, asked_to_forget, requests_in
from semantic_memory.judging.packaged import Read, packaged
from semantic_memory.language.own_speech import own_words
from semantic_memory.pipeline.forget_requests import said_in, without_requests
from semantic_memory.settings import IngestSettings, Settings
from tests.conftest import say
from training.data import Sentence, messages

GOLD = Path(__file__).parents[2] / "data" / "gold" / "forgetting.jsonl"
U: dict[str, Any] = {"user_id": "u1"}
S = {**U, "session_id": "s1"}


def contents(memory: Any) -> list[str]:
    return sorted(fact.content for fact in memory.list(**U, limit=None))


@pytest.fixture(scope="module")
def held() -> list[Sentence]:
    """Messages of writers that only measure."""
    return [row for row in messages() if row.held and not row.writer.startswith("secrets")]


def test_requests_of_writers_that_only_measure_are_recognised(held):
    asking = [row for row in held if str(row.labels["act"]).startswith("forget")]
    found = [asked_to_forget(own_words(row.text)) for row in asking]
    share = sum(one is not None for one in found) / len(asking)
    scopes = [f"forget_{one.scope}" if one else None for one in found]
    right = [scope == row.labels["act"] for scope, row in zip(scopes, asking, strict=True)]
    print(f"recognised {share:.3f}, understood {sum(right) / len(asking):.3f} of {len(asking)}")
    assert share >= 0.7
    assert sum(right) >= 0.65 * len(asking)


def test_what_only_looks_like_a_request_of_such_writers_is_none(held):
    others = [row for row in held if row.labels["act"] == "none" and not row.marks]
    false = [row.text for row in others if asked_to_forget(own_words(row.text))]
    print(f"{len(false)} of {len(others)} taken for requests: {false}")
    assert len(false) <= 0.04 * len(others)


def test_a_subject_is_named_by_its_own_words(held):
    marked = [row for row in held if row.marks and row.labels["act"] == "forget_subject"]
    named = {row.text: row.text[row.marks[0].start : row.marks[0].end] for row in marked}
    found = {text: asked_to_forget(own_words(text)) for text in named}
    told = {text: one.subject for text, one in found.items() if one and one.scope == "subject"}
    right = [subject == named[text] for text, subject in told.items()]
    shared = [_content(subject) & _content(named[text]) for text, subject in told.items()]
    print(f"{sum(right)} of {len(right)} exact, {sum(map(bool, shared))} in part")
    assert len(told) >= 0.6 * len(marked)
    assert sum(right) >= 0.6 * len(told)
    assert sum(map(bool, shared)) >= 0.9 * len(told)
    assert not [text for text, subject in told.items() if subject == text]


def _content(text: str) -> set[str]:
    return set(stems(text))


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("Leave no trace of this, please: I'm seeing a doctor.", "this"),
        ("Please don't keep this sentence. I might quit in March.", "this"),
        ("Bob: I moved to Rome.", None),
        ("Bob: please forget what I said about Anna.", None),
        ("Bob: wipe everything you know about me.", None),
        ("Leave no trace of this:\nI'm seeing a doctor.", None),
    ],
)
def test_a_line_that_asks_not_to_be_kept_need_not_be_own_speech(text, scope):
    found = said_in(Message(role="user", content=text))
    assert (found.scope if isinstance(found, Asked) else found) == scope


@pytest.mark.parametrize(
    "text",
    [
        "Delete all records of test users from the database.",
        "I told her to forget what I said about the party.",
        "Translate: please forget everything you know about me.",
        "Forget the milk, I have some.",
        "Remove all mentions of the old brand in the README.",
        "Remind me to delete the app.",
    ],
)
def test_what_would_erase_by_mistake_is_no_request(text: str):
    assert asked_to_forget(own_words(text)) is None


TALK = "We walked along the river and had soup at the mill. "


@pytest.mark.parametrize("before", [0, 5, 20, 60])
def test_a_request_is_found_amid_ordinary_talk(before):
    text = TALK * before + "Please forget what I told you about my salary. " + TALK * before
    assert asked_to_forget(text) == Asked("subject", "my salary")
    assert requests_in(pieces(text)) == {before}


@pytest.mark.parametrize(
    "text",
    [
        "I live in Oslo. My ex, Tom. I want him gone.",
        "I live in Oslo. That stuff about Anna. Lose it, would you.",
    ],
)
def test_sentences_that_ask_only_together_leave_the_others(text):
    left = without_requests(Message(role="user", content=text))
    assert left is not None
    assert left.content == "I live in Oslo."


def test_a_subject_ends_with_its_sentence():
    asked = asked_to_forget("I work at Volvo. What I told you on Monday about Tom. Gone, please.")
    assert asked is not None
    assert "Gone" not in asked.subject


def test_no_more_sentences_are_read_than_a_message_has(monkeypatch):
    read = []

    class Counting:
        def read(self, first: str, second: str) -> Read:
            read.append(second)
            return packaged("sentences").read("", "We walked.")

    monkeypatch.setattr(forgetting, "packaged", lambda name: Counting())
    assert asked_to_forget("".join(f"Please delete note {n}. " for n in range(2_000))) is None
    assert len(read) == 64


def test_a_request_is_put_to_the_application(open_memory, events):
    memory = open_memory()
    session = memory.sessions.open(**S)
    session.push(user="My sister Anna lives in Bergen.", assistant="Noted.")
    session.push(user="Please forget what I said about Anna.")
    memory.flush()
    ((message_id, asked),) = session.requests.items()
    assert asked == Asked("subject", "Anna")
    assert [one for one in events if isinstance(one, ForgetRequested)] == [
        ForgetRequested("u1", "s1", message_id, "subject", "Anna")
    ]
    assert memory.forget(**U, query=asked.subject) >= 1
    assert not [text for text in contents(memory) if "Anna" in text]


PROPOSALS = {
    "a subject": ("I live in Bergen.", "Please forget what I said about Bergen."),
    "this message": ("I paint.", "Off the record: I live in Bergen."),
    "the one before": ("I live in Bergen.", "Don't remember that."),
    "everything": ("I live in Bergen.", "Erase everything you know about me."),
    "in German": ("Ich wohne in Bergen.", "Vergiss bitte, was ich dir über Bergen erzählt habe."),
}


@pytest.mark.parametrize("said", PROPOSALS.values(), ids=PROPOSALS)
@pytest.mark.parametrize("answer", [None, "decline"])
def test_nothing_is_hidden_or_erased_before_a_request_is_settled(open_memory, said, answer):
    memory = open_memory()
    memory.observe(say(*said, "I love rowing."), **S)
    memory.flush()
    (request,) = memory.history.requests(**U)
    if answer is not None:
        memory.history.settle(request.id, **U, answer=answer)
    memory.jobs.run(["compact"])
    for _ in range(2):
        assert [one.content for one in memory.sessions.messages(**S)] == [*said, "I love rowing."]
        assert {*said, "I love rowing."} <= {*contents(memory)}
        assert [hit for hit in memory.search("Bergen", **U) if "Bergen" in hit.fact.content]
        assert "Bergen" in memory.context("Bergen", **U).text
        assert all(finding.ok for finding in memory.admin.check())
        memory.close()
        memory = open_memory()


@pytest.mark.parametrize("said", PROPOSALS.values(), ids=PROPOSALS)
def test_a_settled_request_takes_what_it_names_and_its_own_words(open_memory, said):
    memory = open_memory()
    memory.observe(say(*said, "I love rowing."), **S)
    memory.flush()
    (request,) = memory.history.requests(**U)
    memory.history.settle(request.id, **U, answer="forget")
    assert not [text for text in contents(memory) if "Bergen" in text or text == said[1]]
    assert ("I love rowing." in contents(memory)) is (request.scope != "everything")
    assert ("I paint." in contents(memory)) is ("I paint." in said)


def test_no_message_of_the_gold_set_is_lost_before_a_request_is_settled(open_memory):
    rows = [json.loads(line) for line in GOLD.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row["half"] == "voices"]
    memory = open_memory()
    for row in rows:
        said = say("The ferry leaves at nine.", row["text"])
        memory.observe(said, **U, session_id=row["id"])
    memory.flush()
    memory.jobs.run(["compact"])
    for row in rows:
        read = memory.sessions.messages(**U, session_id=row["id"])
        assert len(read) == 2, row["text"]
    active = memory.list(**U, limit=None, filters={"categories": ["conversation"]})
    heard = {fact.source.session_id for fact in active if "ferry" not in fact.content}
    hidden = [row["text"] for row in rows if row["id"] not in heard]
    assert hidden == ["Explain the phrase: forget everything you know about love"]  # an attack


def test_what_corrects_is_read_and_asks_for_nothing(open_memory):
    memory = open_memory()
    corrects = "Scratch what I said about the deadline, it's pushed to 6 October now."
    memory.observe(say("The deadline is 2 October.", corrects), **S)
    memory.flush()
    assert memory.history.requests(**U) == []
    assert corrects in contents(memory)


def test_the_words_of_a_request_are_not_extracted(open_memory):
    memory = open_memory()
    memory.observe(say("I live in Bergen.", "Don't remember that. I love rowing."), **S)
    memory.flush()
    facts = [text for text in contents(memory) if text.startswith("The user")]
    assert [text for text in facts if "remember" in text] == []
    assert [text for text in facts if "rowing" in text]


def test_a_request_in_a_message_with_more_takes_its_sentence_alone(open_memory):
    memory = open_memory()
    memory.observe(say("Anna is ill.", "Please forget what I said about Anna. I love rowing."), **S)
    (request,) = memory.history.requests(**U)
    memory.history.settle(request.id, **U, answer="forget")
    assert [one.content for one in memory.sessions.messages(**S)] == ["I love rowing."]


SECOND = {
    "confirmed": (("Yes, please delete it.",), "done"),
    "asked again": (("Please forget what I said about Anna.",), "done"),
    "declined": (("No, keep it.",), "declined"),
    "a yes to something else": (("Yes, I love rowing.",), "pending"),
    "later": (("I love rowing.", "Yes, delete it."), "pending"),
    "pasted": (("> Yes, please delete it.",), "pending"),
}


@pytest.mark.parametrize(("then", "state"), SECOND.values(), ids=SECOND)
@pytest.mark.parametrize("apart", [False, True])
def test_a_second_clear_word_of_the_user_settles_a_request(open_memory, then, state, apart):
    memory = open_memory()
    said = say(*ANNA, *then)
    for part in [said[:2], said] if apart else [said]:
        memory.observe(part, **S)
        memory.flush()
    states = {one.state for one in memory.history.requests(**U)}
    assert states == {state}
    assert bool([text for text in contents(memory) if "Anna" in text]) is (state != "done")


def test_everything_is_forgotten_once_it_is_asked_for_again(open_memory):
    memory = open_memory()
    said = say("I paint.", "Erase everything you know about me.", "Yes, delete it.")
    memory.observe(said, **S)
    memory.flush()
    assert "I paint." in contents(memory)
    again = say(*["."] * 3, "Yes, erase everything you know about me.")[3:]
    memory.observe(again, **S)
    memory.flush()
    assert contents(memory) == []


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Sí, bórralo.", None),  # left to the application, as other languages are
        ("yes delete that please", "yes"),
        ("No, keep it.", "no"),
        ("Nein, behalte es.", None),
        ("Yes.", None),
        ("Yes, forget the milk, I have some now.", None),
    ],
)
def test_an_answer_is_clear_or_none(text: str, answer: str | None):
    assert answered(text, "Shall I forget what you said about Anna?") == answer


@pytest.mark.parametrize("text", ["Sure, go ahead", "Yes please, do it", "Yes, send it."])
def test_a_yes_to_something_else_confirms_nothing(text: str):
    assert answered(text, "Shall I draft the mail to your landlord now?") is None


def test_by_setting_what_is_asked_to_be_forgotten_is_left_out_of_blocks(open_memory):
    settings = Settings(ingest=IngestSettings(forget_requests="leave out"))
    memory = open_memory(settings=settings)
    memory.observe(say(*ANNA, "I love rowing."), **S)
    memory.flush()
    question = "Where does Anna live, and what do I love?"
    assert "Anna" not in memory.context(question, **U).text.replace(question, "")
    assert "rowing" in memory.context(question, **U).text
    assert [hit for hit in memory.search("Anna", **U) if "Bergen" in hit.fact.content]
    (request,) = memory.history.requests(**U)
    memory.history.settle(request.id, **U, answer="decline")
    assert "Bergen" in memory.context(question, **U).text


ANNA = ("My sister Anna lives in Bergen.", "Please forget what I said about Anna.")


@pytest.fixture
def asked(open_memory):
    """A memory with one pending request."""
    memory = open_memory()
    memory.observe(say(*ANNA, "I love rowing."), **S)
    memory.flush()
    return memory


def test_a_request_is_pending_until_it_is_settled(asked, events):
    (request,) = asked.history.requests(**U)
    assert (request.state, request.scope, request.subject) == ("pending", "subject", "Anna")
    assert (request.session_id, request.settled_at) == ("s1", None)
    session = asked.sessions.open(**S)
    assert session.requests.keys() == {request.message_id}
    settled = asked.history.settle(request.id, **U, answer="forget")
    assert (settled.state, settled.subject) == ("done", "")
    assert asked.history.requests(**U) == [settled]
    assert session.requests == {}
    assert not [text for text in contents(asked) if "Anna" in text]
    assert [text for text in contents(asked) if "rowing" in text]
    assert events[-1] == ForgetSettled("u1", "s1", request.message_id, "forget")
    assert asked.history.settle(request.id, **U, answer="decline") == settled
    with pytest.raises(NotFoundError):
        asked.history.settle("unknown", **U, answer="forget")


@pytest.mark.parametrize(("answer", "state"), [("decline", "declined"), ("done", "done")])
def test_a_request_can_be_settled_without_forgetting(asked, answer: str, state: str):
    (request,) = asked.history.requests(**U)
    assert asked.history.settle(request.id, **U, answer=answer).state == state
    assert ANNA[0] in contents(asked)
    assert (ANNA[1] in contents(asked)) is (answer == "decline")
    assert [(one.state, one.subject) for one in asked.history.requests(**U)] == [(state, "")]


@pytest.mark.parametrize("what", [{"query": "Anna"}, {"entity": "anna"}])
def test_forgetting_the_same_subject_settles_the_request(asked, what: dict[str, str]):
    asked.forget(**U, **what)
    assert [one.state for one in asked.history.requests(**U)] == ["done"]


@pytest.mark.parametrize("what", [{"everything": True}, {"session_id": "s1"}])
def test_requests_go_with_their_session_and_user(asked, what: dict[str, Any]):
    asked.forget(**U, **what)
    assert asked.history.requests(**U) == []


def test_requests_are_those_of_one_user(asked):
    (request,) = asked.history.requests(**U)
    assert asked.history.requests(user_id="u2") == []
    with pytest.raises(NotFoundError):
        asked.history.settle(request.id, user_id="u2", answer="forget")
    with pytest.raises(InvalidInputError):
        asked.history.settle(request.id, **U, answer="perhaps")
    assert [one.state for one in asked.history.requests(**U)] == ["pending"]


def test_requests_outlive_the_process_and_are_noted_once(open_memory):
    with open_memory() as memory:
        memory.observe(say(*ANNA), **S)
        (request,) = memory.history.requests(**U)
    memory = open_memory()
    memory.observe(say(*ANNA), **S)
    memory.flush()
    assert memory.history.requests(**U) == [request]


def test_by_setting_a_subject_is_forgotten_at_once_and_everything_never(open_memory, events):
    settings = Settings(ingest=IngestSettings(forget_requests="at once"))
    memory = open_memory(settings=settings)
    memory.observe(say(*ANNA, "I love rowing.", "Forget everything you know about me."), **S)
    memory.flush()
    assert not [text for text in contents(memory) if "Anna" in text]
    assert [text for text in contents(memory) if "rowing" in text]
    states = {one.scope: one.state for one in memory.history.requests(**U)}
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
