"""The audit of what was forgotten: ids, times, reasons and counts, never texts."""

import json
import logging
from datetime import timedelta

import pytest

from semantic_memory import Fact
from semantic_memory.domain.actor import acting
from semantic_memory.domain.changes import Add, Forget, Update
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.events import PinnedForgotten
from semantic_memory.domain.facts import Source, Status
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.observers import log_event
from semantic_memory.domain.refusals import parse
from tests.conftest import NOW, make_fact, say
from tests.contract.conftest import ledger  # noqa: F401  (a fixture)

U = {"user_id": "u1"}


def audit(memory):
    return memory.list(**U, status="forgotten")


def test_a_forgotten_memory_is_listed_by_its_tombstone_alone(memory, clock):
    fact = memory.add(
        "Takes cardamom pills",
        **U,
        tags=["health"],
        metadata={"of": "cardamom"},
        body={"kind": "procedure", "steps": ["cardamom"]},
    )
    memory.update(fact.id, importance=0.9)
    clock.advance(days=1)
    memory.delete(fact.id, reason="asked to")
    (found,) = audit(memory)
    assert (found.id, found.status, found.content) == (fact.id, Status.FORGOTTEN, "")
    assert (found.tombstone.at, found.tombstone.reason) == (clock.now(), "asked to")
    assert (found.tombstone.states, found.tombstone.by) == (2, None)
    assert not found.tombstone.was_pinned
    assert "cardamom" not in found.model_dump_json()
    assert "health" not in found.model_dump_json()
    memory.jobs.run(["compact"])
    assert audit(memory) == [found]


def test_reasons_tell_expiry_from_forgetting(memory, clock):
    memory.add("Lives in Oslo", **U, expires_at=NOW + timedelta(days=1))
    memory.observe(say("Tea is fine"), **U, session_id="s1")
    memory.flush()
    clock.advance(days=1)
    memory.jobs.run(["expiry"])
    memory.forget(**U, session_id="s1", reason="the trial ended")
    reasons = {fact.tombstone.reason for fact in audit(memory)}
    assert reasons == {"expired", "the trial ended"}


def test_the_listing_is_paged_and_filtered_like_others(memory, clock):
    for word in ("Likes tea", "Likes jazz", "Likes golf"):
        memory.delete(memory.add(word, **U, category="preference").id)
        clock.advance(days=1)
    (first,) = memory.list(**U, status="forgotten", limit=1)
    rest = memory.list(**U, status="forgotten", after=first.id)
    assert len({first.id, *(fact.id for fact in rest)}) == 3
    assert memory.list(**U, status="forgotten", filters={"categories": ["project"]}) == []
    assert memory.list(user_id="u2", status="forgotten") == []


def test_only_forgetting_removes_a_pinned_memory_and_it_is_said(memory, events, caplog):
    held = memory.add("Kept for the court", **U, tags=["pinned"])
    memory.add("Likes tea", **U)
    memory.forget(**U, everything=True)
    by_id = {fact.id: fact.tombstone for fact in audit(memory)}
    assert by_id[held.id].was_pinned
    assert sum(record.was_pinned for record in by_id.values()) == 1
    assert [one for one in events if isinstance(one, PinnedForgotten)] == [PinnedForgotten("u1", 1)]
    assert memory.history.versions(held.id)[-1].action == "forgotten while pinned"
    memory.jobs.run(["compact"])
    assert {fact.id: fact.tombstone for fact in audit(memory)} == by_id
    again = memory.add("Kept for the tax office", **U, tags=["pinned"])
    memory.delete(again.id)
    assert events.count(PinnedForgotten("u1", 1)) == 2
    with caplog.at_level(logging.WARNING):
        log_event(PinnedForgotten("u1", 1))
    assert "1 pinned memories of user u1 were forgotten" in caplog.text


def test_the_key_that_forgot_is_named(memory):
    first, second = memory.add("Likes tea", **U), memory.add("Likes jazz", **U)
    with acting("support desk"):
        memory.delete(first.id)
    memory.delete(second.id)
    assert {fact.id: fact.tombstone.by for fact in audit(memory)} == {
        first.id: "support desk",
        second.id: None,
    }


def test_a_tombstone_survives_json(memory):
    memory.delete(memory.add("Likes tea", **U).id)
    (found,) = audit(memory)
    assert Fact.model_validate(json.loads(found.model_dump_json())) == found


def test_only_a_forgotten_fact_is_without_content():
    with pytest.raises(InvalidInputError, match="content is empty"):
        parse(Fact, "fact", {**make_fact().model_dump(), "content": ""})


def test_a_ledger_lists_tombstones_alike_before_and_after_erasing(ledger):  # noqa: F811
    fact = make_fact(tags=("a", "pinned"), source=Source(session_id="s1", message_ids=("m1",)))
    ledger.apply([Add(fact), Update(fact, "updated", NOW)])
    ledger.apply([Forget("fact-1", NOW + timedelta(days=1), "because", "desk")])
    (found,) = ledger.find("u1", Filters(), status=Status.FORGOTTEN)
    assert found.tombstone.model_dump() == {
        "at": NOW + timedelta(days=1),
        "reason": "because",
        "by": "desk",
        "was_pinned": True,
        "states": 2,
    }
    assert (found.content, found.tags, found.source) == ("", (), Source())
    ledger.erase()
    assert ledger.find("u1", Filters(), status=Status.FORGOTTEN) == [found]
