"""Effects of the settings of layers, summarizers and memory files."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from semantic_memory.domain.events import WindowCompacted
from tests.conftest import NOW
from tests.support.chat_models import endpoint
from tests.support.openai_server import completion
from tests.unit.settings_effects.case import Trial, U, effect
from tests.unit.settings_effects.window import opened, talk

WORK = "Leads the storage team and moves its queues to Postgres before the summer."


def tier_after(run: Trial, days: int) -> str:
    """Return the tier of an event that was so many days ago."""
    memory = run.open()
    said = NOW - timedelta(days=days)
    memory.add("Maya signed the lease in Oslo", **U, category="project", created_at=said)
    memory.flush()
    history = memory.profile.get(**U).history
    return next(name for name, lines in history if lines)


@effect("profile.recent_days", 100.0, was="earlier_context", becomes="recent_months")
def tier_of_two_months_ago(run: Trial) -> str:
    return tier_after(run, 60)


@effect("profile.earlier_days", 400.0, was="long_term_background", becomes="earlier_context")
def tier_of_a_year_ago(run: Trial) -> str:
    return tier_after(run, 365)


def files(run: Trial) -> tuple[Path, ...]:
    """Return a directory with a long memory file."""
    directory = run.directory / "files"
    directory.mkdir()
    (directory / "MEMORY.md").write_text("a short line\n" * 3_000, encoding="utf-8")
    return (directory,)


def lines_of_files(run: Trial) -> int:
    """Return the number of the file's lines in a block."""
    block = run.open().context("Tea", **U, budget=20_000, memory_files=True)
    return block.text.count("a short line")


@effect("context.memory_files", 0.0, was=198, becomes=0, window__memory_directories=files)
def lines_within_their_share(run: Trial) -> int:
    return lines_of_files(run)


@effect("window.memory_file_lines", 50, was=198, becomes=48, window__memory_directories=files)
def lines_of_memory_files(run: Trial) -> int:
    return lines_of_files(run)


@effect(
    "window.memory_file_bytes", 2_000, was=False, becomes=True, window__memory_directories=files
)
def few_lines_of_memory_files(run: Trial) -> bool:
    return 0 < lines_of_files(run) < 150


@effect("window.memory_directories", files, was=False, becomes=True)
def reads_a_directory(run: Trial) -> bool:
    return lines_of_files(run) > 0


def summarized(run: Trial) -> Any:
    """Compact a window; return its session."""
    run.server.script = [completion("- They counted lines.")]
    session = opened(run)
    talk(session, 25)
    session.payload("And now?")
    return session


@effect("window.summarizer", "none", was=True, becomes=False)
def with_a_summary(run: Trial) -> bool:
    summarized(run)
    return "summary" in [event.step for event in run.seen(WindowCompacted)]


@effect("summary.llm", "test", was=False, becomes=True, llm=lambda run: endpoint(run.server.url))
def requests_of_summaries(run: Trial) -> bool:
    run.server.script = [completion("- They weighed details.")]
    run.server.requests.clear()
    summarized(run)
    return bool(run.server.requests)
