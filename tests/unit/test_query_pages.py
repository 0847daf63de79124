"""Listings page by page while memories change, and filters of every verb of the library."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_memory import InvalidInputError
from semantic_memory.domain.changes import Add, Forget, Touch, Update
from semantic_memory.domain.fields import Sort
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.ports import Ledger
from semantic_memory.ledger.sqlite import SqliteLedger
from tests.conftest import NOW, make_fact

USER = "u1"
NUMBER = 7
LEVELS = st.sampled_from([0.1, 0.5, 0.5, 0.9])
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, 9), LEVELS),
        st.tuples(st.just("forget"), st.integers(0, NUMBER - 1), LEVELS),
        st.tuples(st.just("importance"), st.integers(0, NUMBER - 1), LEVELS),
        st.tuples(st.just("touch"), st.integers(0, NUMBER - 1), LEVELS),
        st.tuples(st.just("merge"), st.integers(0, NUMBER - 1), LEVELS),
    ),
    max_size=2,  # the first place of a memory that changes nine times meanwhile is forgotten
)


class Store:
    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.forgotten: set[str] = set()
        self.next = 100

    def change(self, what: str, number: int, level: float) -> None:
        fact_id = f"fact-{number}"
        if what == "add":
            at = NOW - timedelta(hours=number)
            fact = make_fact(self.next, importance=level, confidence=level, created_at=at)
            self.next += 1
            self.ledger.apply([Add(fact)])
            return
        found = self.ledger.get([fact_id])
        if not found:
            return
        match what:
            case "forget":
                self.ledger.apply([Forget(fact_id, NOW)])
                self.forgotten.add(fact_id)
            case "touch":
                self.ledger.apply([Touch(fact_id, confidence=level)])
            case "importance":
                changed = found[0].model_copy(update={"importance": level})
                self.ledger.apply([Update(changed, "edited", NOW)])
            case "merge":  # which keeps the earlier date
                earlier = found[0].created_at - timedelta(days=3)
                changed = found[0].model_copy(update={"created_at": earlier})
                self.ledger.apply([Update(changed, "merged", NOW)])


@pytest.mark.parametrize("order", ["time", "importance", "confidence", "relevance"])
@given(
    levels=st.lists(LEVELS, min_size=NUMBER, max_size=NUMBER),
    between=st.lists(CHANGES, min_size=4, max_size=4),
    size=st.integers(1, 3),
)
@settings(max_examples=60, deadline=None)
def test_pages_repeat_and_skip_nothing_whatever_is_written_meanwhile(
    tmp_path_factory: pytest.TempPathFactory,
    order: Sort,
    levels: list[float],
    between: list[list[tuple[str, int, float]]],
    size: int,
):
    ledger = SqliteLedger(tmp_path_factory.mktemp("pages") / "ledger.sqlite3")
    store = Store(ledger)
    facts = [
        make_fact(
            number,
            importance=level,
            confidence=1.0 - level,
            created_at=NOW + timedelta(hours=level * 10),
        )
        for number, level in enumerate(levels)
    ]
    ledger.apply([Add(fact) for fact in facts])
    first_order = [fact.id for fact in ledger.page(USER, NO_FILTERS, order=order).facts]
    seen: list[str] = []
    behind = None
    changes = iter(between)
    while True:
        page = ledger.page(USER, NO_FILTERS, order=order, limit=size, behind=behind)
        seen += [fact.id for fact in page.facts]
        behind = page.next
        if behind is None:
            break
        for change in next(changes, []):
            store.change(*change)
    ledger.close()
    # in the order of the first page; only what is forgotten may be missing
    assert seen == [one for one in first_order if one in seen]
    assert set(first_order) - set(seen) <= store.forgotten


@pytest.fixture
def filled(memory: Any, clock: Any) -> Any:
    """A memory of five facts, one an hour, that refer to each other in a circle."""
    ids: list[str] = []
    for number, text in enumerate(("alpha web apps", "beta", "gamma", "delta", "epsilon")):
        clock.advance(hours=1)
        fact = memory.add(
            text,
            user_id=USER,
            importance=number / 10,
            tags=["odd" if number % 2 else "even.x"],
            references=ids[-1:],
            metadata={"number": number},
        )
        ids.append(fact.id)
    memory.update(ids[0], references=[ids[-1]])
    return memory, ids


def test_the_pages_of_the_library_follow_their_cursor(filled: Any, clock: Any):
    memory, ids = filled
    first = memory.list(user_id=USER, filters="sort:importance when:today", limit=2)
    assert [fact.id for fact in first] == [ids[4], ids[3]]
    memory.update(ids[2], importance=1.0)
    memory.update(ids[4], importance=0.0)
    memory.delete(ids[1])
    memory.add("zeta", user_id=USER, importance=0.05)
    clock.advance(days=2)  # the words still mean the day of the first page
    rest = memory.list(
        user_id=USER, filters="sort:importance when:today", limit=9, after=first.next
    )
    assert [fact.id for fact in rest] == [ids[2], ids[0]]
    assert rest.next is None


def test_a_cursor_is_of_its_own_listing_alone(filled: Any):
    memory, ids = filled
    page = memory.list(user_id=USER, filters="tag:even", limit=1)
    for asked in (
        {"user_id": "other", "filters": "tag:even"},
        {"user_id": USER, "filters": "tag:odd"},
        {"user_id": USER, "filters": "tag:even sort:confidence"},
        {"user_id": USER, "filters": "tag:even", "status": "archived"},
    ):
        with pytest.raises(InvalidInputError, match="of another listing"):
            memory.list(**asked, after=page.next)
    for broken in ("~", "~!!", page.next[:-9], "~" + "A" * 200, "~W10", page.next + "A"):
        with pytest.raises(InvalidInputError):
            memory.list(user_id=USER, filters="tag:even", after=broken)
    ordered = memory.list(user_id=USER, filters="sort:importance", after=ids[3])
    assert [fact.id for fact in ordered] == [ids[2], ids[1], ids[0]]


def test_references_are_followed_to_a_depth_and_around_a_circle(filled: Any):
    memory, ids = filled

    def found(query: str) -> set[int]:
        return {ids.index(fact.id) for fact in memory.list(user_id=USER, filters=query)}

    assert found(f"referred_by:{ids[2]}") == {1}
    assert found(f"referred_by:{ids[2]} depth:2") == {0, 1}
    assert found(f"refers_to:{ids[2]}") == {3}
    assert found(f"refers_to:{ids[2]} depth:10") == {0, 1, 3, 4}
    assert found(f"refers_to:{ids[2]} depth:10 tag:odd meta.number:<3") == {1}
    assert found("refers_to:nothing") == set()


def test_a_search_is_narrowed_cut_and_sorted(filled: Any):
    memory, ids = filled
    everything = memory.search("alpha beta gamma", user_id=USER)
    assert len(everything) == len(ids)
    hits = memory.search("alpha beta gamma", user_id=USER, filters='"web apps"')
    assert [hit.fact.id for hit in hits] == [ids[0]]
    hits = memory.search("beta", user_id=USER, filters="-meta.number:2 sort:time limit:3")
    assert len(hits) == 3
    times = [hit.fact.created_at for hit in hits]
    assert times == sorted(times, reverse=True)
    best = memory.search("beta", user_id=USER)[0].score
    hits = memory.search("beta", user_id=USER, filters={"min_score": best})
    assert [hit.fact.id for hit in hits] == [ids[1]]
    assert memory.search("beta", user_id=USER, min_score=best) == hits
    assert memory.search("beta", user_id=USER, min_score=best + 0.001) == []
    with pytest.raises(InvalidInputError, match="given in the query and beside it"):
        memory.search("beta", user_id=USER, filters="min_score:0.1", min_score=0.2)
    for wrong in (-0.1, float("nan"), True, "high"):
        with pytest.raises(InvalidInputError):
            memory.search("beta", user_id=USER, min_score=wrong)
    block = memory.context("beta", user_id=USER, filters="bet*")
    assert [hit.fact.id for hit in block.hits] == [ids[1]]


def test_a_dry_run_of_forgetting_shows_what_the_next_one_forgets(filled: Any):
    memory, ids = filled
    query = "tag:even min_importance:0.1"
    shown = memory.forget(user_id=USER, filters=query, dry_run=True)
    assert shown == 2
    assert [fact.id for fact in shown.memories] == [ids[4], ids[2]]
    assert len(memory.list(user_id=USER)) == 5
    forgotten = memory.forget(user_id=USER, filters=query, reason="asked to")
    assert forgotten == 2
    assert not forgotten.memories
    assert {fact.id for fact in memory.list(user_id=USER)} == {ids[0], ids[1], ids[3]}
    assert memory.forget(user_id=USER, everything=True, dry_run=True) == 3
    assert len(memory.list(user_id=USER)) == 3


@pytest.mark.parametrize("filters", ["", {}, Filters(), "sort:time", "limit:1", "min_score:0.5"])
def test_forgetting_needs_a_condition(filled: Any, filters: Any):
    memory, ids = filled
    for narrowed in ({}, {"filters": filters}):
        with pytest.raises(InvalidInputError, match=r"say what to forget.*`everything` alone"):
            memory.forget(user_id=USER, **narrowed)
    with pytest.raises(InvalidInputError, match="for searching and listing"):
        memory.forget(user_id=USER, filters="tag:odd limit:1")
    assert len(memory.list(user_id=USER)) == len(ids)


def test_an_export_holds_what_passes(filled: Any):
    memory, ids = filled
    records = [*memory.transfer.export(user_id=USER, filters="tag:odd")]
    assert [one["fact"]["id"] for one in records if one["kind"] == "fact"] == [ids[1], ids[3]]
    with pytest.raises(InvalidInputError, match="export: sort"):
        memory.transfer.export(user_id=USER, filters="sort:time")


def test_words_follow_a_changed_content(filled: Any):
    memory, ids = filled
    memory.update(ids[1], content="Zürich's 東京 apps")
    for query in ("zurich", "ZÜR*", "東京", '"s 東"', "apps -web", "京"):
        assert [fact.id for fact in memory.list(user_id=USER, filters=query)] == [ids[1]], query
    assert not memory.list(user_id=USER, filters="beta")


HOSTILE = (
    "' OR 1=1 --", '" OR "1"="1', "x; DROP TABLE facts", "%", "_", "*", "NEAR(a b)", "owner:u1",
    "text:beta", "a AND b", "{text}:x", "^beta", "beta + alpha", "$.metadata", "a']", '\\"', "\x00",
    "\ud800", "🦆" * 50, "a" * 5_000, "-- ", "/*", "?1", ":x", "@x", "\u202e",
)  # fmt: skip


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_hostile_value_is_a_value(filled: Any, hostile: str):
    memory, ids = filled
    for asked in (
        {"words": [hostile]},
        {"not_words": [hostile], "tags": ["none"]},
        {"tags": [hostile]},
        {"any_tags": [hostile]},
        {"session_id": hostile},
        {"ids": [hostile]},
        {"refers_to": hostile},
        {"since": hostile},
        {"when": hostile},
        {"metadata": {hostile: 1}},
        {"metadata": {"number": hostile}},
        {"metadata": {"number": {"$gt": hostile}}},
        {hostile: 1},
        hostile,
        f'tag:"{hostile}"',
        f"meta.{hostile}:1",
    ):
        try:
            found = memory.list(user_id=USER, filters=asked)
        except InvalidInputError:
            continue
        assert len(found) < len(ids) or not str(asked).strip("-/* "), asked
    assert len(memory.list(user_id=USER)) == len(ids)
