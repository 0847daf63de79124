"""The LangGraph store: the contract of `BaseStore`, and an agent with a scripted model."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)

from examples import langgraph_agent
from semantic_memory import AccessDeniedError, InvalidInputError, SemanticMemory
from semantic_memory.aio import AsyncSemanticMemory
from semantic_memory.client import AsyncClient, Client
from semantic_memory.integrations.identifiers import identifier_of
from semantic_memory.integrations.langgraph import SemanticMemoryStore
from semantic_memory.testing import FrozenClock
from tests.service.conftest import R, W, served


def owner(namespace: tuple[str, ...]) -> str:
    return namespace[1]


@pytest.fixture
def store(memory: SemanticMemory) -> SemanticMemoryStore:
    return SemanticMemoryStore(memory, user_of=owner)


def found(store: SemanticMemoryStore, **asked: Any) -> list[str]:
    return [item.key for item in store.search(("m",), **asked)]


def test_an_item_is_read_as_it_was_put(store: SemanticMemoryStore) -> None:
    value = {"n": 10**100, "f": 1.0, "ok": True, "none": None, "list": [{"x": "ü"}]}
    store.put(("m", "maya"), "k", value)
    item = store.get(("m", "maya"), "k")
    assert item is not None
    assert (item.namespace, item.key, item.value) == (("m", "maya"), "k", value)
    store.delete(("m", "maya"), "k")
    store.delete(("m", "maya"), "k")
    assert store.get(("m", "maya"), "k") is None


def test_nan_is_refused_and_nothing_of_the_batch_is_kept(store: SemanticMemoryStore) -> None:
    puts = [PutOp(("m", "maya"), "a", {"n": 1}), PutOp(("m", "maya"), "b", {"n": math.nan})]
    with pytest.raises(ValueError, match="nan, which is no number in JSON"):
        store.batch(puts)
    assert found(store) == []


FILTERS: list[tuple[dict[str, Any], list[str]]] = [
    ({"n": 1}, ["number"]),
    ({"n": 1.0}, ["number"]),
    ({"n": True}, ["truth"]),
    ({"n": {"$eq": True}}, ["truth"]),
    ({"n": {"$ne": 1}}, ["big", "deep", "none", "text", "truth"]),
    ({"n": {"$gt": 0}}, ["big", "number"]),
    ({"n": {"$lt": 10**100}}, ["number"]),
    ({"n": {"$gte": 10**100}}, ["big"]),
    ({"n": {"$lte": math.inf}}, ["big", "number"]),
    ({"n": {"$gt": math.nan}}, []),
    ({"n": {"$eq": math.nan}}, []),
    ({"n": {"$gt": "0"}}, ["text"]),
    ({"n": {"$gt": 0, "$lt": 5}}, ["number"]),
    ({"n": None}, ["deep", "none"]),
    ({"user.name": "Ann"}, ["deep"]),
    ({"user": {"name": "Ann"}}, ["deep"]),
    ({"user": {"name": {"$ne": "Bob"}}}, ["deep"]),
    ({"a.b": "literal"}, ["deep"]),
    ({"access-level": "x y'; --"}, ["deep"]),
    ({"list": [1, {"x": True}]}, ["deep"]),
    ({"list": [1, {"x": 1}]}, []),
]


@pytest.mark.parametrize(("asked", "keys"), FILTERS, ids=[str(asked) for asked, _ in FILTERS])
def test_filters_compare_as_json_does(
    store: SemanticMemoryStore, asked: dict[str, Any], keys: list[str]
) -> None:
    values = {"number": 1, "truth": True, "text": "1", "none": None, "big": 10**100}
    for key, value in values.items():
        store.put(("m", "maya"), key, {"n": value})
    deep = {"user": {"name": "Ann"}, "a.b": "literal", "list": [1, {"x": True}]}
    store.put(("m", "maya"), "deep", {**deep, "access-level": "x y'; --"})
    assert sorted(found(store, filter=asked)) == keys


INJECTIONS = [
    "access') = 'public' OR '1'='1' OR json_extract(value, '$.",
    "a' OR 1=1 --",
    'a"]) OR 1=1; DROP TABLE items; --',
    "a) UNION SELECT value FROM items",
    "a\x00b",
    "a..b",
    ".a",
    "",
    "$where",
    "x" * 300,
]


@pytest.mark.parametrize("key", INJECTIONS)
def test_keys_of_filters_that_are_no_paths_are_refused(
    store: SemanticMemoryStore, key: str
) -> None:
    store.put(("m", "maya"), "private", {"access": "private"})
    with pytest.raises(ValueError, match=r"Invalid filter key|unknown operator"):
        store.search(("m",), filter={key: "dummy"})
    assert found(store) == ["private"]


def test_prefixes_are_of_whole_labels(store: SemanticMemoryStore) -> None:
    for namespace in (("m", "maya"), ("m", "maya", "x"), ("m", "mayaX"), ("mm", "maya")):
        store.put(namespace, "k", {})
    places = {item.namespace for item in store.search(("m", "maya"))}
    assert places == {("m", "maya"), ("m", "maya", "x")}
    assert store.list_namespaces(prefix=("m",), max_depth=2) == [("m", "maya"), ("m", "mayaX")]
    assert store.list_namespaces(suffix=("maya",)) == [("m", "maya"), ("mm", "maya")]
    assert store.list_namespaces(prefix=("*", "maya"), limit=2) == [
        ("m", "maya"),
        ("m", "maya", "x"),
    ]
    both = ListNamespacesOp((MatchCondition("prefix", ("*",)), MatchCondition("suffix", ("x",))))
    assert store.batch([both]) == [[("m", "maya", "x")]]


@pytest.mark.parametrize("namespace", [("foo.bar",), ("foo", ""), ("foo", 1)])
def test_a_batch_with_an_invalid_namespace_writes_nothing(
    store: SemanticMemoryStore, namespace: Any
) -> None:
    for op in (GetOp(namespace, "k"), PutOp(namespace, "k", {}), SearchOp(namespace)):
        with pytest.raises(InvalidNamespaceError):
            store.batch([PutOp(("m", "maya"), "k", {}), op])
    assert found(store) == []


def test_the_last_put_of_a_key_in_a_batch_wins_and_reads_come_first(
    store: SemanticMemoryStore,
) -> None:
    place = ("m", "maya")
    results = store.batch(
        [
            PutOp(place, "k", {"n": 1}),
            GetOp(place, "k"),
            PutOp(place, "k", None),
            PutOp(place, "k", {"n": 2}),
            PutOp(place, "gone", {}),
            PutOp(place, "gone", None),
        ]
    )
    assert results == [None] * 6
    assert [(item.key, item.value) for item in store.search(place)] == [("k", {"n": 2})]


def test_an_empty_query_lists(store: SemanticMemoryStore) -> None:
    for number in range(3):
        store.put(("m", "maya"), str(number), {"text": "tea"})
    for query in ("", " ", None):
        assert found(store, query=query) == ["2", "1", "0"]
    assert found(store, query="", limit=1, offset=1) == ["1"]
    assert found(store, limit=0) == []
    assert [item.score for item in store.search(("m",), query="")] == [None] * 3


def test_search_is_by_the_indexed_paths(memory: SemanticMemory) -> None:
    store = SemanticMemoryStore(memory, user_of="maya", fields=["text", "notes[*].body"])
    store.put(("m",), "tea", {"text": "green tea", "other": "volcano"})
    store.put(("m",), "note", {"notes": [{"body": "a lamp"}, {"body": "volcano"}]})
    store.put(("m",), "own", {"text": "volcano", "title": "piano"}, index=["title"])
    store.put(("m",), "none", {"text": "volcano"}, index=False)
    best, *rest = store.search(("m",), query="volcano")
    assert (best.key, {item.key for item in rest}) == ("note", {"tea", "own"})
    assert best.score == pytest.approx(1.0, abs=1e-3)
    assert store.search(("m",), query="piano")[0].key == "own"
    assert store.search(("m",), query="volcano " * 5_000)  # as long as a prompt


def test_time_to_live_begins_anew_on_reading(memory: SemanticMemory, still: FrozenClock) -> None:
    store = SemanticMemoryStore(memory, user_of="maya", ttl={"default_ttl": 10})
    place = ("m",)
    store.put(place, "read", {})
    store.put(place, "unread", {})
    store.put(place, "peeked", {})
    store.put(place, "short", {}, ttl=1)
    store.put(place, "kept", {}, ttl=None)
    still.advance(minutes=6)
    assert store.get(place, "short") is None
    assert store.get(place, "read") is not None
    assert store.get(place, "peeked", refresh_ttl=False) is not None
    still.advance(minutes=6)
    assert found(store, refresh_ttl=False) == ["kept", "read"]
    assert store.sweep_ttl() == 3
    assert memory.admin.stats().items == 2


def test_refresh_on_read_can_be_turned_off(memory: SemanticMemory, still: FrozenClock) -> None:
    store = SemanticMemoryStore(
        memory, user_of="maya", ttl={"default_ttl": 10, "refresh_on_read": False}
    )
    store.put(("m",), "k", {})
    store.put(("m",), "wanted", {})
    for _ in range(2):
        still.advance(minutes=6)
        store.get(("m",), "k")
        store.get(("m",), "wanted", refresh_ttl=True)
    assert found(store) == ["wanted"]


def test_synchronous_calls_on_the_event_loop_raise(store: SemanticMemoryStore) -> None:
    async def call() -> None:
        with pytest.raises(asyncio.InvalidStateError, match=r"await store\.aget"):
            store.get(("m", "maya"), "k")
        await store.aput(("m", "maya"), "k", {"n": 1})
        assert (await store.aget(("m", "maya"), "k")) is not None

    asyncio.run(call())


def test_concurrent_puts_are_done_in_order(store: SemanticMemoryStore) -> None:
    async def put() -> None:
        puts = [store.aput(("m", "maya"), f"k{n % 2}", {"n": n}) for n in range(20)]
        await asyncio.gather(*puts)

    asyncio.run(put())
    assert {item.key: item.value["n"] for item in store.search(("m",))} == {"k0": 18, "k1": 19}


def test_items_go_with_their_user(memory: SemanticMemory, store: SemanticMemoryStore) -> None:
    store.put(("m", "maya"), "k", {"text": "hers"})
    store.put(("m", "Zoë B/1"), "k", {"text": "theirs"})
    assert memory.admin.users() == [identifier_of("Zoë B/1"), "maya"]
    gone = memory.forget(user_id="maya", everything=True, dry_run=True)
    assert (int(gone), gone.items) == (0, 1)
    memory.forget(user_id="maya", everything=True)
    assert [item.namespace for item in store.search(("m",))] == [("m", "Zoë B/1")]
    with pytest.raises(InvalidInputError, match="names no owner"):
        store.put(("short",), "k", {})


def test_other_items_of_the_memory_are_out_of_reach(
    memory: SemanticMemory, store: SemanticMemoryStore
) -> None:
    memory.items.put(["other"], "k", {}, user_id="maya")
    assert store.search(()) == []
    assert store.list_namespaces() == []


IDS = ["maya", "a b", "a+20b", "esc:a+20b", "Zoë", "ü" * 200, "ü" * 199 + "x", "~", "/../", "\x00"]


def test_ids_are_encoded_and_stay_apart() -> None:
    found = [identifier_of(one) for one in IDS]
    assert len(set(found)) == len(IDS)
    assert found[0] == "maya"
    for one in found:
        assert identifier_of("x" + one[:100]) == "x" + one[:100]  # of the characters of an id
        assert len(one) <= 128


def test_a_store_works_over_a_client(tmp_path: Any) -> None:
    with served(tmp_path / "served") as service, Client(service.url) as client:
        store = SemanticMemoryStore(client, user_of=owner, ttl={"default_ttl": 5})
        store.put(("m", "a b"), "k/1", {"text": "green tea", "n": 10**30})
        assert store.search(("m",), query="tea")[0].value == {"text": "green tea", "n": 10**30}
        assert store.list_namespaces(max_depth=1) == [("m",)]

        async def read() -> None:
            async with AsyncClient(service.url) as waiting:
                over = SemanticMemoryStore(waiting, user_of=owner)
                await over.aput(("m", "a b"), "k2", {"text": "coffee"})
                assert [item.key for item in await over.asearch(("m",))] == ["k2", "k/1"]
                assert await over.aget(("m", "a b"), "nothing") is None
                await over.adelete(("m", "a b"), "k2")

        asyncio.run(read())
        assert found(store) == ["k/1"]


def test_an_asynchronous_memory_is_taken_too(memory: SemanticMemory) -> None:
    store = SemanticMemoryStore(AsyncSemanticMemory(memory), user_of="maya")
    store.put(("m",), "k", {})
    assert found(store) == ["k"]


def test_an_agent_remembers_over_its_store(tmp_path: Any, capsys: Any) -> None:
    langgraph_agent.run(tmp_path / "store")
    printed = capsys.readouterr().out
    assert "agent: You told me: allergic to peanuts" in printed
    assert "kept: {'text': 'allergic to peanuts'}" in printed


def test_a_key_of_an_agent_keeps_items_below_the_agents_label(tmp_path: Path) -> None:
    with (
        served(tmp_path / "served") as service,
        Client(service.url, api_key=service.token(["maya"], [R, W], agent_id="cook")) as client,
    ):
        store = SemanticMemoryStore(client, user_of="maya", root="agent:cook")
        store.put(("notes",), "k", {"text": "likes rye"})
        assert [item.key for item in store.search(("notes",), query="rye")] == ["k"]
        assert store.list_namespaces() == [("notes",)]
        with pytest.raises(AccessDeniedError, match="begin with the label 'agent:cook'"):
            SemanticMemoryStore(client, user_of="maya").put(("notes",), "k", {"text": "rye"})
