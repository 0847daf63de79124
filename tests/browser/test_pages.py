"""Every page of the dashboard works."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from semantic_memory import Category, Message
from semantic_memory.settings import Settings
from tests.browser.conftest import Visit
from tests.browser.store import USER, Running

QUESTION = "Where does Maya live now?"


@pytest.fixture
def user() -> str:
    """A user of this test alone."""
    return f"user-{uuid4().hex[:8]}"


def number(text: str) -> float:
    return float(text.replace("−", "-"))


def test_a_search_shows_what_each_score_is_made_of(page: Page):
    page.get_by_label("Query").fill(QUESTION)
    page.get_by_role("button", name="Search").click()
    hit = page.locator(".hit").filter(has_text="Berlin").first
    hit.get_by_text("Why this score").click()

    def told(part: str) -> list[float]:
        return [*map(number, hit.locator(f'[data-part="{part}"]').all_inner_texts())]

    (match,), (relevance,), (weighed,) = told("whole"), told("relevance"), told("weighed")
    assert sum(told("match")) == pytest.approx(match, abs=0.005)
    made = 1.0
    for factor in told("factor"):
        made *= factor
    assert made == pytest.approx(relevance, abs=0.005)
    weight = Settings().retrieval.relevance
    assert match * (1 - weight + weight * relevance) == pytest.approx(weighed, abs=0.005)
    said = number(hit.locator(".figure").inner_text().removeprefix("score").strip())
    assert weighed + sum(told("asked")) + sum(told("newer")) == pytest.approx(said, abs=0.005)


def test_filters_narrow_a_search(dashboard: Visit):
    page = dashboard.open(f"#/search?user={USER}&q=compaction&categories=decision&k=50")
    expect(page.locator(".hit").first).to_be_visible()
    assert set(page.locator(".hit .category").all_inner_texts()) == {"decision"}
    page.get_by_label("As believed on").fill("2020-01-01")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_text("Nothing found")).to_be_visible()


def test_a_hit_leads_to_its_memory_and_that_to_its_conversation(page: Page, service: Running):
    hits = service.memory.search(QUESTION, user_id=USER, k=5)
    fact = next(hit.fact for hit in hits if hit.fact.category is not Category.CONVERSATION)
    session_id, (message_id, *_) = fact.source.session_id, fact.message_ids
    assert session_id is not None
    said = service.memory.sessions.messages(user_id=USER, session_id=session_id)
    (source,) = [message for message in said if message.id == message_id]
    page.get_by_label("Query").fill(QUESTION)
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name=fact.content).click()
    expect(page.locator("h1")).to_have_text(fact.content)
    expect(page.locator("h1")).to_be_focused()
    expect(page.locator(".message.marked")).to_contain_text(source.content)
    assert page.locator(".message").count() > 1  # its neighbours
    page.get_by_role("link", name="the whole conversation").click()
    expect(page.locator("h1")).to_have_text(session_id)
    expect(page.locator(".message")).to_have_count(len(said))
    marked = page.locator(".message.marked")
    expect(marked).to_be_in_viewport()
    expect(marked).to_contain_text(source.content)
    expect(marked.get_by_role("link", name=fact.content)).to_be_visible()


def test_a_page_can_be_linked_and_reloaded(dashboard: Visit, service: Running):
    fact = service.memory.list(user_id=USER, filters={"categories": ["decision"]}, limit=1)[0]
    page = dashboard.open(f"#/memory/{fact.id}?user={USER}")
    expect(page.locator("h1")).to_have_text(fact.content)
    page.reload()
    expect(page.locator("h1")).to_have_text(fact.content)
    expect(page).to_have_title("Memory · semantic-memory")


def test_times_are_in_the_readers_language_with_the_exact_one_behind(
    dashboard: Visit, service: Running
):
    said = datetime(2026, 5, 6, 10, 31, tzinfo=UTC)
    fact = service.memory.add("Reads at night", user_id="times", created_at=said)
    page = dashboard.open(f"#/memory/{fact.id}?user=times")
    shown = page.locator(".memory-head time")
    expect(shown).to_have_text("6 May 2026, 10:31")
    expect(shown).to_have_attribute("title", "2026-05-06T10:31:00Z")


def test_memories_are_filtered_and_sorted(
    page: Page, dashboard: Visit, service: Running, user: str
):
    for place in range(10):
        service.memory.add(f"Fact number {place:02}", user_id=user, confidence=0.5 + place / 20)
    dashboard.open(f"#/memories?user={user}")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(10)
    page.get_by_label("Order").select_option("confidence")
    expect(rows.first).to_contain_text("Fact number 09")
    page.get_by_label("Confidence from").fill("0.75")
    page.get_by_role("button", name="Apply").click()
    expect(rows).to_have_count(5)
    page.get_by_label("Status").select_option("archived")
    expect(page.get_by_text("No memories")).to_be_visible()


def test_an_edit_is_kept_with_what_was_before_which_can_be_restored(
    page: Page, dashboard: Visit, service: Running, user: str
):
    fact = service.memory.add("Lives in Oslo", user_id=user)
    service.clock.advance(days=1)
    dashboard.open(f"#/memory/{fact.id}?user={user}")
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Content").fill("Lives in Berlin")
    page.get_by_label("Tags").fill("home, city.berlin")
    page.get_by_label("Reason").fill("moved")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("h1")).to_have_text("Lives in Berlin")
    latest = page.locator(".history li").first
    expect(latest).to_contain_text("moved")
    expect(latest.locator("del").first).to_have_text("Lives in Oslo")
    assert service.memory.get(fact.id).tags == ("home", "city.berlin")

    page.get_by_role("link", name="Lives in Oslo").click()
    expect(page.locator(".badge")).to_have_text("ended")
    expect(page.locator(".lineage .next")).to_contain_text("Lives in Berlin")
    page.get_by_role("button", name="Restore").click()
    page.get_by_role("dialog").get_by_role("button", name="Restore").click()
    expect(page.get_by_text("Restored: it is believed again.")).to_be_visible()
    expect(page.locator(".badge")).to_have_count(0)
    assert {one.content for one in service.memory.list(user_id=user)} == {
        "Lives in Oslo",
        "Lives in Berlin",
    }


def test_what_cannot_be_saved_says_why_and_keeps_what_was_typed(
    page: Page, dashboard: Visit, service: Running, user: str
):
    fact = service.memory.add("Likes tea", user_id=user)
    dashboard.open(f"#/memory/{fact.id}?user={user}")
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Tags").fill("no/tag")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("no/tag")
    expect(page.get_by_label("Tags")).to_have_value("no/tag")
    assert service.memory.get(fact.id) == fact


def test_deleting_asks_first_and_is_for_good(
    page: Page, dashboard: Visit, service: Running, user: str
):
    fact = service.memory.add("Has a secret", user_id=user)
    dashboard.open(f"#/memory/{fact.id}?user={user}")
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert service.memory.get(fact.id) == fact
    page.get_by_role("button", name="Delete").click()
    page.get_by_label("Reason").fill("asked to")
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.locator("h1")).to_have_text("Deleted")
    expect(page.locator(".notice")).to_contain_text("asked to")
    assert service.memory.list(user_id=user) == []


def test_a_memory_that_never_was_is_an_error_to_read(dashboard: Visit):
    page = dashboard.open(f"#/memory/unknown?user={USER}")
    expect(page.get_by_role("alert")).to_contain_text("no memory 'unknown'")


def test_retention_is_drawn_with_today_marked(dashboard: Visit, service: Running):
    fact = service.memory.list(user_id=USER, filters={"categories": ["project"]})[-1]
    explained = service.memory.history.explain(fact.id)
    page = dashboard.open(f"#/memory/{fact.id}?user={USER}")
    chart = page.get_by_role("img", name="Retention over time")
    expect(chart).to_have_accessible_name(re.compile(f"{100 * explained.retention:.0f} % is left"))
    expect(chart.locator(".mark")).to_contain_text(f"today {explained.retention:.2f}")


def test_the_map_shows_every_memory_and_opens_one(dashboard: Visit, service: Running):
    points = service.memory.profile.layout(user_id=USER).points
    page = dashboard.open(f"#/map?user={USER}")
    dots = page.locator(".map circle:not(.here)")
    expect(dots).to_have_count(len(points))
    page.get_by_role("checkbox", name="conversation").uncheck()
    left = [point for point in points if point.category != "conversation"]
    expect(dots).to_have_count(len(left))
    dots.last.hover()  # nothing is drawn over it
    expect(page.locator(".pointed a")).to_have_text(left[-1].text)
    dots.last.click()
    expect(page.locator("h1")).to_have_text(left[-1].text)


def test_sessions_show_which_facts_came_from_which_message(dashboard: Visit, service: Running):
    fact = service.memory.list(user_id=USER, filters={"categories": ["decision"]})[-1]
    page = dashboard.open(f"#/sessions?user={USER}")
    expect(page.locator("tbody tr")).to_have_count(3)
    page.get_by_role("link", name=fact.source.session_id).click()
    message = page.locator(f'[data-message="{fact.message_ids[0]}"]')
    message.get_by_role("link", name=fact.content).click()
    expect(page.locator("h1")).to_have_text(fact.content)


def test_a_request_to_forget_is_confirmed(
    page: Page, dashboard: Visit, service: Running, user: str
):
    said = ["Anna lives in Bergen.", "I love rowing.", "Please forget what I said about Anna."]
    messages = [Message(id=f"m{n}", role="user", content=text) for n, text in enumerate(said)]
    service.memory.observe(messages, user_id=user, session_id="s1")
    service.memory.flush()
    dashboard.open(f"#/sessions?user={user}")
    page.get_by_role("button", name="Decide").click()
    expect(page.get_by_role("dialog")).to_contain_text("Anna lives in Bergen.")
    page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    expect(page.get_by_text("Requests to forget")).to_have_count(0)
    assert [one.state for one in service.memory.history.requests(user_id=user)] == ["done"]
    assert "Anna" not in str(service.memory.sessions.messages(user_id=user, session_id="s1"))


def test_a_long_session_is_shown_in_parts(dashboard: Visit, service: Running, user: str):
    said = [Message(id=f"m{n}", role="user", content=f"Message {n}") for n in range(450)]
    service.memory.observe(said, user_id=user, session_id="long")
    page = dashboard.open(f"#/sessions/long?user={user}")
    expect(page.locator(".message")).to_have_count(200)
    page.get_by_role("button", name="Show more (250 left)").click()
    expect(page.locator(".message")).to_have_count(400)
    page = dashboard.open(f"#/sessions/long?user={user}&message=m440")
    expect(page.locator(".message.marked")).to_be_in_viewport()


def test_the_packed_prompt_never_exceeds_its_budget(dashboard: Visit, service: Running):
    page = dashboard.open(f"#/prompt?user={USER}&q={QUESTION}&budget=300")
    expected = service.memory.context(QUESTION, user_id=USER, budget=300)
    block = page.locator(".block")
    expect(block).to_have_text(expected.text, use_inner_text=True)
    expect(page.locator(".tokens")).to_contain_text(f"{expected.tokens} of 300 tokens used")
    expect(page.locator(".facts li")).to_have_count(len(expected.facts))
    page.get_by_label("Budget in tokens", exact=True).fill("150")
    expect(page.locator(".tokens")).to_contain_text("of 150 tokens used")
    used = int(page.locator(".tokens p").inner_text().split()[0])
    assert 0 < used <= 150


def test_a_dry_run_tells_what_it_would_do_and_does_nothing(
    page: Page, dashboard: Visit, service: Running, user: str
):
    old = service.memory.add("Is writing a parser", user_id=user, category="finding")
    service.clock.advance(days=200)
    dashboard.open(f"#/jobs?user={user}")
    page.get_by_label(f"{user} only").check()
    page.get_by_role("button", name="Dry run: decay").click()
    planned = page.get_by_role("list", name="What it would do")
    expect(planned).to_contain_text("fade “Is writing a parser”")
    assert service.memory.get(old.id).confidence == old.confidence
    page.get_by_role("button", name="Run now: decay").click()
    expect(page.get_by_text("Ran decay: 1 faded")).to_be_visible()
    expect(page.locator("tbody tr").first).to_contain_text("1 faded")
    assert service.memory.get(old.id).confidence < old.confidence


def test_metrics_are_drawn_over_time_and_told_in_words(dashboard: Visit, service: Running):
    for _ in range(3):
        service.memory.search("tea", user_id=USER)
        dashboard.page.request.get(f"{service.url}/v1/caller")
        service.sampler.take()
        service.clock.advance(seconds=15)
    page = dashboard.open("#/metrics")
    requests = page.get_by_role("img", name="Requests a second")
    expect(requests).to_have_accessible_name(
        re.compile(r"Requests a second: [\d.]+/s (now|throughout)")
    )
    expect(
        page.get_by_role("img", name=re.compile("Time to answer: half below .* ms"))
    ).to_be_visible()
    expect(
        page.get_by_role("img", name=re.compile("Memory of the process: .* [MG]B"))
    ).to_be_visible()
    expect(page.locator("figure")).to_have_count(8)


def test_a_profile_says_what_the_service_says(page: Page, service: Running):
    told = service.memory.profile.get(user_id=USER).profile
    fields = [field for _, field in told if field is not None]
    page.get_by_role("link", name="Profile").click()
    expect(page.locator("h1")).to_have_text("Profile")
    for field in fields:
        expect(page.get_by_text(field.text, exact=True)).to_be_visible()
    assert fields


def test_what_users_say_is_never_markup(dashboard: Visit, service: Running, user: str):
    attack = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"
    said = [Message(id="m1", role="user", content=attack, name="<b>Eve</b>")]
    service.memory.observe(said, user_id=user, session_id="s1")
    fact = service.memory.add(
        attack, user_id=user, metadata={"__html": attack, "type": "script", "props": {"a": attack}}
    )
    service.memory.flush()
    for place in (
        f"#/search?user={user}&q=img",
        f"#/memories?user={user}&category=all",
        f"#/memory/{fact.id}?user={user}",
        f"#/sessions/s1?user={user}",
        f"#/prompt?user={user}&q=img",
        f"#/map?user={user}",
    ):
        page = dashboard.open(place)
        page.wait_for_load_state("networkidle")
        if "map" in place:
            page.locator(".map circle").first.hover()
        expect(page.get_by_text("onerror").first).to_be_visible()
        assert page.locator("main img, main script").count() == 0
        assert page.title() != "taken"
