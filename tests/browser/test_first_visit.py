"""Somebody who has never seen the product finds the answers on its pages alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from semantic_memory import Message
from tests.browser.conftest import Visit, Visits
from tests.browser.store import USER, Running, serve_sample

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


def test_a_long_list_goes_on_as_it_is_scrolled(dashboard: Visit, service: Running, user: str):
    service.memory.transfer.add_many(
        [{"content": f"Fact number {n:03}"} for n in range(120)], user_id=user
    )
    page = dashboard.open(f"#/memories?user={user}")
    rows = page.locator("tbody tr")
    expect(rows.nth(40)).to_be_attached()
    for seen in (60, 110, 119):
        rows.last.scroll_into_view_if_needed()
        expect(rows.nth(seen)).to_be_attached()


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


def test_what_waits_is_shown_and_read_at_once(
    page: Page, dashboard: Visit, service: Running, user: str
):
    said = [Message(id="m1", role="user", content="I live in a houseboat in Ghent.")]
    service.memory.observe(said, user_id=user, session_id="s1")
    dashboard.open()
    waiting = page.get_by_role("region", name="The store")
    expect(waiting).to_contain_text("conversation to read")
    waiting.get_by_role("button", name="Read now").click()
    expect(waiting).to_contain_text("Everything said so far has been read.")


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
