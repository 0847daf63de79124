"""Any course of changes leaves the same behind in every ledger."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semantic_memory.domain.bodies import Procedure
from semantic_memory.domain.changes import (
    Add,
    Advance,
    Change,
    Cursor,
    Cut,
    DropItem,
    Embed,
    EmbedItem,
    EraseItems,
    EraseLines,
    EraseReasons,
    Evict,
    Extracted,
    Forget,
    Keyed,
    Mark,
    PutItem,
    Redact,
    Redacted,
    RefreshItems,
    Retire,
    Touch,
    Update,
    Weigh,
    Write,
)
from semantic_memory.domain.errors import ConcurrentUpdateError, NotFoundError
from semantic_memory.domain.facts import Fact, Source, Status
from semantic_memory.domain.items import Item
from semantic_memory.domain.observers import ignore_event
from semantic_memory.domain.ports import Ledger
from semantic_memory.domain.profile import Line
from tests.conftest import NOW, make_fact, unit_vectors
from tests.contract.conftest import contents, makers, vectors
from tests.support.effort import rounds

NUMBERS = st.integers(0, 3)
FACT_IDS = NUMBERS.map("fact-{}".format)
USERS = st.sampled_from(["u1", "u1", "u2"])
MOMENTS = st.integers(-3, 3).map(lambda halves: NOW + timedelta(days=halves / 2))
TEXTS = st.sampled_from(["Thing", "thing.", "Tea thing", "Coffee"])
PLACES = st.sampled_from(["s1/m1", "s1/m2", "s2/m1"])
VECTORS = st.one_of(st.none(), NUMBERS.map(vectors))

SOURCES = st.builds(
    Source,
    session_id=st.sampled_from([None, "s1", "s2"]),
    message_ids=st.sampled_from([(), ("m1",), ("m1", "m2")]),
    position=st.one_of(st.none(), st.integers(0, 4)),
    speaker=st.sampled_from([None, "Ann"]),
)


@st.composite
def facts(draw: st.DrawFn) -> Fact:
    number = draw(NUMBERS)
    return make_fact(
        number,
        user_id="u2" if number == 3 else "u1",  # a fact never changes hands
        agent_id=draw(st.sampled_from([None, None, "a"])),
        content=draw(TEXTS),
        category=draw(st.sampled_from(["preference", "project", "conversation"])),
        status=draw(st.sampled_from([s for s in Status if s is not Status.FORGOTTEN])),
        created_at=draw(MOMENTS),
        valid_to=draw(st.one_of(st.none(), MOMENTS)),
        confirmed_at=draw(st.one_of(st.none(), MOMENTS)),
        superseded_by=draw(st.one_of(st.none(), FACT_IDS)),
        tags=draw(st.sampled_from([(), ("a",), ("a.b", "c"), ("a", "pinned")])),
        expires_at=draw(st.one_of(st.none(), MOMENTS)),
        confidence=draw(st.sampled_from([0.2, 0.8])),
        body=draw(st.sampled_from([None, Procedure(kind="procedure", steps=("boil tea",))])),
        source=draw(SOURCES),
        corroborations=draw(st.sampled_from([(), (Source(session_id="s2"),)])),
        version=draw(st.sampled_from([1, 1, 2, 3])),
    )


LINES = st.builds(
    Line,
    id=NUMBERS.map("line-{}".format),
    user_id=USERS,
    layer=st.sampled_from(["work_context", "top_of_mind", "recent_months"]),
    text=TEXTS,
    origin=st.sampled_from(["derived", "model", "user"]),
    at=MOMENTS,
    valid_from=MOMENTS,
    fact_ids=st.lists(FACT_IDS, max_size=2).map(tuple),
    said_in=st.lists(PLACES, max_size=2).map(tuple),
)

NAMESPACES = st.sampled_from([("a",), ("a", "b"), ("a b",), ("a%\x1f",)])
KEYS = st.sampled_from(["k", "k/é"])


@st.composite
def puts(draw: st.DrawFn) -> PutItem:
    at = draw(MOMENTS)
    item = Item(
        user_id=draw(USERS),
        namespace=draw(NAMESPACES),
        key=draw(KEYS),
        value={"n": draw(NUMBERS)},
        created_at=at,
        updated_at=at,
        ttl=draw(st.sampled_from([None, 60.0])),
        expires_at=draw(st.one_of(st.none(), MOMENTS)),
        index=draw(st.sampled_from([(), ("$",)])),
    )
    vectors_of = {"$": unit_vectors(2, seed=draw(NUMBERS))} if draw(st.booleans()) else None
    words = draw(st.frozensets(st.sampled_from(["tea", "thing"])))
    return PutItem(item, at, words, vectors_of, draw(st.booleans()))


ITEM_CHANGES: st.SearchStrategy[Change] = st.one_of(
    puts(),
    puts(),
    st.builds(DropItem, USERS, NAMESPACES, KEYS),
    st.builds(RefreshItems, st.lists(st.integers(1, 6), max_size=3), MOMENTS),
    st.integers(1, 6).map(lambda num: EmbedItem(num, {"$": unit_vectors(1, seed=num)})),
    st.builds(EraseItems, st.one_of(st.none(), USERS), st.one_of(st.none(), MOMENTS)),
)
CHANGES: st.SearchStrategy[Change] = st.one_of(
    st.builds(Add, facts().map(lambda fact: fact.model_copy(update={"version": 1})), VECTORS),
    st.builds(Update, facts(), st.just("updated"), MOMENTS, st.just("because")),
    st.builds(Touch, FACT_IDS, st.sampled_from([None, 0.5]), st.one_of(st.none(), MOMENTS)),
    st.builds(Forget, FACT_IDS, MOMENTS, st.just("asked")),
    st.builds(EraseReasons, USERS),
    st.builds(Cut, FACT_IDS, TEXTS, MOMENTS),
    st.builds(
        Redact,
        USERS,
        st.sampled_from(["s1", "s2"]),
        st.frozensets(st.sampled_from(["m1", "m2"]), max_size=2),
    ),
    st.builds(Redacted, USERS, st.just("s1")),
    st.builds(Evict, USERS, st.integers(0, 3), MOMENTS, st.one_of(st.none(), FACT_IDS)),
    st.builds(Embed, FACT_IDS, TEXTS, VECTORS),
    st.builds(Embed, FACT_IDS, TEXTS.map("{}\nsteps: 1. boil tea".format), VECTORS),
    st.builds(Keyed, FACT_IDS, st.frozensets(st.sampled_from([b"a", b"b"]))),
    st.builds(Weigh, FACT_IDS, st.sampled_from([0.1, 1.0]), st.sampled_from([1.0, 1.5])),
    st.builds(Mark, st.just("dedup"), USERS, st.integers(0, 9), MOMENTS),
    st.builds(Write, LINES),
    st.builds(Write, LINES),
    st.builds(Retire, NUMBERS.map("line-{}".format), MOMENTS),
    st.builds(EraseLines, USERS, st.one_of(st.none(), MOMENTS), st.one_of(st.none(), MOMENTS)),
    st.builds(Extracted, USERS, st.sampled_from(["s1", "s2"]), NUMBERS, NUMBERS, MOMENTS),
    st.builds(Advance, st.builds(Cursor, USERS, st.just("s1"), st.just("stored"), NUMBERS)),
)

STEPS = st.one_of(
    st.lists(CHANGES, min_size=1, max_size=6).map(lambda changes: ("apply", changes)),
    st.lists(CHANGES, min_size=1, max_size=6).map(lambda changes: ("apply", changes)),
    st.lists(ITEM_CHANGES, min_size=1, max_size=6).map(lambda changes: ("apply", changes)),
    st.sampled_from([("erase", None), ("erase", "u1"), ("drop", None)]),
)


OWN_STATISTICS = {("postgres", "frequencies")}
"""Answers that a ledger may estimate from the memories of all users, or of one."""


def outcome(ledger: Ledger, step: tuple[str, Any]) -> object:
    match step:
        case ("apply", changes):
            try:
                return ledger.apply(changes)
            except (NotFoundError, ConcurrentUpdateError) as error:
                return type(error), str(error)
        case ("erase", user_id):
            return ledger.erase(user_id)
        case _:
            return ledger.drop_vectors("embedder", "x")


@given(st.lists(STEPS, min_size=1, max_size=8))
@settings(
    max_examples=rounds(full=200, quick=50),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_the_same_changes_leave_the_same_behind(
    request: pytest.FixtureRequest, steps: Sequence[tuple[str, Any]]
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        kinds = makers(request)
        ledgers = [make(Path(directory), ignore_event) for make in kinds.values()]
        try:
            for step in steps:
                first, *others = [outcome(ledger, step) for ledger in ledgers]
                assert all(other == first for other in others)
            known, *found = [contents(ledger) for ledger in ledgers]
            for kind, other in zip([*kinds][1:], found, strict=True):
                for name, value in known.items():
                    if (kind, name) not in OWN_STATISTICS:
                        assert other[name] == value, (kind, name)
        finally:
            for ledger in ledgers:
                ledger.close()
