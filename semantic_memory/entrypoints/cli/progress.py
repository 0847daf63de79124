"""Progress of long tasks: a bar at a terminal, else a line every ten seconds."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from semantic_memory.domain.ports import Progress as Report

_EVERY = 10.0
"""Seconds between two lines."""


@contextmanager
def bars(console: Console) -> Iterator[Report]:
    """Show a bar for each step, with the time that it took and that it will take."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as shown:
        tasks: dict[str, Any] = {}

        def report(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = shown.add_task(step, total=total or None)
            shown.update(tasks[step], completed=done, total=total or None)

        yield report


@contextmanager
def every_ten_seconds(tell: Callable[[int], None]) -> Iterator[None]:
    """Call `tell` every ten seconds with the seconds that have passed."""
    done = threading.Event()

    def run() -> None:
        passed = 0.0
        while not done.wait(_EVERY):
            passed += _EVERY
            tell(round(passed))

    thread = threading.Thread(target=run, name="waiting", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


class Lines:
    """Progress as lines of text, at most one every ten seconds."""

    def __init__(
        self, write: Callable[[str], None], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._write = write
        self._now = now
        self._began: dict[str, tuple[float, int]] = {}
        """When each step was first told of, and what was done by then."""
        self._told = now()

    def __call__(self, step: str, done: int, total: int) -> None:
        """Print a step, if it is time."""
        now = self._now()
        start, before = self._began.setdefault(step, (now, done))
        if now - self._told < _EVERY:
            return
        self._told = now
        left = _left(now - start, done - before, total - done)
        self._write(f"{step}: {done:,}{_share(done, total)}{left}")


def _share(done: int, total: int) -> str:
    return f" of {total:,} ({done / total:.0%})" if total else ""


def _left(seconds: float, done: int, left: int) -> str:
    """Return the time that the rest of a step takes at the pace so far; empty if unknown."""
    if seconds <= 0 or done <= 0 or left <= 0:
        return ""
    whole = round(seconds * left / done)
    minutes, rest = divmod(whole, 60)
    return f", {minutes} min {rest} s left" if minutes else f", {rest} s left"
