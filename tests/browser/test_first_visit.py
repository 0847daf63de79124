"""Somebody who has never seen the product finds the answers on its pages alone."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from semantic_memory import Message
from semantic_memory.consolidation.fading import to_archive
from semantic_memory.consolidation.superseding import cause, perhaps_changed, superseded
from semantic_memory.domain.changes import Update
from semantic_memory.domain.facts import Fact, Status
from tests.browser.conftest import Visit, Visits
from tests.browser.store import USER, Running, serve_sample
from tests.support.inside import inside

FIRST_PAINT = 100_000
"""Bytes of all files until the first page is shown."""


@pytest.fixture
def user() -> str:
    """A user of this test alone."""
    return f"user-{uuid4().hex[:8]}"


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Serve a store without any memory."""
    with serve_sample(tmp_path_factory.mktemp("empty") / "store", filled=False) as running:
        yield running


def overview_of(dashboard: Visit, user: str) -> Page:
    """Open the first page and choose a user, by the search if many were active."""
    page = dashboard.open()
    expect(
        page.get_by_role("heading", name=re.compile("most recently active first"))
    ).to_be_visible()
    search = page.get_by_role("searchbox", name="Find a user")
    if search.count():
        search.fill(user)
    page.get_by_role("link", name=user).click()
    return page


def test_the_first_page_leads_to_what_is_known_about_a_user(dashboard: Visit, service: Running):
    known = service.memory.list(user_id=USER, limit=1)[0]
    page = dashboard.open()
    expect(page.locator("h1")).to_have_text("Overview")
    page.locator("#main").get_by_role("link", name=USER, exact=True).click()
    expect(page.get_by_role("heading", name=f"What changed for {USER}")).to_be_visible()
    page.get_by_role("link", name="Memories").first.click()
    expect(page.get_by_role("link", name=known.content)).to_be_visible()


def test_the_first_page_is_light(dashboard: Visit):
    sizes: list[int] = []
    dashboard.page.on(
        "response",
        lambda one: sizes.append(len(one.body())) if "/dashboard/" in one.url else None,
    )
    page = dashboard.open()
    expect(page.get_by_role("heading", name="The store")).to_be_visible()
    assert sum(sizes) < FIRST_PAINT


def test_a_change_of_this_week_is_found_and_undone(
    page: Page, dashboard: Visit, service: Running, user: str
):
    fact = service.memory.add("Lives in Oslo", user_id=user)
    service.clock.advance(hours=1)
    service.memory.update(fact.id, user_id=user, confidence=0.6)
    dashboard.open(f"#/overview?user={user}")
    changed = page.get_by_role("region", name=re.compile(r"^Changed \d"))
    expect(changed).to_contain_text("Lives in Oslo")
    changed.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Taken back: it is as it was before.")).to_be_visible()
    assert service.memory.get(fact.id).confidence == fact.confidence


def test_an_end_is_found_with_what_came_instead_and_undone(
    page: Page, dashboard: Visit, service: Running, user: str
):
    fact = service.memory.add("Lives in Oslo", user_id=user)
    service.clock.advance(hours=1)
    service.memory.update(fact.id, user_id=user, content="Lives in Berlin")
    dashboard.open(f"#/overview?user={user}&days=1")
    ended = page.get_by_role("region", name="Ended")
    expect(ended).to_contain_text("now Lives in Berlin")
    ended.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Taken back: it is believed again.")).to_be_visible()
    said = {one.content for one in service.memory.list(user_id=user)}
    assert said == {"Lives in Oslo", "Lives in Berlin"}


def test_a_memory_shows_the_prompts_that_it_was_in(dashboard: Visit, service: Running, user: str):
    fact = service.memory.add("Lives in Lisbon", user_id=user)
    service.memory.context("Where do I live?", user_id=user, budget=200)
    page = dashboard.open(f"#/memory/{fact.id}?user={user}")
    prompts = page.get_by_role("region", name="Prompts it was in")
    expect(prompts).to_contain_text("score")
    prompts.locator("li a").first.click()
    line = page.locator(".hit").filter(has_text="Lives in Lisbon")
    expect(line).to_contain_text("in the prompt")
    line.get_by_text("Why this score").click()
    expect(line).to_contain_text("meaning")


def test_a_trace_shows_what_a_prompt_was_made_of_and_can_be_shared(
    dashboard: Visit, service: Running, user: str
):
    service.memory.add("Lives in Lisbon", user_id=user)
    service.memory.add("Plays the viola on Sundays", user_id=user)
    service.memory.context("Where do I live?", user_id=user, budget=200)
    page = dashboard.open(f"#/traces?user={user}")
    page.locator("tbody a").first.click()
    expect(page.get_by_role("heading", name="Steps")).to_be_visible()
    expect(page.locator(".hit").filter(has_text="Lives in Lisbon")).to_contain_text("in the prompt")
    expect(page.get_by_text("packing", exact=True)).to_be_visible()
    shared = page.url
    page.goto("about:blank")
    page.goto(shared)
    expect(page.locator(".hit").filter(has_text="Lives in Lisbon")).to_be_visible()


def test_a_missing_memory_is_explained(dashboard: Visit, service: Running, user: str):
    for number in range(12):
        service.memory.add(f"Met a colleague from office {number}", user_id=user)
    old = service.memory.add("Lives in Oslo", user_id=user)
    service.clock.advance(hours=1)
    service.memory.update(old.id, user_id=user, content="Lives in Berlin")
    page = dashboard.open(f"#/search?user={user}&q=Where do I live?&k=5")
    page.get_by_role("link", name="Ask why").click()
    page.get_by_label("Expected memory").fill("Lives in Oslo")
    page.get_by_role("button", name="Why not?").click()
    verdict = page.locator(".verdict")
    expect(verdict).to_contain_text("It no longer holds")
    expect(verdict).to_contain_text("Lives in Berlin")
    page.get_by_label("Expected memory").fill("Juggles seven porcupines")
    page.get_by_role("button", name="Why not?").click()
    expect(verdict).to_contain_text("Nothing says that")


def test_a_timeline_shows_what_was_believed_when(dashboard: Visit, service: Running, user: str):
    old = service.memory.add("Lives in Oslo", user_id=user)
    service.clock.advance(hours=1)
    service.memory.update(old.id, user_id=user, content="Lives in Berlin")
    page = dashboard.open(f"#/beliefs?user={user}")
    line = page.locator(".timeline").filter(has_text="changed")
    expect(line.locator("li").first).to_contain_text("Lives in Oslo")
    expect(line.locator("li").last).to_contain_text("Lives in Berlin")


def test_chosen_memories_are_pinned_moved_and_forgotten_with_a_receipt(
    dashboard: Visit, service: Running, user: str
):
    kept, gone = service.memory.transfer.add_many(
        [{"content": "Likes green tea"}, {"content": "Was at the dentist"}], user_id=user
    )
    page = dashboard.open(f"#/memories?user={user}")
    page.get_by_role("checkbox", name="Likes green tea").check()
    page.get_by_role("button", name="Pin", exact=True).click()
    expect(page.get_by_text("1 memory pinned.")).to_be_visible()
    assert "pinned" in service.memory.get(kept.id).tags
    page.get_by_role("checkbox", name="Likes green tea").check()
    page.get_by_label("Move to a category").select_option("preference")
    expect(page.get_by_text("1 memory moved to preference.")).to_be_visible()
    page.get_by_role("checkbox", name="Was at the dentist").check()
    page.get_by_role("button", name="Forget…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Was at the dentist")
    dialog.get_by_role("button", name="Forget", exact=True).click()
    expect(dialog.locator(".receipt")).to_contain_text(gone.id)
    dialog.get_by_role("button", name="Done").click()
    expect(page.locator("tbody tr")).to_have_count(1)


FOCUS = """(button) => {
  window.lost = [];
  const look = () => {
    const said = document.querySelector("main [role=status]").innerText.trim();
    if (document.activeElement !== button) lost.push(said);
  };
  const kinds = {childList: true, subtree: true};
  new MutationObserver(look).observe(document.querySelector("main"), kinds);
  button.focus();
}"""
"""Focuses a button, and notes how far the list was whenever it changed without that focus."""


def test_a_long_list_goes_on_as_it_is_scrolled_and_stays_small(
    dashboard: Visit, service: Running, user: str
):
    service.memory.transfer.add_many(
        [{"content": f"Fact number {n:03}"} for n in range(400)], user_id=user
    )
    page = dashboard.open(f"#/memories?user={user}")
    rows = page.locator("tbody tr")
    expect(page.get_by_text("50 memories so far")).to_be_visible()
    page.get_by_role("button", name="Show more").evaluate(FOCUS)
    whole = page.get_by_text("400 memories, newest first")
    until = time.monotonic() + 60
    while not whole.is_visible():
        assert time.monotonic() < until, page.get_by_role("status").all_inner_texts()
        page.mouse.wheel(0, 4_000)
        page.wait_for_timeout(20)
    assert set(page.evaluate("lost")) <= {"400 memories, newest first"}  # without a button then
    expect(page.get_by_role("link", name="Fact number 000")).to_be_attached()
    expect(page.get_by_role("link", name="Fact number 399")).to_have_count(0)
    assert rows.count() < 250
    page.evaluate("scrollTo(0, 0)")
    expect(page.get_by_role("link", name="Fact number 399")).to_be_visible()


def test_every_match_is_chosen_across_pages_and_forgotten(
    dashboard: Visit, service: Running, user: str
):
    service.memory.transfer.add_many(
        [{"content": f"Met colleague {n:03}"} for n in range(130)], user_id=user
    )
    kept = service.memory.add("Likes green tea", user_id=user, category="preference")
    page = dashboard.open(f"#/memories?user={user}&category=personal")
    page.get_by_role("checkbox", name="Choose all").check()
    page.get_by_role("button", name="Choose every one that matches").click()
    expect(page.get_by_text("130 memories chosen")).to_be_visible()
    page.get_by_role("button", name="Forget…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("130 memories and 0 sentences")
    dialog.get_by_role("button", name="Forget", exact=True).click()
    expect(dialog.locator(".receipt")).to_contain_text("digest")
    assert [one.id for one in service.memory.list(user_id=user)] == [kept.id]


def test_a_fact_is_corrected_and_what_was_said_before_stays_readable(
    dashboard: Visit, service: Running, user: str
):
    service.memory.add("Lives in Oslo", user_id=user)
    page = overview_of(dashboard, user)
    page.get_by_role("link", name="Lives in Oslo").first.click()
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Content").fill("Lives in Bergen")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("h1")).to_have_text("Lives in Bergen")
    expect(page.get_by_role("region", name="History").locator("del")).to_have_text("Lives in Oslo")
    assert [one.content for one in service.memory.list(user_id=user)] == ["Lives in Bergen"]


def test_a_memory_is_added_in_place(dashboard: Visit, service: Running, user: str):
    page = dashboard.open(f"#/memories?user={user}")
    expect(page.get_by_text("No fact is known about this user yet.")).to_be_visible()
    page.get_by_role("button", name="Add a memory…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label(f"A statement about {user}").fill("Rows on Sundays")
    dialog.get_by_label("Its category").select_option("preference")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("link", name="Rows on Sundays")).to_be_visible()
    (fact,) = service.memory.list(user_id=user)
    assert (fact.content, fact.category) == ("Rows on Sundays", "preference")


def test_the_first_page_tells_how_fast_the_service_answers(dashboard: Visit, service: Running):
    service.sampler.take()
    dashboard.page.request.get(f"{service.url}/v1/caller")
    service.clock.advance(seconds=15)
    service.sampler.take()
    page = dashboard.open()
    expect(page.get_by_text(re.compile(r"half were answered within [\d.]+ ms"))).to_be_visible()


def test_a_subject_is_forgotten_with_a_receipt(dashboard: Visit, service: Running, user: str):
    said = ["Anna lives in Bergen.", "I love rowing."]
    messages = [Message(id=f"m{n}", role="user", content=text) for n, text in enumerate(said)]
    service.memory.observe(messages, user_id=user, session_id="s1")
    service.memory.flush()
    page = dashboard.open(f"#/memories?user={user}")
    page.get_by_role("button", name="Forget a subject…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("A person, a thing or a topic").fill("Anna")
    dialog.get_by_role("button", name="Show").click()
    expect(dialog).to_contain_text("Anna lives in Bergen")
    dialog.get_by_role("button", name="Forget", exact=True).click()
    expect(dialog.locator(".receipt")).to_contain_text("digest")
    dialog.get_by_role("button", name="Done").click()
    expect(page.get_by_text("Forgotten, for good.")).to_be_visible()
    told = str(service.memory.sessions.messages(user_id=user, session_id="s1"))
    assert "Anna" not in told
    assert "rowing" in told


def test_a_request_is_found_on_the_first_page_and_declined(
    dashboard: Visit, service: Running, user: str
):
    said = ["Anna lives in Bergen.", "Please forget what I said about Anna."]
    messages = [Message(id=f"m{n}", role="user", content=text) for n, text in enumerate(said)]
    service.memory.observe(messages, user_id=user, session_id="s1")
    service.memory.flush()
    page = overview_of(dashboard, user)
    asked = page.get_by_role("region", name="Requests to forget")
    asked.get_by_role("button", name="Decide").click()
    page.get_by_role("dialog").get_by_role("button", name="Decline").click()
    expect(asked).to_have_count(0)
    assert [one.state for one in service.memory.history.requests(user_id=user)] == ["declined"]


def link(service: Running, user: str, older: str, newer: str, *, ended: bool) -> tuple[Fact, Fact]:
    """Add two statements, of which a judge found that the newer one ends the older, or may."""
    first = service.memory.add(older, user_id=user)
    second = service.memory.add(newer, user_id=user)
    service.memory.flush()  # nothing else changes them meanwhile
    ledger = inside(service.memory).ledger
    old, new = ledger.get([first.id, second.id])
    now = service.clock.now()
    why = cause(new, "pairs-1", ("perhaps an end",), now, 0.8)
    change = superseded(old, new, why) if ended else perhaps_changed(old, why)
    ledger.apply([Update(change, "superseded" if ended else "linked", now, why.reason)])
    return first, second


def test_doubts_are_settled_and_the_answers_saved_as_labels(
    dashboard: Visit, service: Running, user: str
):
    chess, _ = link(service, user, "Plays chess", "Sold the chess set", ended=False)
    boat, _ = link(service, user, "Owns a boat", "Bought a harbour berth", ended=False)
    page = dashboard.open(f"#/beliefs?user={user}")
    page.get_by_role("link", name="Perhaps changed").click()
    pair = page.locator(".item").filter(has_text="Plays chess")
    pair.get_by_role("button", name="It changed").click()
    expect(pair).to_have_count(0)
    pair = page.locator(".item").filter(has_text="Owns a boat")
    pair.get_by_role("button", name="Both hold").click()
    expect(page.get_by_text("Nothing is in doubt")).to_be_visible()
    assert service.memory.get(chess.id).status is Status.SUPERSEDED
    assert service.memory.get(boat.id).status is Status.ACTIVE
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save them as labels").click()
    lines = saved.value.path().read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["label"] for line in lines} == {"over", "neither"}


def test_a_days_ends_are_read_as_a_diff_and_undone_together(
    dashboard: Visit, service: Running, user: str
):
    for older, newer in (("Plays chess", "Gave up chess"), ("Owns a boat", "Sold the boat")):
        link(service, user, older, newer, ended=True)
    page = dashboard.open(f"#/beliefs?user={user}")
    page.get_by_role("link", name="Ended", exact=True).click()
    day = page.get_by_role("region", name=re.compile("Ended on"))
    expect(day.locator("del")).to_have_count(2)
    expect(day.locator("ins")).to_have_count(2)
    day.get_by_role("button", name="Undo the whole day").click()
    expect(page.get_by_text("2 memories of")).to_be_visible()
    said = {one.content for one in service.memory.list(user_id=user)}
    assert said == {"Plays chess", "Gave up chess", "Owns a boat", "Sold the boat"}


def test_a_conversation_is_left_unread_and_read_again(
    dashboard: Visit, service: Running, user: str
):
    service.memory.observe(
        [Message(id="m1", role="user", content="I love rowing.")], user_id=user, session_id="s1"
    )
    service.memory.flush()
    page = dashboard.open(f"#/sessions/s1?user={user}")
    page.get_by_role("button", name="Leave unread").click()
    expect(page.get_by_text("no facts are drawn")).to_be_visible()
    assert not service.memory.sessions.list(user_id=user)[0].options.extract
    page.get_by_role("link", name="Sessions").first.click()
    expect(page.locator("tbody tr")).to_contain_text("left unread")
    page.get_by_role("link", name="s1").click()
    page.get_by_role("button", name="Read it again").click()
    expect(page.get_by_role("button", name="Leave unread")).to_be_visible()
    assert service.memory.sessions.list(user_id=user)[0].options.extract


def test_a_conversation_is_forgotten_with_a_receipt(dashboard: Visit, service: Running, user: str):
    for session, text in (("s1", "Anna lives in Bergen."), ("s2", "I love rowing.")):
        said = [Message(id="m1", role="user", content=text)]
        service.memory.observe(said, user_id=user, session_id=session)
    service.memory.flush()
    page = dashboard.open(f"#/sessions/s1?user={user}")
    page.get_by_role("button", name="Forget…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Anna lives in Bergen")
    dialog.get_by_role("button", name="Forget", exact=True).click()
    expect(dialog.locator(".receipt")).to_contain_text("digest")
    dialog.get_by_role("button", name="Done").click()
    expect(page.locator("h1")).to_have_text("Sessions")
    expect(page.locator("tbody tr")).to_have_count(1)
    assert [one.session_id for one in service.memory.sessions.list(user_id=user)] == ["s2"]


def test_every_change_of_a_period_can_be_shown(dashboard: Visit, service: Running, user: str):
    service.memory.transfer.add_many(
        [{"content": f"Fact number {n:03}"} for n in range(32)], user_id=user
    )
    page = dashboard.open(f"#/overview?user={user}")
    learnt = page.get_by_role("region", name=re.compile(r"^Learnt \d"))
    expect(learnt.locator(".item")).to_have_count(5)
    learnt.get_by_role("button", name="Show 27 more").click()
    expect(learnt.locator(".item")).to_have_count(32)


def test_older_statements_are_reached_from_the_timelines(
    dashboard: Visit, service: Running, user: str
):
    for number in range(6):
        service.memory.add(f"Met Ida {number} times", user_id=user)
        service.clock.advance(days=1)
    page = dashboard.open(f"#/beliefs?user={user}&limit=4")
    line = page.locator(".timeline")
    expect(line.locator("summary")).to_contain_text("Ida 4 statements")
    expect(page.get_by_text("Only the newest statements are laid out")).to_be_visible()
    page.get_by_role("link", name="Earlier statements").click()
    expect(line.locator("summary")).to_contain_text("Ida 2 statements")
    line.locator("summary").click()
    expect(line).to_contain_text("Met Ida 0 times")
    expect(page.get_by_role("link", name="Earlier statements")).to_have_count(0)
    page.get_by_role("link", name="The newest").click()
    expect(line.locator("summary")).to_contain_text("Ida 4 statements")
    page = dashboard.open(f"#/beliefs?user={user}")
    expect(line.locator("summary")).to_contain_text("Ida 6 statements")
    expect(page.get_by_text("Only the newest")).to_have_count(0)


def test_older_memories_are_reached_from_the_map(dashboard: Visit, service: Running, user: str):
    service.memory.transfer.add_many(
        [{"content": f"Fact number {n:03}"} for n in range(7)], user_id=user
    )
    page = dashboard.open(f"#/map?user={user}&limit=4")
    dots = page.locator(".map circle")
    expect(dots).to_have_count(4)
    expect(page.get_by_text("Only the newest memories are on this map")).to_be_visible()
    page.get_by_role("link", name="Earlier memories").click()
    expect(dots).to_have_count(3)
    page.get_by_role("link", name="The newest").click()
    expect(dots).to_have_count(4)


def test_a_field_of_the_profile_is_written_by_hand(dashboard: Visit, service: Running, user: str):
    service.memory.add("Likes tea", user_id=user)
    page = dashboard.open(f"#/profile?user={user}")
    page.get_by_role("button", name="Edit Home").click()
    page.get_by_label("Text of home").fill("Lisbon")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Home saved.")).to_be_visible()
    told = service.memory.profile.get(user_id=user).profile.home
    assert told is not None
    assert told.text == "Lisbon"


def test_an_empty_store_shows_how_to_begin(visit: Visits, empty: Running):
    page = visit(empty).open()
    expect(page.get_by_role("heading", name="Three ways to begin")).to_be_visible()
    expect(page.get_by_role("button", name="Copy")).to_have_count(3)
    page.get_by_role("button", name="Take in a sample conversation").click()
    expect(page.get_by_role("heading", name="What changed for sample")).to_be_visible()
    expect(page.get_by_role("region", name="Learnt")).to_contain_text("coffee after noon")


@pytest.mark.parametrize("place", ["overview", "jobs"])
def test_how_far_an_ingest_is_shows_by_itself(
    page: Page, dashboard: Visit, service: Running, user: str, place: str
):
    def say(*numbers: int) -> None:
        said = [Message(id=f"m{n}", role="user", content=f"I own boat {n}.") for n in numbers]
        service.memory.observe(said, user_id=user, session_id="told")

    say(1, 2, 3)
    service.memory.flush()
    dashboard.open(f"#/{place}?user={user}")
    waiting = page.locator(".waiting")
    expect(waiting).to_contain_text("Everything said so far has been read.")
    say(4, 5)
    expect(waiting).to_contain_text("3 of 5 messages read")
    expect(waiting.get_by_role("progressbar").first).to_have_attribute("max", "5")
    expect(waiting.get_by_role("link", name="told")).to_be_visible()
    waiting.get_by_role("button", name="Read now").click()
    expect(waiting).to_contain_text("Everything said so far has been read.")


@pytest.mark.parametrize("place", ["overview", "jobs"])
def test_how_far_a_job_is_shows_by_itself(
    page: Page,
    dashboard: Visit,
    service: Running,
    user: str,
    place: str,
    monkeypatch: pytest.MonkeyPatch,
):
    for number in range(3):
        service.memory.add("Likes tea", user_id=f"{user}-{number}")
    turns = threading.Semaphore(1)  # one user at a time, as the test lets it

    def held(*given: Any) -> Any:
        turns.acquire()
        return to_archive(*given)

    monkeypatch.setattr("semantic_memory.application.jobs.upkeep.to_archive", held)
    dashboard.open(f"#/{place}?user={user}-0")
    expect(page.get_by_text("Everything said so far has been read.")).to_be_visible()
    job = threading.Thread(target=service.memory.jobs.run, args=(["decay"],))
    job.start()
    try:
        total = len(service.memory.admin.users())
        progress = page.locator(".progress").filter(has_text="decay")
        expect(progress).to_contain_text(f"{100 // total} %, 1 of {total} users, about")
        expect(progress.get_by_role("progressbar")).to_have_attribute("max", str(total))
        turns.release()
        expect(progress).to_contain_text(f"{200 // total} %, 2 of {total} users")
    finally:
        turns.release(1000)
        job.join()
    expect(progress).to_have_count(0)


def test_the_page_of_memories_is_light(dashboard: Visit, service: Running, user: str):
    service.memory.transfer.add_many(
        [{"content": f"Fact number {n:03}"} for n in range(60)], user_id=user
    )
    sizes: list[int] = []
    dashboard.page.on("requestfinished", lambda one: sizes.append(one.sizes()["responseBodySize"]))
    page = dashboard.open(f"#/memories?user={user}")
    expect(page.get_by_text("50 memories so far")).to_be_visible()
    assert 0 < sum(sizes) < FIRST_PAINT


def test_texts_run_as_their_script_does(dashboard: Visit, service: Running, user: str):
    text = "אני גר בחיפה"
    said = [Message(id="m1", role="user", content=text + " ועובד בנמל, ליד הים הגדול והכחול.")]
    service.memory.observe(said, user_id=user, session_id="s1")
    fact = service.memory.add(text, user_id=user)
    at_the_right = """(node) => {
        const range = document.createRange();
        range.selectNodeContents(node);
        const style = getComputedStyle(node);
        const edge = node.getBoundingClientRect().right - parseFloat(style.paddingRight);
        return Math.abs(edge - range.getBoundingClientRect().right) < 2;
    }"""
    page = dashboard.open(f"#/memory/{fact.id}?user={user}")
    expect(page.locator("h1")).to_have_text(text)
    assert page.locator("h1").evaluate(at_the_right)
    page = dashboard.open(f"#/memories?user={user}")
    cell = page.locator("td.content").first
    expect(cell).to_be_visible()
    assert cell.evaluate("(node) => getComputedStyle(node).direction") == "rtl"
    page = dashboard.open(f"#/sessions/s1?user={user}")
    expect(page.locator(".said")).to_be_visible()
    assert page.locator(".said").evaluate(at_the_right)


def test_the_usual_place_of_documents_shows_the_routes(dashboard: Visit):
    page = dashboard.page
    page.goto(f"{dashboard.url}/docs")
    expect(page.locator("h1")).to_have_text("REST routes")
    page.get_by_label("Find a route").fill("/v1/forget")
    page.get_by_text("POST /v1/forget").click()
    told = page.locator("details[open] .said")
    expect(told).to_contain_text("Forget a topic, a time, a session")


def test_pages_are_walked_by_keys(dashboard: Visit, service: Running, user: str):
    service.memory.transfer.add_many(
        [{"content": "Likes tea"}, {"content": "Likes rye"}], user_id=user
    )
    page = dashboard.open(f"#/memories?user={user}")
    expect(page.locator("tbody tr")).to_have_count(2)
    page.keyboard.press("j")
    first = page.evaluate("document.activeElement.innerText")
    page.keyboard.press("j")
    assert {first, page.evaluate("document.activeElement.innerText")} == {"Likes tea", "Likes rye"}
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("next and previous")
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("s")
    expect(page.locator("h1")).to_have_text("Search")
    page.keyboard.press("/")
    expect(page.get_by_label("Query")).to_be_focused()


def test_navigation_leaves_a_narrow_screen_to_the_page(visit: Visits, service: Running):
    page = visit(service, viewport={"width": 390, "height": 844}).open(f"#/overview?user={USER}")
    bar = page.get_by_role("navigation", name="Pages")
    expect(bar).to_be_visible()
    box = bar.bounding_box()
    assert box is not None
    assert box["height"] < 80
    bar.get_by_role("button", name="More").click()
    bar.get_by_role("link", name="Traces").click()
    expect(page.locator("h1")).to_have_text("Traces")


@pytest.mark.parametrize("place", ["memories", "search"])
def test_date_fields_do_not_overlap(visit: Visits, service: Running, place: str):
    page = visit(service, viewport={"width": 1440, "height": 900}).open(f"#/{place}?user={USER}")
    if place == "search":
        page.get_by_text("Filters", exact=True).click()
    expect(page.locator('input[type="date"]').first).to_be_visible()
    boxes = [one.bounding_box() for one in page.locator('input[type="date"]').all()]
    assert len(boxes) >= 2
    spans = sorted((box["y"], box["x"], box["x"] + box["width"]) for box in boxes if box)
    for (row, _, end), (next_row, start, _) in pairwise(spans):
        assert row != next_row or end <= start
