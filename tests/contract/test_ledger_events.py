"""The feed of events: the contract of every ledger."""

import threading
from datetime import timedelta

import pytest

from semantic_memory.domain.changes import (
    Add,
    Cut,
    Embed,
    EraseReasons,
    Evict,
    Extracted,
    Forget,
    Touch,
    Update,
    Weigh,
)
from semantic_memory.domain.errors import ConcurrentUpdateError
from semantic_memory.domain.facts import Category, Source, Status
from semantic_memory.domain.feed import EventKind
from tests.conftest import NOW, make_fact
from tests.contract.conftest import vectors

FORGOTTEN = EventKind.FORGOTTEN
LATER = NOW + timedelta(days=1)


def kinds(ledger, *asked, **options):
    return [event.kind.value for event in ledger.events(*(asked or (0, 99)), **options)]


def test_each_version_of_a_memory_is_an_event_in_the_order_of_the_changes(ledger):
    ledger.apply([Add(make_fact()), Add(make_fact(2, category="conversation"))])
    superseded = make_fact(status="superseded", superseded_by="fact-2")
    ledger.apply([Update(superseded, "superseded", LATER, "moved on")])
    ledger.apply([Forget("fact-1", LATER, "asked")])
    events = ledger.events(0, 99)
    assert [event.id for event in events] == [1, 2, 3, 4]
    assert [(event.kind.value, event.memory_id, event.version) for event in events] == [
        ("added", "fact-1", 1),
        ("observed", "fact-2", 1),
        ("superseded", "fact-1", 2),
        ("forgotten", "fact-1", 3),
    ]
    assert [event.reason for event in events] == ["", "", "", "asked"]
    assert [event.action for event in events] == ["added", "added", "superseded", "forgotten"]
    assert [event.superseded_by for event in events] == [None, None, "fact-2", None]
    assert events[2].status is Status.SUPERSEDED
    assert [event.at for event in events] == [NOW, NOW, LATER, LATER]


def test_an_event_has_the_scope_the_session_and_the_category_of_its_memory(ledger):
    source = Source(session_id="s1", message_ids=("m1",), position=0)
    ledger.apply([Add(make_fact(agent_id="cook", run_id="r1", source=source))])
    (event,) = ledger.events(0, 99)
    assert (event.agent_id, event.run_id, event.session_id) == ("cook", "r1", "s1")
    assert event.category is Category.PREFERENCE


def test_what_is_merely_derived_from_a_memory_is_no_event(ledger):
    ledger.apply([Add(make_fact())])
    ledger.apply([Embed("fact-1", "Thing number 1", vectors()), Weigh("fact-1", 0.5, 1.0)])
    ledger.apply([Touch("fact-1", confidence=0.5, used_at=NOW), Add(make_fact())])
    assert kinds(ledger) == ["added"]


def test_facts_that_are_evicted_are_events(ledger):
    ledger.apply([Add(make_fact(1)), Add(make_fact(2)), Evict("u1", 1, NOW)])
    *_, last = ledger.events(0, 99)
    assert (last.kind, last.status) == (EventKind.UPDATED, Status.ARCHIVED)


def test_an_extraction_is_an_event_with_its_counts(ledger):
    ledger.apply([Extracted("u1", "s1", 7, 2, NOW)])
    (event,) = ledger.events(0, 99)
    assert event.kind is EventKind.EXTRACTED
    assert (event.session_id, event.messages, event.facts) == ("s1", 7, 2)
    assert event.memory_id is None
    assert event.status is None


def test_changes_that_are_refused_leave_no_event(ledger):
    ledger.apply([Add(make_fact())])
    with pytest.raises(ConcurrentUpdateError):
        ledger.apply([Add(make_fact(2)), Update(make_fact(version=7), "updated", NOW)])
    assert kinds(ledger) == ["added"]


def test_pages_follow_each_other_without_gap_or_repetition(ledger):
    ledger.apply([Add(make_fact(number)) for number in range(7)])
    seen, after = [], 0
    while page := ledger.events(after, 3):
        seen += [event.memory_id for event in page]
        after = page.next
    assert seen == [f"fact-{number}" for number in range(7)]
    assert after == ledger.last_event() == 7


def test_events_of_one_user_and_of_some_kinds(ledger):
    ledger.apply([Add(make_fact(1)), Add(make_fact(2, user_id="u2")), Add(make_fact(3))])
    ledger.apply([Forget("fact-1", NOW)])
    assert kinds(ledger, user_id="u2") == ["added"]
    assert kinds(ledger, 1, 99, user_id="u1") == ["added", "forgotten"]
    assert kinds(ledger, kinds=[EventKind.FORGOTTEN]) == ["forgotten"]
    assert ledger.events(0, 99, user_id="u2").next == ledger.last_event() == 4


def test_the_oldest_events_go_and_the_numbers_go_on(ledger):
    assert (ledger.first_event(), ledger.drop_events(9)) == (0, 0)
    ledger.apply([Add(make_fact(number)) for number in range(1, 5)])
    assert ledger.drop_events(2) == 2
    assert (ledger.first_event(), ledger.last_event()) == (3, 4)
    assert [event.id for event in ledger.events(0, 9)] == [3, 4]
    assert ledger.drop_events(9) == 1, "the latest one stays"
    ledger.apply([Add(make_fact(5)), Extracted("u1", "s1", 1, 1, NOW)])
    assert [event.id for event in ledger.events(0, 9)] == [4, 5, 6]
    assert ledger.drop_events(3) == 0


def test_a_page_that_passes_over_others_events_continues_behind_them(ledger):
    ledger.apply([Add(make_fact(1)), Add(make_fact(2)), Forget("fact-1", NOW), Add(make_fact(3))])
    page = ledger.events(0, 5, kinds=[EventKind.FORGOTTEN])
    assert page.next == 4
    assert ledger.events(0, 1, kinds=[EventKind.FORGOTTEN]).next == 3
    assert ledger.events(9, 5).next == 9


def test_an_erased_memory_keeps_its_events_and_the_reason_of_forgetting(ledger):
    ledger.apply([Add(make_fact())])
    ledger.apply([Update(make_fact(content="New"), "updated", NOW, "Anna said so")])
    ledger.apply([Forget("fact-1", NOW, "asked")])
    before = ledger.events(0, 99)
    ledger.erase()
    assert ledger.events(0, 99) == before
    assert [event.reason for event in before] == ["", "", "asked"]


def test_reasons_of_forgetting_are_erased_for_one_user(ledger):
    ledger.apply([Add(make_fact(1)), Add(make_fact(2, user_id="u2")), Add(make_fact(3))])
    ledger.apply([Forget("fact-1", NOW, "asked"), Forget("fact-2", NOW, "asked")])
    ledger.apply([Update(make_fact(3, content="New"), "updated", NOW, "Anna said so")])
    assert ledger.apply([EraseReasons("u1")]) == 1
    assert ledger.apply([EraseReasons("u1")]) == 0
    told = {event.user_id: event.reason for event in ledger.events(0, 99, kinds=[FORGOTTEN])}
    assert told == {"u1": "", "u2": "asked"}
    assert ledger.history("fact-3")[-1].reason == "Anna said so"


def test_a_cut_message_keeps_its_events(ledger):
    ledger.apply([Add(make_fact(category="conversation"))])
    ledger.apply([Cut("fact-1", "Thing", NOW, "asked")])
    assert [event.action for event in ledger.events(0, 99)] == ["added", "cut"]


def test_followers_are_woken_by_changes_and_by_the_end_until_they_stop(ledger):
    woken = threading.Semaphore(0)
    stop = ledger.on_commit(woken.release)
    ledger.apply([Add(make_fact())])
    assert woken.acquire(blocking=False)
    others = ledger.on_commit(lambda: None)
    others()
    stop()
    while woken.acquire(blocking=False):  # it may be woken once more than there was a change
        pass
    for number in (2, 3, 4):
        ledger.apply([Add(make_fact(number))])
    again = [woken.acquire(blocking=False) for _ in range(2)]
    assert not all(again)  # one call may have been under way in another thread
    ended = threading.Semaphore(0)
    ledger.on_commit(ended.release)
    while ended.acquire(blocking=False):
        pass
    ledger.close()
    assert ended.acquire(blocking=False)
