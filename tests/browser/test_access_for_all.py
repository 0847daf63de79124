"""The dashboard works by keyboard, on a narrow screen, in the dark, and with a screen reader."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit, Visits
from tests.browser.store import USER, Running

AXE = Path(__file__).with_name("axe-core-4.14.1.min.js").read_text(encoding="utf-8")
PLACES = {
    "overview": f"#/overview?user={USER}",
    "beliefs": f"#/beliefs?user={USER}",
    "perhaps changed": f"#/beliefs?user={USER}&view=unsure",
    "why not": f"#/why-not?user={USER}&q=Where does Maya live?&text=Lives in Oslo",
    "traces": f"#/traces?user={USER}",
    "search": f"#/search?user={USER}&q=Where does Maya live?&k=3",
    "no user": "#/search",
    "filters": f"#/search?user={USER}&q=compaction&categories=decision",
    "memories": f"#/memories?user={USER}",
    "memory": "#/memory/{fact}?user=maya",
    "unknown memory": f"#/memory/unknown?user={USER}",
    "map": f"#/map?user={USER}",
    "part of a map": f"#/map?user={USER}&limit=20",
    "stretch of beliefs": f"#/beliefs?user={USER}&limit=10",
    "sessions": f"#/sessions?user={USER}",
    "session": f"#/sessions/2026-03?user={USER}",
    "prompt": f"#/prompt?user={USER}&q=Where does Maya live?",
    "profile": f"#/profile?user={USER}",
    "jobs": f"#/jobs?user={USER}",
    "keys": "#/keys",
    "routes": "#/rest",
    "ended": f"#/beliefs?user={USER}&view=ended",
    "metrics": "#/metrics",
}


@pytest.fixture(scope="module", autouse=True)
def _sampled(service: Running) -> None:
    for _ in range(3):
        service.sampler.take()
        service.clock.advance(seconds=15)


def opened(visited: Visit, service: Running, name: str, most: int | None = None) -> Page:
    """Open a page and its details, at most so many of them."""
    fact = service.memory.list(user_id=USER, filters={"categories": ["decision"]})[0]
    page = visited.open(PLACES[name].replace("{fact}", fact.id))
    expect(page.locator("main")).to_be_visible()
    page.wait_for_load_state("networkidle")
    for summary in page.locator("main summary").all()[:most]:
        if summary.locator("..").get_attribute("open") is None:
            summary.click()
    return page


def violations(page: Page) -> list[str]:
    page.evaluate(AXE)
    found = page.evaluate("axe.run()")
    return [
        f"{one['id']}: {node['html'][:120]} {node['failureSummary']}"
        for one in found["violations"]
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PLACES)
def test_axe_finds_nothing(visit: Visits, service: Running, name: str, scheme: str):
    # of a list of details, which are alike: axe takes half a second for each
    page = opened(visit(service, color_scheme=scheme), service, name, most=20)
    assert violations(page) == []


def test_axe_finds_nothing_in_forms_and_dialogs(dashboard: Visit, service: Running):
    page = opened(dashboard, service, "memory")
    page.get_by_role("button", name="Delete").click()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Edit").click()
    assert violations(page) == []
    page = opened(dashboard, service, "keys")
    page.get_by_role("button", name="Make a key…").click()
    assert violations(page) == []
    page = opened(dashboard, service, "memories")
    page.get_by_role("button", name="Forget a subject…").click()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Add a memory…").click()
    assert violations(page) == []
    page = opened(dashboard, service, "session")
    page.get_by_role("button", name="Forget…").click()
    expect(page.get_by_role("dialog").get_by_role("listitem").first).to_be_visible()
    assert violations(page) == []


@pytest.mark.parametrize("name", PLACES)
def test_nothing_is_wider_than_a_narrow_screen(visit: Visits, service: Running, name: str):
    narrow = visit(service, viewport={"width": 360, "height": 740})
    page = opened(narrow, service, name)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert page.evaluate("innerWidth") == 360


def test_the_theme_follows_the_system_until_one_is_chosen(visit: Visits, service: Running):
    visited = visit(service, color_scheme="dark")
    page = visited.open()
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    dark = page.evaluate(ground)
    page.get_by_text("light", exact=True).click()
    light = page.evaluate(ground)
    assert light != dark
    page.reload()
    assert page.evaluate(ground) == light
    page.get_by_text("auto", exact=True).click()
    assert page.evaluate(ground) == dark


def tab_to(page: Page, name: str, most: int = 60) -> None:
    """Press Tab until the focused element is called `name`."""
    script = """() => { const at = document.activeElement;
        return at.labels?.[0]?.innerText || at.getAttribute("aria-label") || at.innerText; }"""
    for _ in range(most):
        page.keyboard.press("Tab")
        if (page.evaluate(script) or "").strip().startswith(name):
            return
    raise AssertionError(f"{name!r} isn't reached by Tab")


def test_everything_is_done_by_keyboard(dashboard: Visit, service: Running):
    service.memory.add("Plays the cello", user_id="kim")
    page = dashboard.open("#/search")
    expect(page.get_by_label("User", exact=True)).to_be_visible()
    tab_to(page, "Skip to the page", most=1)
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.get_by_label("User", exact=True).focus()
    page.keyboard.type("kim")
    page.keyboard.press("Enter")
    tab_to(page, "Query")
    page.keyboard.type("cello")
    page.keyboard.press("Enter")
    expect(page.locator(".hit")).to_have_count(1)
    tab_to(page, "Plays the cello")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_be_focused()
    tab_to(page, "Edit")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Content")).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.type(" and the viola")
    tab_to(page, "Save")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Plays the cello and the viola")
    tab_to(page, "Delete")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="Delete")).to_be_focused()


def test_the_map_is_walked_by_arrow_keys(dashboard: Visit):
    page = dashboard.open(f"#/map?user={USER}")
    page.get_by_role("application").focus()
    page.keyboard.press("Home")
    text = page.locator(".pointed a")
    first = text.inner_text()
    seen = {first}
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"):
        page.keyboard.press(key)
        seen.add(text.inner_text())
    assert len(seen) > 2
    chosen = text.inner_text()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text(chosen)


def test_what_has_the_focus_can_be_seen(page: Page):
    page.get_by_label("Query").focus()
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
