"""Items: the contract of every ledger."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from semantic_memory.domain.changes import (
    DropItem,
    EmbedItem,
    EraseItems,
    PutItem,
    RefreshItems,
)
from semantic_memory.domain.items import Item, ItemScope
from tests.conftest import NOW, unit_vectors

LATER = NOW + timedelta(hours=1)


def put(
    key: str = "k",
    namespace: tuple[str, ...] = ("a",),
    user_id: str = "u1",
    at: datetime = NOW,
    **rest: Any,
) -> PutItem:
    change = {name: rest.pop(name) for name in ("terms", "vectors", "fresh") if name in rest}
    values = {"value": {"n": 1}, **rest}
    item = Item(
        user_id=user_id, namespace=namespace, key=key, created_at=at, updated_at=at, **values
    )
    return PutItem(item, at, **change)


def scope(*prefix: str, user_id: str | None = "u1", now: datetime = NOW) -> ItemScope:
    return ItemScope(user_id, prefix, now)


def keys(ledger, *prefix: str, **rest: Any) -> list[str]:
    return [one.item.key for one in ledger.items(scope(*prefix, **rest), limit=99)]


def test_an_item_comes_back_as_it_was_put(ledger):
    value = {"big": 10**100, "list": [1, 1.0, True, None, "\x00ü"], "": {"x": []}}
    change = put("k/ é", ("a\n", "%1F", "\x1f"), value=value, ttl=1.5, expires_at=LATER)
    assert ledger.apply([change]) == 1
    found = ledger.item("u1", ("a\n", "%1F", "\x1f"), "k/ é", NOW)
    assert found.item == change.item
    assert [type(one) for one in found.item.value["list"]] == [int, float, bool, type(None), str]


def test_the_last_put_stands_with_the_first_creation(ledger):
    ledger.apply([put(value={"n": 1}), put(at=LATER, value={"n": 2})])
    found = ledger.item("u1", ("a",), "k", LATER)
    assert found.item.value == {"n": 2}
    assert (found.item.created_at, found.item.updated_at) == (NOW, LATER)
    assert ledger.apply([put(value={"n": 3}, fresh=True)]) == 0
    assert ledger.items_of([found.num]) == [found]
    assert ledger.count_items() == 1


def test_users_have_items_of_their_own_under_one_key(ledger):
    ledger.apply([put(value={"n": 1}), put(user_id="u2", value={"n": 2})])
    assert ledger.item("u2", ("a",), "k", NOW).item.value == {"n": 2}
    ledger.apply([DropItem("u2", ("a",), "k")])
    assert ledger.item("u2", ("a",), "k", NOW) is None
    assert ledger.item("u1", ("a",), "k", NOW) is not None
    assert ledger.users() == ["u1"]


def test_prefixes_are_of_whole_labels(ledger):
    places = [("a",), ("a", "b"), ("ab",), ("a b",), ("a%",), ("A",), ("b", "a")]
    ledger.apply([put(str(n), place) for n, place in enumerate(places)])
    assert keys(ledger, "a") == ["1", "0"]
    assert keys(ledger, "a", "b") == ["1"]
    assert keys(ledger) == ["6", "5", "4", "3", "2", "1", "0"]
    assert ledger.namespaces(scope("a")) == [("a",), ("a", "b")]
    assert ledger.namespaces(scope()) == sorted(places)


def test_items_are_read_page_by_page(ledger):
    ledger.apply([put(str(number)) for number in range(5)])
    first = ledger.items(scope(), limit=2)
    second = ledger.items(scope(), limit=9, behind=first[-1].num)
    assert [one.item.key for one in (*first, *second)] == ["4", "3", "2", "1", "0"]


def test_what_has_expired_is_gone_at_once_and_erased_later(ledger):
    ledger.apply([put("short", ttl=3_600.0, expires_at=LATER), put("long"), put("z", user_id="u2")])
    assert keys(ledger, now=LATER) == ["long"]
    assert ledger.item("u1", ("a",), "short", LATER) is None
    assert ledger.count_items("u1", expired_by=LATER) == 1
    num = ledger.item("u1", ("a",), "short", NOW).num
    ledger.apply([RefreshItems([num], NOW + timedelta(minutes=30))])
    assert keys(ledger, now=LATER) == ["long", "short"]
    ledger.apply([EraseItems("u1", NOW + timedelta(hours=2))])
    assert keys(ledger) == ["long"]
    assert ledger.count_items() == 2


def test_a_put_after_the_expiry_is_a_new_item(ledger):
    ledger.apply([put(expires_at=LATER), put(at=LATER, fresh=True)])
    assert ledger.item("u1", ("a",), "k", LATER).item.created_at == LATER


def test_vectors_and_words_follow_their_item(ledger):
    ledger.apply([put(terms=frozenset({"tea"})), put("none", index=())])
    (waiting,) = ledger.unembedded_items(9)
    rows = unit_vectors(3)
    assert ledger.apply([EmbedItem(waiting.num, {"a": rows[:2], "b": rows[2:]})]) == 1
    nums, found = ledger.item_vectors(scope("a"))
    assert nums.tolist() == [waiting.num] * 3
    assert found.tolist() == rows.tolist()
    assert ledger.item_terms(scope(), ["tea", "x"]) == (2, {waiting.num: frozenset({"tea"})})
    assert ledger.item_vectors(scope(user_id="u2")).nums.tolist() == []
    ledger.apply([put(vectors={"$": rows[:1]})])
    assert ledger.apply([EmbedItem(waiting.num, {"$": rows})]) == 0  # it was put again
    assert ledger.unembedded_items(9) == []
    assert len(ledger.item_vectors(scope()).nums) == 1
    assert ledger.item_terms(scope(), ["tea"]).held == {}


def test_another_embedder_waits_for_all_vectors(ledger):
    ledger.apply([put(vectors={"$": unit_vectors(1)}), put("none", index=())])
    ledger.drop_vectors("embedder", "x")
    assert [one.item.key for one in ledger.unembedded_items(9)] == ["k"]
    assert ledger.item_vectors(scope()).nums.tolist() == []


def test_everything_of_a_user_is_erased(ledger):
    ledger.apply([put(), put("x", ("b",)), put(user_id="u2")])
    assert ledger.apply([EraseItems("u1")]) == 1
    assert (ledger.count_items("u1"), ledger.count_items()) == (0, 1)
    ledger.apply([EraseItems(None)])
    assert ledger.count_items() == 0


def test_a_number_is_never_used_again(ledger):
    ledger.apply([put()])
    num = ledger.item("u1", ("a",), "k", NOW).num
    ledger.apply([DropItem("u1", ("a",), "k"), put()])
    assert ledger.item("u1", ("a",), "k", NOW).num > num
