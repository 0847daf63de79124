"""Every engine filters as `Filters` means it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semantic_memory.domain.changes import Add, FactVectors
from semantic_memory.domain.facts import Category, Fact, Source, Status
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.ports import IndexEntry, Ledger, VectorIndex
from semantic_memory.domain.retention import Periods, Unexpired
from semantic_memory.ledger.memory import MemoryLedger
from semantic_memory.ledger.sqlite import SqliteLedger
from semantic_memory.retrieval.partition import Partition
from semantic_memory.testing import InMemoryIndex
from semantic_memory.vectors.chroma.index import ChromaIndex
from tests.conftest import NOW, make_fact, unit_vectors

Filtering = Callable[[str, Sequence[Fact], Filters], set[str]]
"""Stores a new user's facts, and returns the ids of those that pass."""

VECTOR = unit_vectors(1)
NUMBERS = itertools.count()

# The very moments that filters name, and a microsecond to either side.
MOMENTS = st.tuples(st.integers(0, 1), st.integers(-1, 1)).map(
    lambda offset: NOW + timedelta(days=offset[0], microseconds=offset[1])
)
TAGS = st.sampled_from(["a", "a.b", "a.b.c", "ab", "b", "c_d", "cxd", "c.d"])
PERIODS = st.tuples(st.integers(0, 1), st.integers(0, 1)).map(
    lambda length: timedelta(days=length[0], microseconds=length[1])
)
SESSIONS = st.sampled_from([None, "s0", "s1", "s_1"])
CONFIDENCES = st.sampled_from([0.0, 0.1, 0.3, 1 / 3, 1.0])
CONDITIONS: dict[str, st.SearchStrategy[Any]] = {
    "categories": st.frozensets(st.sampled_from(Category), max_size=4),
    "tags": st.lists(TAGS, min_size=1, max_size=2).map(tuple),
    "since": MOMENTS,
    "until": MOMENTS,
    "min_confidence": CONFIDENCES,
    "session_id": SESSIONS,
    "as_of": MOMENTS,
}
# Few at a time: many together let nothing pass, whatever each of them means.
FILTERS = (
    st.sets(st.sampled_from(sorted(CONDITIONS)), max_size=3)
    .flatmap(lambda names: st.fixed_dictionaries({name: CONDITIONS[name] for name in names}))
    .map(lambda values: Filters(**values))
)


@st.composite
def facts(draw: st.DrawFn) -> Fact:
    return make_fact(
        next(NUMBERS),
        category=draw(st.sampled_from(Category)),
        status=draw(st.sampled_from([*[Status.ACTIVE] * 8, *[Status.SUPERSEDED] * 3, *Status])),
        tags=tuple(draw(st.lists(TAGS, max_size=3, unique=True))),
        created_at=draw(MOMENTS),
        valid_from=draw(MOMENTS),
        valid_to=draw(st.one_of(st.none(), MOMENTS)),
        confidence=draw(CONFIDENCES),
        source=Source(session_id=draw(SESSIONS)),
    )


def passes(fact: Fact, filters: Filters) -> bool:
    """The meaning of filters, spelled out."""
    if filters.as_of is None:
        if fact.status != "active":
            return False
    else:
        if fact.status not in ("active", "superseded") or fact.valid_from > filters.as_of:
            return False
        if fact.valid_to is not None and fact.valid_to <= filters.as_of:
            return False
    if filters.categories is not None and fact.category not in filters.categories:
        return False
    if filters.since is not None and fact.created_at < filters.since:
        return False
    if filters.until is not None and fact.created_at >= filters.until:
        return False
    if fact.confidence < filters.min_confidence:
        return False
    if filters.session_id is not None and fact.source.session_id != filters.session_id:
        return False
    return all(
        any(own == tag or own.startswith(f"{tag}.") for own in fact.tags) for tag in filters.tags
    )


def in_ledger(ledger: Ledger) -> Filtering:
    """By listing, by words and by similarity, which must agree."""

    def filtered(user_id: str, facts: Sequence[Fact], filters: Filters) -> set[str]:
        vectors = FactVectors(VECTOR, VECTOR[:0])
        ledger.apply([Add(fact, vectors) for fact in facts])
        listed = {fact.id for fact in ledger.find(user_id, filters)}
        by_words = ledger.words(user_id, ["thing"], limit=99, filters=filters)
        alike = ledger.similarities(VECTOR[0], user_id, filters)
        kept = {fact.id for fact in ledger.get([fact.id for fact in facts])}
        assert {match.id for match in by_words} == listed
        assert {match.id for batch in alike for match in batch} == listed
        assert listed <= kept
        return listed

    return filtered


def in_partition(ledger: Ledger) -> Filtering:
    def filtered(user_id: str, facts: Sequence[Fact], filters: Filters) -> set[str]:
        ledger.apply([Add(fact) for fact in facts])
        partition = Partition()
        partition.apply(ledger.delta(user_id, 0))
        snapshot = partition.snapshot(filters)
        return {snapshot.ids[row] for row in snapshot.admitted.nonzero()[0].tolist()}

    return filtered


def in_index(index: VectorIndex, begin: Callable[[str], None] = lambda _: None) -> Filtering:
    def filtered(user_id: str, facts: Sequence[Fact], filters: Filters) -> set[str]:
        begin(user_id)
        index.upsert([IndexEntry(fact, VECTOR) for fact in facts])
        return {
            match.id for match in index.query(VECTOR[0], user_id=user_id, limit=99, filters=filters)
        }

    return filtered


def in_own_collection(index: ChromaIndex) -> Filtering:
    index.upsert([IndexEntry(make_fact(10**9), VECTOR)])  # so that there is a shared one
    return in_index(index, index.own)


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Filtering]]:
    directory: Path = tmp_path_factory.mktemp("filters")
    sqlite = SqliteLedger(directory / "ledger.sqlite3")
    shared = ChromaIndex(directory / "shared", sync_threshold=1_000)
    own = ChromaIndex(directory / "own", sync_threshold=1_000)
    yield {
        "admits": lambda _, facts, filters: {f.id for f in facts if filters.admits(f)},
        "sqlite": in_ledger(sqlite),
        "memory": in_ledger(MemoryLedger()),
        "partition": in_partition(MemoryLedger()),
        "stand-in": in_index(InMemoryIndex()),
        "chroma": in_index(shared),
        "chroma-own": in_own_collection(own),
    }
    for opened in (sqlite, shared, own):
        opened.close()


NAMES = ["admits", "sqlite", "memory", "partition", "stand-in", "chroma", "chroma-own"]


@pytest.mark.parametrize("name", NAMES)
@given(st.data())
@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_an_engine_passes_what_filters_mean(
    engines: dict[str, Filtering], name: str, data: st.DataObject
) -> None:
    user_id = f"user-{next(NUMBERS)}"
    drawn = data.draw(st.lists(facts(), min_size=4, max_size=12))
    stored = [fact.model_copy(update={"user_id": user_id}) for fact in drawn]
    filters = data.draw(FILTERS)
    expected = {fact.id for fact in stored if passes(fact, filters)}
    assert engines[name](user_id, stored, filters) == expected


@pytest.mark.parametrize("name", ["admits", "sqlite", "memory", "partition", "stand-in"])
@given(
    st.data(),
    st.dictionaries(st.sampled_from(Category), PERIODS, max_size=2),
    st.dictionaries(TAGS, PERIODS, max_size=2),
)
@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_an_engine_leaves_out_what_has_expired(
    engines: dict[str, Filtering],
    name: str,
    data: st.DataObject,
    categories: dict[Category, timedelta],
    tags: dict[str, timedelta],
) -> None:
    user_id = f"user-{next(NUMBERS)}"
    drawn = data.draw(st.lists(facts(), min_size=4, max_size=12))
    stored = [
        fact.model_copy(
            update={
                "user_id": user_id,
                "status": Status.ACTIVE,
                "expires_at": data.draw(st.one_of(st.none(), MOMENTS)),
                "confirmed_at": data.draw(st.one_of(st.none(), MOMENTS)),
                "tags": (*fact.tags, *data.draw(st.sampled_from([(), (), ("pinned",)]))),
            }
        )
        for fact in drawn
    ]
    filters = Filters().unexpired(Unexpired(NOW, Periods(categories, tags)))
    expected = {fact.id for fact in stored if not _expired(fact, categories, tags)}
    assert engines[name](user_id, stored, filters) == expected


def _expired(fact: Fact, categories: dict[Category, timedelta], tags: dict[str, timedelta]) -> bool:
    """The meaning of expiry, spelled out."""
    said = max(fact.created_at, fact.confirmed_at or fact.created_at)
    ends = [] if fact.expires_at is None else [fact.expires_at]
    ends += [said + period for category, period in categories.items() if category == fact.category]
    ends += [
        said + period
        for tag, period in tags.items()
        if any(own == tag or own.startswith(f"{tag}.") for own in fact.tags)
    ]
    return "pinned" not in fact.tags and any(end <= NOW for end in ends)


@pytest.mark.parametrize("name", ["sqlite", "memory"])
@given(st.data(), st.sampled_from(Status))
@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_a_status_stands_in_for_being_active(
    ledgers: dict[str, Ledger], name: str, data: st.DataObject, status: Status
) -> None:
    ledger, user_id = ledgers[name], f"user-{next(NUMBERS)}"
    drawn = data.draw(st.lists(facts(), min_size=4, max_size=12))
    stored = [fact.model_copy(update={"user_id": user_id}) for fact in drawn]
    filters = data.draw(FILTERS).model_copy(update={"as_of": None})
    ledger.apply([Add(fact) for fact in stored])
    expected = {
        fact.id
        for fact in stored
        if fact.status is status
        and passes(fact.model_copy(update={"status": Status.ACTIVE}), filters)
    }
    assert {fact.id for fact in ledger.find(user_id, filters, status=status)} == expected


@pytest.fixture(scope="module")
def ledgers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Ledger]]:
    sqlite = SqliteLedger(tmp_path_factory.mktemp("filters") / "ledger.sqlite3")
    yield {"sqlite": sqlite, "memory": MemoryLedger()}
    sqlite.close()
