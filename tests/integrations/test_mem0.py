"""mem0's calls, as its documentation shows them, over a memory."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from semantic_memory import SemanticMemory
from semantic_memory.integrations.mem0 import AsyncMemory, Memory
from semantic_memory.testing import InMemoryIndex

MOVIES = [
    {"role": "user", "content": "I'm planning to watch a movie tonight. Any recommendations?"},
    {"role": "assistant", "content": "How about thriller movies? They can be quite engaging."},
    {"role": "user", "content": "I'm not a big fan of thriller movies but I love sci-fi movies."},
    {"role": "assistant", "content": "Got it! I'll suggest sci-fi movies in the future."},
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SemanticMemory]:
    with SemanticMemory.open(tmp_path / "store", index=InMemoryIndex()) as opened:
        yield opened


@pytest.fixture
def m(store: SemanticMemory) -> Memory:
    return Memory(memory=store)


def texts(found: dict[str, list[dict[str, Any]]]) -> set[str]:
    return {one["memory"] for one in found["results"]}


def test_the_quickstart_of_mem0_runs(m: Memory):
    result = m.add(MOVIES, user_id="alice", metadata={"category": "movie_recommendations"})
    assert result["results"]
    for one in result["results"]:
        assert one.keys() == {"id", "memory", "metadata", "event"}
        assert one["event"] == "ADD"
        assert one["metadata"] == {"category": "movie_recommendations"}
    assert any("sci-fi" in one["memory"] for one in result["results"])

    everything = m.get_all(user_id="alice")
    assert texts(everything) == {one["memory"] for one in result["results"]}
    (first, *_) = everything["results"]
    assert first.keys() == {
        *("id", "memory", "hash", "metadata", "created_at", "updated_at", "user_id")
    }
    assert first["user_id"] == "alice"
    assert first["metadata"] == {"category": "movie_recommendations"}
    assert m.get(first["id"]) == first

    related = m.search(query="Which movies does Alice like?", user_id="alice")["results"]
    assert related[0]["score"] >= related[-1]["score"] > 0
    assert m.search("movies", user_id="alice", limit=1)["results"][0].keys() == {*first, "score"}

    data = "I love India, it is my favorite country."
    updated = m.update(memory_id=first["id"], data=data)
    assert updated == {"message": "Memory updated successfully!"}
    history = m.history(memory_id=first["id"])
    assert [(one["event"], one["old_memory"], one["new_memory"]) for one in history] == [
        ("ADD", None, first["memory"]),
        ("UPDATE", first["memory"], data),
    ]
    assert {one["memory_id"] for one in history} == {first["id"]}

    assert m.delete(memory_id=first["id"]) == {"message": "Memory deleted successfully!"}
    assert m.get(first["id"]) is None
    last = m.history(first["id"])[-1]
    assert (last["event"], last["new_memory"], last["is_deleted"]) == ("DELETE", None, True)
    assert m.delete_all(user_id="alice") == {"message": "Memories deleted successfully!"}
    assert m.get_all(user_id="alice") == {"results": []}


def test_calls_of_mem0_2_name_owner_and_number_in_filters_and_top_k(m: Memory):
    m.add("I am vegetarian.", user_id="alice", agent_id="cook")
    m.add("I play the cello.", user_id="alice")
    for filters in (
        {"user_id": "alice"},
        {"AND": [{"user_id": "alice"}]},
        {"AND": [{"user_id": "alice"}, {"metadata_key": {"ne": "x"}}]},
    ):
        assert len(m.get_all(filters=filters)["results"]) == 2
        assert len(m.search("food", filters=filters, top_k=1)["results"]) == 1
    (own,) = m.get_all(filters={"user_id": "alice", "agent_id": "cook"})["results"]
    assert "vegetarian" in own["memory"]
    assert own["agent_id"] == "cook"


def test_messages_are_kept_as_they_are_without_infer(m: Memory):
    result = m.add(MOVIES, user_id="alice", infer=False)["results"]
    assert [one["memory"] for one in result] == [one["content"] for one in MOVIES]
    assert texts(m.get_all(user_id="alice")) == {one["content"] for one in MOVIES}


def test_memories_of_users_agents_and_runs_are_apart(m: Memory):
    m.add("Likes tea", user_id="alice", infer=False)
    m.add("Likes rye", user_id="alice", run_id="r1", infer=False)
    m.add("Likes wine", user_id="bob", infer=False)
    m.add("Answers briefly", agent_id="cook", infer=False)
    m.add("Step one is done", run_id="r1", infer=False)
    assert texts(m.get_all(user_id="alice")) == {"Likes tea", "Likes rye"}
    assert texts(m.get_all(user_id="alice", run_id="r1")) == {"Likes rye"}
    assert texts(m.search("likes", user_id="bob")) == {"Likes wine"}
    assert texts(m.get_all(agent_id="cook")) == {"Answers briefly"}
    assert texts(m.get_all(run_id="r1")) == {"Step one is done"}
    m.delete_all(user_id="alice", run_id="r1")
    assert texts(m.get_all(user_id="alice")) == {"Likes tea"}
    m.delete_all(agent_id="cook")
    assert texts(m.get_all(agent_id="cook")) == set()
    m.reset()
    assert texts(m.get_all(user_id="bob")) == set()


def test_a_newer_statement_reports_what_it_ended(m: Memory):
    first = m.add("I live in Oslo.", user_id="alice")["results"]
    second = m.add("I moved to Bergen, I no longer live in Oslo.", user_id="alice")["results"]
    known = {one["id"] for one in first}
    assert {one["event"] for one in second} <= {"ADD", "UPDATE", "DELETE"}
    assert all(one["event"] != "ADD" for one in second if one["id"] in known)
    assert "Bergen" in str(m.search("Where does Alice live?", user_id="alice"))


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"category": "work"}, {"a", "b"}),
        ({"category": {"eq": "home"}}, {"c"}),
        ({"priority": {"gte": 5}}, {"b", "c"}),
        ({"priority": {"gt": 1, "lt": 9}}, {"b"}),
        ({"category": {"in": ["home", "work"]}}, {"a", "b", "c"}),
        ({"category": {"nin": ["home"]}}, {"a", "b"}),
        ({"category": "*"}, {"a", "b", "c"}),
        ({"none": "*"}, set()),
        ({"AND": [{"category": "work"}, {"priority": {"ne": 1}}]}, {"b"}),
        ({"OR": [{"category": "home"}, {"priority": 1}]}, {"a", "c"}),
        ({"NOT": [{"category": "home"}, {"priority": 1}]}, {"b"}),
        ({"AND": [{"OR": [{"category": "work"}, {"priority": 9}]}, {"NOT": [{"priority": 1}]}]},
         {"b", "c"}),
    ],
)  # fmt: skip
def test_filters_of_mem0_hold(m: Memory, filters: dict[str, Any], expected: set[str]):
    for name, category, priority in (("a", "work", 1), ("b", "work", 5), ("c", "home", 9)):
        given = {"category": category, "priority": priority}
        m.add(name, user_id="alice", metadata=given, infer=False)
    assert texts(m.get_all(user_id="alice", filters=filters)) == expected
    assert texts(m.search("a b c", user_id="alice", filters=filters)) == expected


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda m: m.add("Hi"), "At least one of 'user_id', 'agent_id', or 'run_id'"),
        (lambda m: m.search("Hi"), "At least one of"),
        (lambda m: m.get_all(), "At least one of"),
        (lambda m: m.get_all(user_id=" "), "Invalid user_id"),
        (lambda m: m.delete_all(), "reset()"),
        (lambda m: m.add(17, user_id="a"), "messages must be"),
        (lambda m: m.get_all(user_id="a", limit=-1), "limit must be"),
        (lambda m: m.search("x", user_id="a", filters={"x": {"like": 1}}), "'like'"),
        (lambda m: m.search("x", user_id="a", filters={"x": {"gt": []}}), "x"),
        (lambda m: m.add("Hi", user_id="a", prompt="Extract!"), "prompt"),
        (lambda m: m.update("unknown", "x"), "Memory with id unknown not found"),
        (lambda m: m.delete("unknown"), "Memory with id unknown not found"),
    ],
)
def test_wrong_calls_raise_value_errors(m: Memory, call: Any, reason: str):
    with pytest.raises(ValueError, match=reason.replace("(", r"\(").replace(")", r"\)")):
        call(m)


def test_unknown_memories_have_no_history_and_chat_is_not_there(m: Memory):
    assert m.get("unknown") is None
    assert m.history("unknown") == []
    with pytest.raises(NotImplementedError):
        m.chat("Hi")


def test_settings_of_mem0_are_warned_about(tmp_path: Path):
    config = {"data_dir": str(tmp_path / "own"), "vector_store": {"provider": "qdrant"}}
    with pytest.warns(UserWarning, match="vector_store"), Memory.from_config(config) as m:
        m.add("Likes tea", user_id="alice", infer=False)
    assert (tmp_path / "own").is_dir()


def test_the_asynchronous_calls_do_the_same(store: SemanticMemory):
    async def use() -> None:
        m = AsyncMemory(memory=store)
        (added,) = (await m.add("Likes tea", user_id="alice", infer=False))["results"]
        assert texts(await m.search("tea", user_id="alice")) == {"Likes tea"}
        await m.update(added["id"], "Likes mint tea")
        assert texts(await m.get_all(user_id="alice")) == {"Likes mint tea"}
        assert len(await m.history(added["id"])) == 2
        assert (await m.get(added["id"]) or {})["memory"] == "Likes mint tea"
        await m.delete(added["id"])
        await m.delete_all(user_id="alice")
        await m.reset()

    asyncio.run(use())


def test_both_classes_have_the_same_calls():
    def calls(kind: type) -> set[str]:
        return {name for name, _ in inspect.getmembers(kind) if not name.startswith("_")}

    assert calls(Memory) == calls(AsyncMemory)


def test_identifiers_are_taken_by_position_as_in_mem0_0_1(m: Memory):
    m.add("I like figs.", "alice")
    assert texts(m.search("figs", "alice")) == texts(m.get_all("alice")) == {"The user likes figs"}
    assert texts(m.get_all("bob")) == set()


def test_a_whole_number_is_an_id(m: Memory):
    m.add("Has a cat", user_id=42, infer=False)  # type: ignore[arg-type]
    assert texts(m.get_all(user_id="42")) == texts(m.search("cat", filters={"user_id": 42}))


def test_a_message_of_a_single_block_is_taken(m: Memory):
    image = {"type": "image_url", "image_url": {"url": "https://example.com/garden.jpg"}}
    m.add(
        [
            {"role": "user", "content": image},
            {"role": "user", "content": {"type": "text", "text": "I grow figs in Porto."}},
        ],
        user_id="alice",
    )
    assert texts(m.get_all(user_id="alice")) == {"The user grows figs in Porto"}
