"""Take the screenshots of the dashboard in docs/images.

python -m tests.browser.screenshots [NAME...]: all of them, or those named, like `map-dark`.
"""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path
from typing import Any, Literal

import httpx
from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from semantic_memory.entrypoints.rights import Right
from tests.browser.conftest import ARGUMENTS, BROWSERS, find_browser
from tests.browser.store import USER, Running, serve_sample

IMAGES = Path(__file__).parent.parent.parent / "docs" / "images"
Scheme = Literal["light", "dark"]
QUESTION = "Where does Maya live now?"
SEARCH = f"#/search?user={USER}&q={QUESTION}&k=5"
PROMPT = f"#/prompt?user={USER}&q=Which compaction strategy did we choose, and why?&budget=300"
WIDE: ViewportSize = {"width": 1280, "height": 800}
NARROW: ViewportSize = {"width": 360, "height": 740}


def main() -> None:
    program = find_browser()
    if program is None:
        sys.exit(f"none of {', '.join(BROWSERS)} is on the path")
    IMAGES.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="semantic-memory-images-") as directory,
        serve_sample(Path(directory)) as running,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        memory = f"#/memory/{change_plans(running)}?user={USER}"
        be_busy(running)
        for scheme in ("light", "dark"):
            take(browser, running, f"overview-{scheme}", f"#/overview?user={USER}", scheme)
            take(browser, running, f"search-{scheme}", SEARCH, scheme)
            take(browser, running, f"memory-{scheme}", memory, scheme)
            take(browser, running, f"map-{scheme}", f"#/map?user={USER}", scheme)
            take(browser, running, f"narrow-{scheme}", SEARCH, scheme, NARROW)
        take(browser, running, "session", f"#/sessions/2026-03?user={USER}", "light")
        take(browser, running, "prompt", PROMPT, "light")
        take(browser, running, "beliefs", f"#/beliefs?user={USER}", "light")
        take(browser, running, "metrics", "#/metrics", "light")
        running.memory.jobs.run(["dedup", "conflicts"])
        running.clock.advance(days=60)
        take(browser, running, "jobs", f"#/jobs?user={USER}", "light")
        token = hand_out_keys(running)
        take(browser, running, "keys", "#/keys", "light", token=token)
        browser.close()


def change_plans(running: Running) -> str:
    """Correct a fact, so that it has a history."""
    facts = running.memory.list(user_id=USER, filters={"categories": ["project"]})
    beta = next(fact for fact in facts if "by the end of April" in fact.content)
    content = beta.content.replace("by the end of April", "on 4 May 2026")
    running.memory.update(beta.id, content=content, reason="the beta slipped by a week")
    return beta.id


def hand_out_keys(running: Running) -> str:
    """Create some keys; return the token of the first, which may do everything."""
    now = running.clock.now()
    _, token = running.keys.create("laptop", ("*",), Right, now)
    running.keys.create("support-bot", ("team-*",), (Right.READ, Right.WRITE), now)
    running.keys.create("notebook", (USER,), (Right.READ,), now)
    return token


def be_busy(running: Running) -> None:
    """Simulate an hour of searches at varying rates."""
    running.memory.search(QUESTION, user_id=USER)  # warms up
    with httpx.Client(base_url=running.url) as http:
        for minute in range(60):
            for _ in range(2 + (minute * 7) % 11 + (20 if 25 <= minute < 40 else 0)):
                http.post("/v1/search", json={"user_id": USER, "query": QUESTION})
            running.clock.advance(seconds=60)
            running.sampler.take()


def take(
    browser: Browser,
    running: Running,
    name: str,
    place: str,
    scheme: Scheme,
    viewport: ViewportSize = WIDE,
    token: str = "",
) -> None:
    if sys.argv[1:] and name not in sys.argv[1:]:
        return
    page = browser.new_page(
        viewport=viewport,
        color_scheme=scheme,
        device_scale_factor=2,
        locale="en-GB",
        timezone_id="UTC",
    )
    if token:
        page.add_init_script(f"sessionStorage.setItem('semantic-memory.key', '{token}')")
    page.goto(f"{running.url}/dashboard/{place}")
    page.wait_for_load_state("networkidle")
    settle(page, name)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    page.close()
    file = IMAGES / f"dashboard-{name}.png"
    reduced(picture).save(file, optimize=True)
    print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")


def reduced(picture: Image.Image) -> Image.Image:
    """Reduce to the 256 most frequent colours; other colours become the nearest one."""
    colours: Any = picture.getcolors(picture.width * picture.height)
    counted = sorted(colours, reverse=True)[:256]
    palette = Image.new("P", (1, 1))
    palette.putpalette([channel for _, colour in counted for channel in colour])
    return picture.quantize(palette=palette, dither=Image.Dither.NONE)


def settle(page: Page, name: str) -> None:
    """Prepare a page as a reader would before looking."""
    if name.startswith("map"):
        page.locator(".map .cat-decision").first.hover(force=True)
    if name == "jobs":
        page.get_by_role("button", name="Dry run: decay").click()
        page.get_by_text("Dry run of decay").scroll_into_view_if_needed()


if __name__ == "__main__":
    main()
