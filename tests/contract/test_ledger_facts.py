"""Reading facts, their history and beliefs: the contract of every ledger."""

from datetime import timedelta

import numpy as np
import pytest

from semantic_memory.domain.changes import (
    Add,
    Forget,
    Keyed,
    Unquote,
    Update,
    Weigh,
)
from semantic_memory.domain.errors import NotFoundError
from semantic_memory.domain.facts import Category, Cause, Source, Status
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.scope import Scope
from tests.conftest import NOW, make_fact
from tests.contract.conftest import vectors

ENDED = Cause(
    newer="fact-2",
    decided_by="pairs-1",
    reason="a move",
    quote="We moved to Oslo — at last.",
    probability=0.93,
    at=NOW,
)
LIKELY = ENDED.model_copy(update={"newer": "fact-3", "probability": 0.81})
BY_HAND = Cause(decided_by="caller", reason="by hand", at=NOW)


def test_a_fact_comes_back_as_it_went_in(ledger):
    fact = make_fact(
        tags=("a.b", "c"),
        references=("fact-9",),
        metadata={"n": 1, "t": "ü\n"},
        source=Source(
            extractor="x", session_id="s", message_ids=("m1", "m2"), position=3, role="user"
        ),
        corroborations=(Source(session_id="t", message_ids=("m3",)),),
        valid_to=NOW + timedelta(microseconds=1),
        superseded_by="fact-2",
        last_used_at=NOW,
        use_count=2,
        ended_by=ENDED,
        perhaps_changed=(LIKELY, BY_HAND),
    )
    ledger.apply([Add(fact)])
    assert ledger.get([fact.id]) == [fact]


def test_the_history_keeps_the_cause_of_each_state(ledger):
    ledger.apply([Add(make_fact(1, perhaps_changed=(LIKELY,)))])
    (before,) = ledger.get(["fact-1"])
    after = before.model_copy(update={"ended_by": ENDED, "perhaps_changed": ()})
    ledger.apply([Update(after, "superseded", NOW)])
    states = [version.fact for version in ledger.history("fact-1")]
    assert [state.perhaps_changed for state in states] == [(LIKELY,), ()]
    assert [state.ended_by for state in states] == [None, ENDED]


def test_no_state_of_a_fact_quotes_a_statement_that_was_forgotten(ledger):
    ledger.apply([Add(make_fact(1, perhaps_changed=(LIKELY, BY_HAND))), Add(make_fact(4))])
    (before,) = ledger.get(["fact-1"])
    linked = before.model_copy(update={"ended_by": ENDED})
    ledger.apply([Update(linked, "superseded", NOW, "a move to Oslo")])
    (before,) = ledger.get(["fact-1"])
    restored = before.model_copy(update={"ended_by": None})
    ledger.apply([Update(restored, "restored", NOW, "a mistake")])
    assert ledger.get(["fact-1"])[0].perhaps_changed == (LIKELY, BY_HAND)
    assert ledger.apply([Unquote("u2", frozenset({"fact-2", "fact-3"}))]) == 0
    assert ledger.apply([Unquote("u1", frozenset({"fact-2", "fact-3"}))]) == 1
    assert ledger.apply([Unquote("u1", frozenset({"fact-2", "fact-3"}))]) == 0
    assert ledger.get(["fact-1"])[0].perhaps_changed == (BY_HAND,)
    states = ledger.history("fact-1")
    assert "Oslo" not in str(states)
    assert [state.fact.perhaps_changed for state in states] == [(BY_HAND,)] * 3
    cause = states[1].fact.ended_by
    assert (cause.newer, cause.quote, cause.decided_by) == (None, None, "pairs-1")
    assert [state.version for state in states] == [1, 2, 3]


def test_active_facts_with_links_are_found_in_the_order_written(ledger):
    ledger.apply(
        [
            Add(make_fact(1, perhaps_changed=(LIKELY,))),
            Add(make_fact(2, metadata={"perhaps_changed": "no"}, content='"perhaps_changed"')),
            Add(make_fact(3, perhaps_changed=(LIKELY,), status=Status.SUPERSEDED)),
            Add(make_fact(4, perhaps_changed=(LIKELY,), user_id="u2")),
            Add(make_fact(5, perhaps_changed=(BY_HAND,))),
        ]
    )
    assert [fact.id for fact in ledger.doubted("u1")] == ["fact-1", "fact-5"]


def test_a_fact_names_those_it_follows_to_ranking(ledger):
    ledger.apply(
        [
            Add(make_fact(1, follows=("fact-8", "fact-9"), rests_on=("fact-7",))),
            Add(make_fact(2, content='says "follows"', metadata={"follows": "no"})),
        ]
    )
    (fact,) = ledger.get(["fact-1"])
    assert (fact.follows, fact.rests_on) == (("fact-8", "fact-9"), ("fact-7",))
    rows = {row.trait.id: row.trait.follows for row in ledger.delta("u1", 0).rows}
    assert rows == {"fact-1": ("fact-8", "fact-9"), "fact-2": ()}


def test_a_forgotten_fact_keeps_no_quote(ledger):
    ledger.apply([Add(make_fact(1, ended_by=ENDED, perhaps_changed=(LIKELY,)))])
    ledger.apply([Forget("fact-1", NOW)])
    (gone,) = ledger.page("u1", Filters(), status=Status.FORGOTTEN, limit=None).facts
    assert (gone.ended_by, gone.perhaps_changed) == (None, ())


def test_a_fact_that_changed_is_read_as_it_is_now(ledger):
    ledger.apply([Add(make_fact(1))])
    (before,) = ledger.get(["fact-1"])
    ledger.apply([Update(before.model_copy(update={"importance": 0.9}), "edited", NOW)])
    assert [fact.importance for fact in ledger.get(["fact-1"])] == [0.9]


def test_facts_are_given_in_the_order_asked_for(ledger):
    ledger.apply([Add(make_fact(number)) for number in range(1200)])
    wanted = [f"fact-{number}" for number in range(1199, -1, -7)]
    assert [fact.id for fact in ledger.get([*wanted, "unknown"])] == wanted


def test_another_users_memory_is_not_found(ledger):
    ledger.apply([Add(make_fact())])
    assert [fact.id for fact in ledger.get(["fact-1"], "u1")] == ["fact-1"]
    assert ledger.get(["fact-1"], "u2") == []
    assert len(ledger.history("fact-1", "u1")) == 1
    with pytest.raises(NotFoundError):
        ledger.history("fact-1", "u2")


def test_ids_once_written_stay_known(ledger):
    ledger.apply([Add(make_fact(1)), Add(make_fact(2)), Forget("fact-1", NOW)])
    assert ledger.known(["fact-1", "fact-2", "fact-3"]) == {"fact-1", "fact-2"}


def test_ids_are_found_by_their_beginning(ledger):
    ledger.apply([Add(make_fact(n)) for n in (1, 2, 10)])
    ledger.apply([Add(make_fact(11, user_id="u2")), Forget("fact-10", NOW)])
    assert ledger.beginning("fact-1") == ["fact-1", "fact-10", "fact-11"]
    assert ledger.beginning("fact-1", "u1") == ["fact-1", "fact-10"]
    assert ledger.beginning("fact-2") == ["fact-2"]
    assert ledger.beginning("act") == []


def test_the_same_content_is_found_in_any_spelling(ledger):
    ledger.apply([Add(make_fact(content="Likes  tea."))])
    assert ledger.same_content("u1", "likes TEA").id == "fact-1"
    assert ledger.same_content("u2", "likes TEA") is None


def test_the_same_content_is_of_one_scope(ledger):
    scopes = [Scope("a"), Scope("a", "r1"), Scope(None, "r1"), Scope()]
    facts = [make_fact(n, content="Likes tea", **scope._asdict()) for n, scope in enumerate(scopes)]
    ledger.apply([Add(fact) for fact in facts])
    found = [ledger.same_content("u1", "likes tea", scope) for scope in scopes]
    assert found == facts
    assert ledger.same_content("u1", "likes tea", Scope("b")) is None


FILTERS = [
    Filters(),
    Filters(categories={"project"}),
    Filters(categories=set()),
    Filters(tags=("a",)),
    Filters(tags=("a.b", "c")),
    Filters(tags=("a_b",)),
    Filters(since=NOW + timedelta(days=2)),
    Filters(until=NOW + timedelta(days=2)),
    Filters(min_confidence=0.5),
    Filters(session_id="s1"),
    Filters(as_of=NOW),
    Filters(as_of=NOW + timedelta(days=5)),
]


def varied_facts():
    tags = [(), ("a",), ("a.b",), ("a.b", "c"), ("ab",), ("axb",)]
    return [
        make_fact(
            number,
            category=["preference", "project"][number % 2],
            tags=tags[number % 6],
            created_at=NOW + timedelta(days=number % 4),
            valid_from=NOW + timedelta(days=number % 4),
            confidence=number / 24,
            status=list(Status)[number % 4],
            valid_to=NOW + timedelta(days=4) if number % 4 == 1 else None,
            source=Source(session_id=f"s{number % 3}"),
        )
        for number in range(24)
    ]


@pytest.mark.parametrize("filters", FILTERS, ids=str)
def test_filters_say_what_their_reference_says(ledger, filters):
    facts = varied_facts()
    ledger.apply([Add(fact) for fact in facts])
    expected = {fact.id for fact in facts if filters.admits(fact)}
    assert {fact.id for fact in ledger.find("u1", filters)} == expected
    found = ledger.words("u1", ["thing"], limit=100, filters=filters)
    assert {match.id for match in found} == expected


@pytest.mark.parametrize("status", [one for one in Status if one is not Status.ACTIVE], ids=str)
def test_facts_are_found_by_their_status_too(ledger, status):
    facts = varied_facts()
    ledger.apply([Add(fact) for fact in facts])
    filters = Filters(tags=("a",), min_confidence=0.2)
    expected = {
        fact.id
        for fact in facts
        if fact.status is status
        and filters.admits(fact.model_copy(update={"status": Status.ACTIVE}))
    }
    assert {fact.id for fact in ledger.find("u1", filters, status=status)} == expected


def test_pages_follow_each_other_without_gap_or_overlap(ledger):
    ledger.apply([Add(fact) for fact in varied_facts()])
    everything = [fact.id for fact in ledger.find("u1", Filters())]
    pages, after = [], None
    while True:
        behind = after and ledger.position(after, "u1", "time")
        page = ledger.page("u1", Filters(), limit=2, behind=behind).facts
        if not page:
            break
        pages += [fact.id for fact in page]
        after = page[-1].id
    assert pages == everything
    with pytest.raises(NotFoundError):
        ledger.position("unknown", "u1", "time")


def test_what_a_fact_replaced_is_found_oldest_first(ledger):
    old = {"superseded_by": "fact-1", "status": Status.SUPERSEDED}
    ledger.apply(
        [
            Add(make_fact(1)),
            Add(make_fact(2, **old)),
            Add(make_fact(3, **old, created_at=NOW - timedelta(days=1))),
            Add(make_fact(4, superseded_by="fact-1", status=Status.ARCHIVED)),
            Add(make_fact(5, superseded_by="fact-2", status=Status.SUPERSEDED)),
            Add(make_fact(6, **old, user_id="u2")),
            Add(make_fact(7, **old)),
            Forget("fact-7", NOW),
        ]
    )
    assert [fact.id for fact in ledger.replaced("fact-1", "u1")] == ["fact-3", "fact-2", "fact-4"]
    assert ledger.replaced("fact-3", "u1") == []


def test_beliefs_are_active_facts_with_vectors(ledger):
    ledger.apply(
        [
            Add(make_fact(1), vectors(1)),
            Add(make_fact(2)),
            Add(make_fact(3, category="conversation"), vectors(3)),
            Add(make_fact(4, status=Status.SUPERSEDED), vectors(4)),
            Add(make_fact(5, user_id="u2"), vectors(5)),
        ]
    )
    (belief,) = ledger.beliefs("u1")
    assert belief.fact == make_fact(1)
    assert np.array_equal(belief.vector, vectors(1).windows[0])
    assert belief.revision == 1


def test_beliefs_are_found_by_what_changed_by_id_and_by_key(ledger):
    ledger.apply([Add(make_fact(n), vectors(n)) for n in range(1, 6)])
    ledger.apply([Add(make_fact(6, user_id="u2"), vectors(6))])
    for number, keys in ((1, {b"a"}), (2, {b"a", b"b"}), (3, {b"c"}), (5, {b"b"}), (6, {b"b"})):
        ledger.apply([Keyed(f"fact-{number}", frozenset(keys))])
    ledger.apply([Keyed("fact-5", frozenset({b"d"})), Keyed("unknown", frozenset({b"b"}))])

    def ids(beliefs):
        return sorted(belief.fact.id for belief in beliefs)

    assert ids(ledger.beliefs("u1", since=3)) == ["fact-4", "fact-5"]
    assert len(ledger.beliefs("u1", limit=2)) == 2
    assert ids(ledger.beliefs_among("u1", [], [b"b"])) == ["fact-2"]
    assert ids(ledger.beliefs_among("u1", ["fact-3", "fact-6"], [b"a", b"d"])) == [
        f"fact-{number}" for number in (1, 2, 3, 5)
    ]
    ledger.apply([Forget("fact-1", NOW)])
    ledger.apply([Update(make_fact(2, status=Status.SUPERSEDED), "superseded", NOW)])
    assert ledger.beliefs_among("u1", [], [b"a"]) == []


def test_ids_are_given_in_the_order_written_and_narrowed(ledger):
    facts = varied_facts()
    ledger.apply([Add(fact) for fact in facts])
    ledger.apply([Forget("fact-0", NOW), Add(make_fact(99, user_id="u2"))])
    kept = facts[1:]
    assert ledger.ids("u1") == [fact.id for fact in kept]
    since, until = NOW + timedelta(days=1), NOW + timedelta(days=3)
    filters = Filters(tags=("a",), since=since, until=until, session_id="s1")
    narrowed = ledger.ids("u1", filters)
    assert narrowed == [
        fact.id
        for fact in kept
        if fact.source.session_id == "s1"
        and since <= fact.created_at < until
        and any(tag == "a" or tag.startswith("a.") for tag in fact.tags)
    ]
    assert 0 < len(narrowed) < len(ledger.ids("u1", Filters(session_id="s1")))


def test_the_same_content_is_an_active_facts(ledger):
    same = {"content": "Likes tea"}
    ledger.apply(
        [
            Add(make_fact(1, category="conversation", **same)),
            Add(make_fact(2, status=Status.SUPERSEDED, **same)),
            Add(make_fact(3, **same)),
            Add(make_fact(4, **same)),
        ]
    )
    assert ledger.same_content("u1", "Likes tea").id == "fact-3"


def test_a_history_names_what_led_to_each_version(ledger):
    ledger.apply([Add(make_fact()), Update(make_fact(tags=("a",)), "tagged", NOW, "asked to")])
    first, second = ledger.history("fact-1", "u1")
    assert (first.fact, second.fact.tags) == (make_fact(), ("a",))
    assert (first.action, second.action, second.reason) == ("added", "tagged", "asked to")
    with pytest.raises(NotFoundError, match="no memory 'unknown'"):
        ledger.history("unknown")


def test_a_listing_by_relevance_is_paged_and_follows_what_was_weighed(ledger):
    ledger.apply([Add(make_fact(number, importance=number / 10)) for number in range(1, 6)])

    def pages(size):
        behind = None
        while True:
            page = ledger.page("u1", Filters(), order="relevance", limit=size, behind=behind)
            yield from (fact.id for fact in page.facts)
            if (behind := page.next) is None:
                return

    assert list(pages(2)) == ["fact-5", "fact-4", "fact-3", "fact-2", "fact-1"]
    revision = ledger.revision("u1")
    ledger.apply([Weigh("fact-5", 0.1, 1.0), Weigh("fact-4", 0.5, 1.0), Weigh("unknown", 1.0, 1.0)])
    assert list(pages(2)) == ["fact-3", "fact-2", "fact-4", "fact-1", "fact-5"]
    assert ledger.revision("u1") == revision
    assert ledger.get(["fact-5"]) == [make_fact(5, importance=0.5)]


def test_superseded_facts_are_read_by_session_and_message(ledger):
    def said(session_id, *message_ids, position=None):
        return Source(session_id=session_id, message_ids=message_ids, position=position)

    gone = Status.SUPERSEDED
    ledger.apply(
        [
            Add(make_fact(1, status=gone, source=said("s1", "m1", position=0))),
            Add(make_fact(2, status=gone, source=said("s2", "m1"))),
            Add(make_fact(3, source=said("s1", "m1"))),
            Add(make_fact(4, user_id="u2", status=gone, source=said("s1", "m1"))),
            Add(make_fact(5, status=gone, source=said("s1", "m2", "m3", position=1))),
            Add(
                make_fact(
                    6,
                    status=gone,
                    source=said("s1", "m4"),
                    corroborations=(said("s9", "m8"), said("s1", "m10")),
                )
            ),
        ]
    )

    def found(sessions, places=(), positions=()):
        return [fact.id for fact in ledger.superseded_in("u1", sessions, places, positions)]

    assert found(["s1", "s3"], ["s1/m1", "s2/m1", "s3/m1"]) == ["fact-1"]
    assert found(["s1"], ["s1/m3", "s9/m8"]) == ["fact-5", "fact-6"]
    assert found(["s9"], ["s9/m8"]) == []
    assert found(["s1"], ["s1/m9"], [("s1", 1), ("s2", 0), ("s1", 7)]) == ["fact-5"]
    assert found(["s1"], ["s1/m"]) == []
    assert found([], ["s1/m1"], [("s1", 0)]) == []


def test_newest_facts_are_read_as_they_are_now(ledger):
    first, last = NOW, NOW + timedelta(days=1)
    ledger.apply(
        [
            Add(make_fact(1, created_at=last)),
            Add(make_fact(2, created_at=first)),
            Add(make_fact(3, created_at=first)),
            Add(make_fact(4, created_at=last, status=Status.SUPERSEDED)),
            Add(make_fact(5, created_at=last, category=Category.CONVERSATION)),
            Add(make_fact(6, created_at=last, user_id="u2")),
        ]
    )

    def newest(limit):
        filters = Filters(categories={Category.PREFERENCE})
        return [fact.id for fact in ledger.newest("u1", filters, limit)]

    assert newest(2) == ["fact-1", "fact-3"]
    ledger.apply([Forget("fact-1", last, "asked", None)])
    assert newest(9) == ["fact-3", "fact-2"]


def test_tags_count_the_facts_that_a_query_for_them_finds(ledger):
    ledger.apply(
        [
            Add(make_fact(1, tags=("work.code", "work.deadlines", "go"))),
            Add(make_fact(2, tags=("work",))),
            Add(make_fact(3, tags=("working.code",))),
            Add(make_fact(4, tags=("work.code",), status=Status.ARCHIVED)),
            Add(make_fact(5, tags=("secret",))),
            Add(make_fact(6, tags=("work.code",), user_id="u2")),
            Add(make_fact(7)),
            Forget("fact-5", NOW),
        ]
    )
    counts = ledger.tags("u1", Filters())
    assert counts == {
        "work": 2,
        "work.code": 1,
        "work.deadlines": 1,
        "go": 1,
        "working": 1,
        "working.code": 1,
    }
    for tag, number in counts.items():
        assert len(ledger.find("u1", Filters(tags=(tag,)))) == number
    assert ledger.tags("u1", Filters(tags=("go",))).keys() == {
        "go",
        "work",
        "work.code",
        "work.deadlines",
    }
    assert ledger.tags("nobody", Filters()) == {}
