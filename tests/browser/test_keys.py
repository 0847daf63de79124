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


# ---------------------------------------------------------------- the page of keys


def test_an_administrator_makes_a_key_which_works_and_revokes_it(
    guarded_visit: Visit, guarded: Running
):
    page = log_in(guarded_visit, guarded.key(), "#/keys")
    page.get_by_role("button", name="Make a key…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name of the program or person").fill("notebook")
    dialog.get_by_label("Users:").fill("maya, team-*")
    dialog.get_by_role("checkbox", name="write").uncheck()
    dialog.get_by_role("button", name="Make the key").click()
    token = page.get_by_label("The key", exact=True).inner_text()
    page.get_by_role("button", name="Done").click()
    row = page.get_by_role("row").filter(has_text="notebook")
    expect(row).to_contain_text("maya, team-*")
    expect(row).to_contain_text("read")
    made = guarded.keys.read().find(token)
    assert made is not None
    assert made.users == ("maya", "team-*")
    assert made.rights == {Right.READ}
    assert token.split("_")[2] not in page.content()
    row.get_by_role("button", name="Revoke").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(row).to_have_count(0)
    assert guarded.keys.read().find(token) is None


def test_what_a_key_may_not_hand_on_is_refused_with_the_reason(
    guarded_visit: Visit, guarded: Running
):
    page = log_in(guarded_visit, guarded.key(("maya",)), "#/keys")
    expect(page.get_by_role("row")).to_have_count(1 + len(of_maya(guarded)))
    expect(page.get_by_role("heading", name="Webhook", exact=True)).to_have_count(0)
    page.get_by_role("button", name="Make a key…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name of the program or person").fill("wide")
    dialog.get_by_label("Users:").fill("*")
    dialog.get_by_role("button", name="Make the key").click()
    expect(dialog.get_by_role("alert")).to_contain_text("more users or rights than its own")


def of_maya(guarded: Running) -> list[str]:
    return [key.id for key in guarded.keys.read() if key.users == ("maya",)]


def test_the_page_of_keys_says_what_it_needs(guarded_visit: Visit, guarded: Running):
    page = log_in(guarded_visit, guarded.key(("maya",), (Right.READ, Right.WRITE)), "#/keys")
    expect(page.get_by_text("Not with this key")).to_be_visible()
    expect(page.get_by_text("This one may read, write.")).to_be_visible()
    expect(page.get_by_role("button", name="Make a key…")).to_have_count(0)


def test_the_tab_that_makes_the_first_key_goes_on_with_it(
    visit: Visits, tmp_path_factory: pytest.TempPathFactory
):
    directory = tmp_path_factory.mktemp("open") / "store"
    with serve_sample(
        directory, filled=False, embedder=HashEmbedder(), index=InMemoryIndex()
    ) as running:
        page = visit(running).open("#/keys")
        page.get_by_role("button", name="Make a key…").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Name of the program or person").fill("laptop")
        dialog.get_by_role("button", name="Make the key").click()
        page.get_by_role("button", name="Done").click()
        expect(page.get_by_role("row").filter(has_text="laptop")).to_contain_text("this tab's")
        expect(page.get_by_role("button", name="Log out")).to_be_visible()
        other = visit(running).open("#/keys")
        expect(other.get_by_label("API key")).to_be_visible()


def test_dead_letters_are_seen_and_removed(guarded_visit: Visit, guarded: Running):
    fact = guarded.memory.add("Likes chess", user_id="noah")
    letters = guarded.memory.admin.inspection.dead_letters
    number = guarded.memory.events.list(user_id="noah")[-1].id
    letters.add([number], "the endpoint answered 500", 12, guarded.clock.now())
    page = log_in(guarded_visit, guarded.key(), "#/keys")
    letter = page.get_by_label("Events that were given up").locator("li")
    expect(letter).to_contain_text("the endpoint answered 500")
    link = letter.get_by_role("link", name="a memory")
    assert fact.id in (link.get_attribute("href") or "")
    letter.get_by_role("button", name="Remove").click()
    expect(letter).to_have_count(0)
    assert letters.listed() == ()
