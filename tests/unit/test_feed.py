"""The feed of changes, in process: pages, and followers that wait."""

from __future__ import annotations

import asyncio
import threading
from itertools import islice

import pytest

from semantic_memory import AsyncSemanticMemory, EventKind
from semantic_memory.domain.errors import EventsRemovedError, InvalidInputError
from semantic_memory.settings import IngestSettings, Settings, UpkeepSettings
from tests.conftest import say


def kinds(events):
    return [event.kind.value for event in events]


def test_a_page_tells_what_happened_with_ids_and_the_reason_of_forgetting_and_no_text(memory):
    fact = memory.add("Prefers green tea", user_id="maya")
    memory.update(fact.id, importance=0.9, reason="asked")
    memory.delete(fact.id, reason="outdated")
    page = memory.events.list(user_id="maya")
    assert kinds(page) == ["added", "updated", "forgotten"]
    assert {event.memory_id for event in page} == {fact.id}
    assert [event.reason for event in page] == ["", "", "outdated"]
    assert "tea" not in "".join(event.model_dump_json() for event in page)


def test_forgetting_everything_takes_earlier_reasons_back(memory):
    fact = memory.add("Prefers green tea", user_id="maya")
    memory.delete(fact.id, reason="The tea was for Anna")
    memory.add("Plays chess", user_id="maya")
    memory.forget(everything=True, user_id="maya", reason="request 7")
    page = memory.events.list(user_id="maya", kinds=["forgotten"])
    assert [event.reason for event in page] == ["", "request 7"]


def test_what_was_said_and_read_is_in_the_feed(memory):
    memory.observe(say("I live in Oslo."), user_id="maya", session_id="s1")
    memory.flush()
    page = memory.events.list()
    assert kinds(page)[0] == "observed"
    (extracted,) = [event for event in page if event.kind is EventKind.EXTRACTED]
    assert (extracted.session_id, extracted.messages, extracted.facts) == ("s1", 1, 1)
    added = [event for event in page if event.kind is EventKind.ADDED]
    assert [event.session_id for event in added] == ["s1"]


def test_a_newer_fact_that_replaces_another_is_told(memory, clock):
    old = memory.add("I live in Oslo", user_id="maya")
    clock.advance(days=1)
    new = memory.add("I live in Bergen now", user_id="maya")
    memory.flush()
    (event,) = memory.events.list(kinds=["superseded"])
    assert (event.memory_id, event.superseded_by) == (old.id, new.id)
    assert memory.history.versions(old.id)[-1].reason == "as scripted"
    assert "bergen" not in event.model_dump_json().lower()


def test_a_page_continues_after_a_restart(open_memory):
    memory = open_memory()
    memory.add("Prefers tea", user_id="maya")
    seen = memory.events.list()
    memory.close()
    memory = open_memory()
    memory.add("Plays chess", user_id="maya")
    assert memory.events.list(after=seen.next)[0].id == seen.next + 1


def test_now_is_behind_the_latest_event(memory):
    memory.add("Prefers tea", user_id="maya")
    page = memory.events.list(after="now")
    assert page == []
    memory.add("Plays chess", user_id="maya")
    assert kinds(memory.events.list(after=page.next)) == ["added"]


@pytest.mark.parametrize(
    "asked",
    [{"after": 7}, {"after": -1}, {"after": True}, {"after": "then"}, {"kinds": ["x"]}],
    ids=str,
)
def test_a_place_that_was_never_reached_and_an_unknown_kind_are_refused(memory, asked):
    with pytest.raises(InvalidInputError):
        memory.events.list(**asked)
    with pytest.raises(InvalidInputError):
        memory.events.subscribe(**asked)


def test_a_follower_gets_what_happens_after_it_began(memory):
    memory.add("Prefers tea", user_id="maya")
    with memory.events.subscribe() as feed:
        fact = memory.add("Plays chess", user_id="maya")
        assert next(feed).memory_id == fact.id


def test_a_follower_waits_until_something_happens_to_its_user(memory):
    found = []
    feed = memory.events.subscribe(user_id="maya", kinds=["added"])
    thread = threading.Thread(target=lambda: found.append(next(feed)))
    thread.start()
    memory.add("Prefers coffee", user_id="kim")
    fact = memory.add("Prefers tea", user_id="maya")
    thread.join(60)
    assert [event.memory_id for event in found] == [fact.id]


def test_a_slow_follower_holds_up_nothing_and_loses_nothing(memory):
    with memory.events.subscribe() as feed:
        facts = memory.transfer.add_many(
            [{"content": f"Knows town number {number}"} for number in range(250)], user_id="maya"
        )
        assert [next(feed).memory_id for _ in facts] == [fact.id for fact in facts]


def test_a_follower_resumes_behind_the_event_it_dealt_with(open_memory):
    memory = open_memory()
    with memory.events.subscribe() as feed:
        memory.add("Prefers tea", user_id="maya")
        seen = next(feed).id
    missed = memory.add("Plays chess", user_id="maya")
    memory.close()
    with open_memory().events.subscribe(after=seen, kinds=["added"]) as feed:
        assert next(feed).memory_id == missed.id


def test_the_place_of_a_follower_is_behind_the_event_it_handed_out(memory):
    for number in range(5):
        memory.add(f"Knows town number {number}", user_id="maya")
    with memory.events.subscribe(after=1, kinds=["added"]) as feed:
        assert [(next(feed).id, feed.after) for _ in range(4)] == [(n, n) for n in range(2, 6)]


def test_the_place_of_a_follower_in_an_event_loop_is_behind_what_it_handed_out(memory):
    for number in range(5):
        memory.add(f"Knows town number {number}", user_id="maya")

    async def followed() -> None:
        async with await AsyncSemanticMemory(memory).events.subscribe(after=0) as feed:
            assert [((await anext(feed)).id, feed.after) for _ in range(2)] == [(1, 1), (2, 2)]
            page = await feed.page()
            assert page is not None
            assert [event.id for event in page] == [3, 4, 5]
            assert feed.after == page.next == 5

    asyncio.run(followed())


@pytest.mark.parametrize("closed", ["follower", "memory"])
def test_waiting_ends_when_the_follower_or_the_memory_is_closed(memory, closed):
    feed = memory.events.subscribe()
    ended = threading.Event()

    def follow() -> None:
        for _ in feed:
            pass
        ended.set()

    thread = threading.Thread(target=follow)
    thread.start()
    (feed if closed == "follower" else memory).close()
    assert ended.wait(60)
    thread.join()


def test_following_in_an_event_loop(memory):
    async def followed() -> None:
        asynchronous = AsyncSemanticMemory(memory)
        async with await asynchronous.events.subscribe() as feed:
            first, added = await asyncio.gather(
                anext(feed), asynchronous.add("Prefers tea", user_id="maya")
            )
            assert first.memory_id == added.id
            waiting = asyncio.create_task(anext(feed))
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.wait([waiting])
            fact = await asynchronous.add("Plays chess", user_id="maya")
            assert (await anext(feed)).memory_id == fact.id
            page = await feed.page(0.01)
            assert page is not None
            ending = asyncio.create_task(feed.page())
            await asyncio.to_thread(memory.close)
            assert await ending is None
            with pytest.raises(StopAsyncIteration):
                await anext(feed)

    asyncio.run(followed())


# ---------------------------------------------------------------- old events


@pytest.fixture
def pruned(open_memory):
    """A memory of which the latest 5 events are kept, 6 to 10."""
    upkeep = UpkeepSettings(schedule=False, events=5)
    memory = open_memory(settings=Settings(upkeep=upkeep, ingest=IngestSettings(background=False)))
    for number in range(10):
        memory.add(f"Likes tea number {number}", user_id="maya")
    memory.jobs.run(["expiry"])
    return memory


def test_the_latest_events_are_kept_and_the_others_removed(pruned):
    assert [event.id for event in pruned.events.list()] == [6, 7, 8, 9, 10]
    pruned.add("Plays chess", user_id="noor")
    (run,) = pruned.jobs.run(["expiry"], dry_run=True)
    assert run.planned == ("remove 1 old events of the feed",)
    assert pruned.events.list()[0].id == 6
    (run,) = pruned.jobs.run(["expiry"])
    assert run.counts == {"events": 1}
    assert pruned.events.list()[0].id == 7


def test_a_reader_behind_what_was_removed_is_told_where_to_resume(pruned):
    with pytest.raises(EventsRemovedError, match=r"from 4 to 5 were removed") as refused:
        pruned.events.list(after=3)
    assert refused.value.resume == 5
    with pytest.raises(EventsRemovedError):
        pruned.events.subscribe(after=3)
    page = pruned.events.list(after=refused.value.resume)
    assert [event.id for event in page] == [6, 7, 8, 9, 10]


def test_a_follower_that_falls_behind_is_told(pruned):
    with pruned.events.subscribe(after=5) as feed:
        assert next(feed).id == 6
        for number in range(200):
            pruned.add(f"Likes coffee number {number}", user_id="maya")
        pruned.jobs.run(["expiry"])
        with pytest.raises(EventsRemovedError) as refused:
            list(islice(feed, 99))
    assert pruned.events.list(after=refused.value.resume)[-1].id == 210


def test_a_reader_of_a_quiet_user_that_keeps_reading_is_never_behind(pruned):
    pruned.add("Plays chess", user_id="noor")
    place = pruned.events.list(user_id="noor").next
    for number in range(20):
        pruned.add(f"Likes coffee number {number}", user_id="maya")
        if number % 5 == 0:
            pruned.jobs.run(["expiry"])
        place = pruned.events.list(after=place, user_id="noor").next
    assert pruned.events.list(after="now", user_id="noor").next == place
