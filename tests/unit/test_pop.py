"""Taking messages back, and pages of a session's messages."""

from __future__ import annotations

import threading

import pytest

from semantic_memory.domain.errors import InvalidInputError, NotFoundError
from semantic_memory.domain.facts import Category, Status
from semantic_memory.domain.markers import NOTE
from semantic_memory.domain.messages import Message
from semantic_memory.settings import IngestSettings, Settings, UpkeepSettings

S = {"user_id": "u1", "session_id": "s1"}
SETTINGS = Settings(upkeep=UpkeepSettings(schedule=False), ingest=IngestSettings(background=False))


@pytest.fixture
def memory(open_memory):
    return open_memory(settings=SETTINGS)


def say(memory, *texts, flush=True, **where):
    memory.observe([{"role": "user", "content": text} for text in texts], **(S | where))
    if flush:
        memory.flush()


def texts(memory, **page):
    return [message.content for message in memory.sessions.messages(**S, **page)]


def facts(memory, status=None):
    filters = {"not_categories": [Category.CONVERSATION]}
    found = memory.list(user_id="u1", status=status, filters=filters)
    return sorted(fact.content for fact in found)


def in_files(directory, word):
    """Return True if a file of a session log holds a word."""
    return any(word.encode() in file.read_bytes() for file in directory.rglob("*.jsonl*"))


def test_pop_returns_the_latest_message(memory):
    memory.observe([Message(id="m1", role="user", content="Hello")], **S)
    memory.observe([Message(id="m2", role="assistant", content="Hi")], **S)
    popped = memory.sessions.pop(**S)
    assert (popped.id, popped.role, popped.content) == ("m2", "assistant", "Hi")
    assert texts(memory) == ["Hello"]
    assert memory.sessions.pop(**S).id == "m1"
    with pytest.raises(NotFoundError):
        memory.sessions.pop(**S)


def test_pop_takes_the_facts_that_nothing_else_says(memory):
    say(memory, "I am allergic to peanuts.", "I play the cello.")
    before = facts(memory)
    assert any("cello" in one for one in before)
    memory.sessions.pop(**S)
    assert facts(memory) == [one for one in before if "cello" not in one]
    assert not any("cello" in hit.fact.content for hit in memory.search("cello", user_id="u1"))


def test_pop_leaves_what_another_message_says_too(memory):
    say(memory, "I am allergic to peanuts.")
    before = facts(memory)
    say(memory, "I am allergic to peanuts.", session_id="s2")
    memory.sessions.pop(user_id="u1", session_id="s2")
    assert facts(memory) == before != []


def test_pop_makes_current_what_the_message_had_superseded(memory, clock):
    say(memory, "I live in Bergen.")
    clock.advance(days=3)
    say(memory, "I live in Lisbon.")
    assert any("Bergen" in one for one in facts(memory, Status.SUPERSEDED))
    memory.sessions.pop(**S)
    memory.flush()
    assert any("Bergen" in one for one in facts(memory))
    assert not any("Lisbon" in one for one in facts(memory))
    assert facts(memory, Status.SUPERSEDED) == []


def test_a_message_is_popped_before_anything_is_extracted_from_it(memory, tmp_path):
    say(memory, "I like tea.")
    say(memory, "I am allergic to peanuts.", flush=False)
    assert in_files(tmp_path, "peanut")
    assert memory.sessions.pop(**S).content == "I am allergic to peanuts."
    memory.flush()
    assert not any("peanut" in one for one in facts(memory))
    assert texts(memory) == ["I like tea."]
    assert not in_files(tmp_path, "peanut")


def test_another_message_is_popped_by_its_id(memory):
    memory.observe([{"id": one, "role": "user", "content": f"I am {one}."} for one in "abc"], **S)
    assert memory.sessions.pop(**S, message_id="b").content == "I am b."
    assert texts(memory) == ["I am a.", "I am c."]
    for unknown in ("b", "d"):
        with pytest.raises(NotFoundError, match=f"no message '{unknown}'"):
            memory.sessions.pop(**S, message_id=unknown)


def test_a_message_without_a_memory_is_erased_from_the_log(memory, tmp_path):
    recalled = f'<memories note="{NOTE}">\n- Zanzibar\n</memories>'
    say(memory, "Hello", recalled)
    assert texts(memory) == ["Hello", recalled]
    assert in_files(tmp_path, "Zanzibar")
    memory.sessions.pop(**S)
    assert texts(memory) == ["Hello"]
    assert not in_files(tmp_path, "Zanzibar")


def test_pop_takes_nothing_of_other_sessions_and_users(memory):
    say(memory, "I play the cello.", user_id="u2")
    say(memory, "I play the cello.", session_id="s2")
    say(memory, "I play the cello.")
    memory.sessions.pop(**S)
    for where in ({"user_id": "u2", "session_id": "s1"}, {"user_id": "u1", "session_id": "s2"}):
        assert len(memory.sessions.messages(**where)) == 1
    with pytest.raises(NotFoundError):
        memory.sessions.pop(**S)


def test_pops_at_once_take_different_messages(memory):
    said = [f"I have {number} cats." for number in range(8)]
    say(memory, *said, flush=False)
    popped: list[str] = []
    threads = [
        threading.Thread(target=lambda: popped.append(memory.sessions.pop(**S).content))
        for _ in said
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(popped) == sorted(said)


def test_a_popped_message_stays_gone_after_opening_again(memory, open_memory):
    say(memory, "I like tea.", "I play the cello.", flush=False)
    memory.sessions.pop(**S)
    memory.close()
    again = open_memory(settings=SETTINGS)
    again.flush()
    assert texts(again) == ["I like tea."]
    assert not any("cello" in one for one in facts(again))


def test_pages_of_messages(memory):
    say(memory, *"abcde", flush=False)
    assert texts(memory) == list("abcde")
    assert texts(memory, limit=2) == ["a", "b"]
    assert texts(memory, newest=True) == list("edcba")
    assert texts(memory, limit=2, newest=True) == ["e", "d"]
    assert texts(memory, limit=9, newest=True) == list("edcba")
    for wrong in (0, -1, True, "2"):
        with pytest.raises(InvalidInputError, match=r"^sessions\.messages: limit"):
            texts(memory, limit=wrong)
