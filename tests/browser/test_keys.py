"""The pages that a key's rights allow, and the messages for the others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from semantic_memory.entrypoints.rights import Right
from semantic_memory.testing import HashEmbedder, InMemoryIndex
from tests.browser.conftest import Visit, Visits
from tests.browser.store import Running, serve_sample


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Serve two users' memories with keys required."""
    directory = tmp_path_factory.mktemp("guarded") / "store"
    with serve_sample(directory, embedder=HashEmbedder(), index=InMemoryIndex()) as running:
        running.key()
        running.memory.add("Likes chess", user_id="noah")
        yield running


@pytest.fixture
def guarded_visit(visit: Visits, guarded: Running) -> Visit:
    return visit(guarded)


def log_in(visited: Visit, key: str, place: str = "") -> Page:
    page = visited.open(place)
    page.get_by_label("API key").fill(key)
    page.get_by_role("button", name="Log in").click()
    return page


def test_a_wrong_key_is_refused_and_the_right_one_opens(guarded_visit: Visit, guarded: Running):
    page = log_in(guarded_visit, "smk_wrong_key", "#/memories?user=maya")
    expect(page.get_by_role("alert")).to_have_text("This key isn't known.")
    assert page.evaluate("sessionStorage.length + localStorage.length") == 0
    page.get_by_label("API key").fill(guarded.key())
    page.get_by_role("button", name="Log in").click()
    expect(page.locator("tbody tr").first).to_be_visible()
    page.reload()
    expect(page.locator("tbody tr").first).to_be_visible()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_label("API key")).to_be_visible()
    assert page.evaluate("JSON.stringify([sessionStorage, localStorage])") == "[{},{}]"


def test_a_key_that_is_revoked_leads_back_to_the_log_in(guarded_visit: Visit, guarded: Running):
    key = guarded.key()
    page = log_in(guarded_visit, key, "#/search")  # a page that asks nothing by itself
    page.get_by_label("User", exact=True).fill("maya")
    page.get_by_role("button", name="Open").click()
    guarded.keys.revoke(key.split("_")[1])
    page.get_by_role("link", name="Memories").click()
    expect(page.get_by_label("API key")).to_be_visible()


def test_a_key_that_may_only_read_is_shown_no_way_to_change(guarded_visit: Visit, guarded: Running):
    fact = guarded.memory.list(user_id="maya", limit=1)[0]
    key = guarded.key(("maya",), (Right.READ,))
    page = log_in(guarded_visit, key, f"#/memory/{fact.id}?user=maya")
    expect(page.locator("h1")).to_have_text(fact.content)
    expect(page.get_by_text("This key may read, not change.")).to_be_visible()
    expect(page.get_by_role("button", name="Edit")).to_have_count(0)
    page.get_by_role("link", name="Jobs").click()
    expect(page.get_by_text("Not with this key")).to_be_visible()


def test_a_key_for_one_user_opens_that_one_and_tells_of_no_other(
    guarded_visit: Visit, guarded: Running
):
    page = log_in(guarded_visit, guarded.key(("maya",)), "#/memories")
    expect(page.get_by_label("User", exact=True)).to_have_value("maya")
    expect(page.locator("tbody tr").first).to_be_visible()
    assert page.locator("#users option").evaluate_all("all => all.map((one) => one.value)") == [
        "maya"
    ]
    for other in ("noah", "nobody"):
        page.get_by_label("User", exact=True).fill(other)
        page.get_by_role("button", name="Open").click()
        expect(page.get_by_role("alert")).to_contain_text("this key doesn't cover that user")
        assert "chess" not in page.content()


def test_a_key_without_the_right_to_read_says_so(guarded_visit: Visit, guarded: Running):
    page = log_in(guarded_visit, guarded.key(("*",), (Right.WRITE,)), "#/memories?user=maya")
    expect(page.get_by_role("alert")).to_contain_text("this key has no right to read")
    page.get_by_role("link", name="Metrics").click()
    expect(page.locator("h1")).to_have_text("Metrics")


def test_upkeep_for_one_user_is_open_to_a_key_that_covers_only_that_one(
    guarded_visit: Visit, guarded: Running
):
    page = log_in(guarded_visit, guarded.key(("maya",)), "#/jobs")
    page.get_by_role("button", name="Dry run: dedup").click()
    expect(page.get_by_text("Dry run of dedup:")).to_be_visible()
