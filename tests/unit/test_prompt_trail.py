"""The audit of what entered prompts: which memories, when, for whom and why, and no text."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from semantic_memory.application.trail import Trail
from semantic_memory.context.overview import Overview
from semantic_memory.domain.actor import acting
from semantic_memory.domain.errors import StoreUnavailableError
from semantic_memory.domain.recall import Context
from semantic_memory.settings import ContextSettings, Settings
from tests.conftest import NOW, say
from tests.support.inside import inside

U: dict[str, Any] = {"user_id": "u1"}
S = {**U, "session_id": "s1"}
NOTHING_PACKED = Context(text="", tokens=0, hits=())


def test_each_memory_of_a_block_is_recorded_with_its_reason(open_memory, clock):
    memory = open_memory()
    allergy = memory.add("The user is allergic to peanuts.", **U)
    weighty = memory.add("Deploys need two approvals", **U, category="decision", importance=0.9)
    tea = memory.add("Prefers green tea after lunch", category="preference", **U)
    memory.flush()
    clock.advance(hours=1)
    memory.profile.update({"top_of_mind": "A trip to Norway."}, **U)
    with acting("a-key"):
        packed = memory.context("Which green tea after lunch?", **U)
    (record,) = memory.history.audit(**U)
    assert (record.at, record.user_id, record.caller) == (clock.now(), "u1", "a-key")
    assert (record.tokens, record.session_id) == (packed.tokens, None)
    assert [one.id for one in record.memories] == [fact.id for fact in packed.facts]
    reasons = {one.id: one.reason for one in record.memories}
    assert reasons[tea.id] == "recalled"
    assert reasons[weighty.id] in ("important", "recalled")
    assert reasons[allergy.id] in ("core", "recalled")
    assert "profile" in reasons.values()
    scores = {hit.fact.id: round(hit.score, 4) for hit in packed.hits}
    assert {one.id: one.score for one in record.memories if one.score is not None} == scores


def test_a_record_holds_no_text(open_memory):
    memory = open_memory()
    memory.add("Prefers oolong", **U)
    memory.context("Which oolong?", **U)
    (record,) = memory.history.audit(**U)
    assert "oolong" not in record.model_dump_json()


def test_the_prompt_of_a_session_is_recorded_as_its(open_memory):
    memory = open_memory()
    memory.add("Prefers oolong", **U)
    memory.sessions.open(**S).payload("Which oolong?")
    assert [one.session_id for one in memory.history.audit(**U)] == ["s1"]


def test_blocks_are_listed_latest_first_and_by_memory(open_memory, clock):
    memory = open_memory()
    memory.add("Rides a bicycle", **U)
    times = []
    for question in ("a bicycle", "oolong tea", "tea"):
        if question == "oolong tea":
            tea = memory.add("Prefers oolong tea", **U)
        clock.advance(minutes=1)
        times.append(clock.now())
        memory.context(question, **U)
    assert [one.at for one in memory.history.audit(**U)] == times[::-1]
    assert len(memory.history.audit(**U, limit=2)) == 2
    with_tea = memory.history.audit(**U, memory_id=tea.id)
    assert [one.at for one in with_tea] == [times[2], times[1]]
    assert memory.history.audit(**U, memory_id="unknown") == []


def test_records_outlive_the_process_and_are_bounded(open_memory):
    settings = Settings(context=ContextSettings(audit=3))
    with open_memory(settings=settings) as memory:
        memory.add("Prefers oolong", **U)
        for _ in range(5):
            memory.context("oolong", **U)
    memory = open_memory(settings=settings)
    assert len(memory.history.audit(**U)) == 3


def test_no_record_is_kept_by_setting(open_memory):
    memory = open_memory(settings=Settings(context=ContextSettings(audit=0)))
    memory.context("oolong", **U)
    assert memory.history.audit(**U) == []


@pytest.mark.parametrize("written", [True, False])
def test_records_go_with_the_user(open_memory, written: bool):
    memory = open_memory()
    for user in ("u1", "u2"):
        memory.add("Prefers oolong", user_id=user)
        memory.context("oolong", user_id=user)
    if written:
        memory.jobs.run(["usage"])
    memory.forget(everything=True, **U)
    assert memory.history.audit(**U) == []
    assert len(memory.history.audit(user_id="u2")) == 1


def test_many_blocks_are_written_before_the_job_runs(open_memory):
    memory = open_memory()
    memory.observe(say("I love rowing."), **S)
    for _ in range(201):
        memory.context("rowing", **U)
    assert len(inside(memory).ledger.prompts("u1")) == 200


class SlowLedger:
    """A ledger that writes when it is told to."""

    def __init__(self) -> None:
        self.reached, self.go = threading.Event(), threading.Event()
        self.written: list[tuple[str, str]] = []
        self.refuses = False

    def record_prompts(self, records, most) -> None:
        self.reached.set()
        assert self.go.wait(120)
        if self.refuses:
            raise StoreUnavailableError("the disk is full")
        self.written += records


def note(trail: Trail, number: int = 1) -> None:
    for _ in range(number):
        trail.note(NOW, "u1", None, NOTHING_PACKED, Overview(), ())


def test_a_block_is_noted_while_others_are_written():
    ledger: Any = SlowLedger()
    trail = Trail(ledger, 200)
    writer = threading.Thread(target=note, args=(trail, 200))
    writer.start()
    assert ledger.reached.wait(120)
    other = threading.Thread(target=note, args=(trail,))
    other.start()
    other.join(5)
    waits = other.is_alive()
    ledger.go.set()
    writer.join(10)
    assert not waits
    assert len(ledger.written) == 200
    trail.write()
    assert len(ledger.written) == 201


def test_a_disk_that_takes_no_records_holds_up_no_block_and_loses_none():
    ledger: Any = SlowLedger()
    ledger.refuses = True
    ledger.go.set()
    trail = Trail(ledger, 200)
    note(trail, 450)
    assert ledger.written == []
    ledger.refuses = False
    trail.write()
    assert len(ledger.written) == 450
