"""A real browser on a real service."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Request, expect, sync_playwright

from tests.browser.store import USER, Running, serve_sample

# The first is Chromium without the windows that it otherwise draws for nobody.
BROWSERS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "chrome",
)
ARGUMENTS = ["--no-sandbox", "--disable-background-networking"]
# Of pages and of `expect`, which has its own: a busy machine needs far more than five seconds.
TIMEOUT_MS = 60_000
expect.set_options(timeout=TIMEOUT_MS)


def find_browser() -> str | None:
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    program = find_browser()
    if program is None:
        reason = f"none of {', '.join(BROWSERS)} is on the path: install one, or run .ci/run"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Serve the sample conversations without a key; a test changes its own users only."""
    with serve_sample(tmp_path_factory.mktemp("dashboard") / "store") as running:
        yield running


@dataclass
class Visit:
    """A page of the dashboard, with the errors in it."""

    page: Page
    url: str
    problems: list[str] = field(default_factory=list)

    def open(self, place: str = "") -> Page:
        """Open the dashboard at a place like `#/search`."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.url}/dashboard/{place}")
        return self.page

    def watch(self) -> None:
        def on_request(request: Request) -> None:
            if not request.url.startswith((self.url, "about:")):
                self.problems.append(f"asked for {request.url}")

        self.page.on("request", on_request)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", lambda said: self._note(said.type, said.text))

    def _note(self, kind: str, text: str) -> None:
        # The page shows refusals of the service itself; the browser reports them again.
        if kind in ("error", "warning") and not text.startswith("Failed to load resource"):
            self.problems.append(text)


Visits = Callable[..., Visit]


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visits]:
    """Open a browser window on a service; fail on any error in it."""
    visits: list[Visit] = []

    def begin(running: Running, **options: Any) -> Visit:
        defaults: dict[str, Any] = {"locale": "en-GB", "timezone_id": "UTC"}
        context = browser.new_context(**{**defaults, **options})
        context.set_default_timeout(TIMEOUT_MS)
        visited = Visit(context.new_page(), running.url)
        visited.watch()
        visits.append(visited)
        return visited

    yield begin
    for visited in visits:
        visited.page.context.close()
        assert visited.problems == []


@pytest.fixture
def dashboard(visit: Visits, service: Running) -> Visit:
    return visit(service)


@pytest.fixture
def page(dashboard: Visit) -> Page:
    """Open the dashboard on the sample's user."""
    return dashboard.open(f"#/search?user={USER}")
