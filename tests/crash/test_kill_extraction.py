"""Facts, profile, history and cursor of a stretch are written together, or not at all."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from tests.crash.scribe import opened
from tests.support.effort import rounds

KILLS = rounds(full=8, quick=3)
_LEAST = 8
ROOT = Path(__file__).parent.parent.parent


def read(directory: Path) -> tuple[set[str], list[str], int]:
    """Return the messages with a fact, those with a line, and the positions of the cursors."""
    db = sqlite3.connect(directory / "ledger.sqlite3")
    try:
        facts = db.execute("SELECT said_in FROM facts WHERE category <> 'conversation'").fetchall()
        lines = db.execute(
            "SELECT s.source FROM lines l JOIN line_sources s ON s.num = l.num WHERE"
            " l.origin = 'model' AND l.layer = 'recent_months' AND instr(s.source, '/')"
        ).fetchall()
        (done,) = db.execute(
            "SELECT coalesce(sum(position), 0) FROM cursors WHERE stage = 'extracted'"
        ).fetchone()
    finally:
        db.close()
    return {place for (said,) in facts for place in said.split()}, [one for (one,) in lines], done


def test_an_extraction_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    directory = tmp_path / "store"
    dice = random.Random(3)
    for seed in range(KILLS):
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.scribe", str(directory), str(seed)],
            stdout=subprocess.PIPE,
            cwd=ROOT,
            text=True,
        )
        assert process.stdout is not None
        for _ in range(_LEAST):  # it opened the store, then observed: however busy the machine is
            process.stdout.readline()
        time.sleep(dice.uniform(0.0, 0.7))
        process.kill()
        process.communicate()
        facts, lines, done = read(directory)
        assert len(lines) == len(set(lines)), "a line was written twice"
        assert set(lines) == facts
        assert len(facts) == done
    with opened(directory) as memory:
        memory.flush()
        said = memory.admin.stats().by_category_and_status["conversation/active"]
        found = memory.profile.get(user_id="u1")
    facts, lines, done = read(directory)
    assert set(lines) == facts
    assert len(lines) == done == said > 20
    assert found.profile.top_of_mind is not None
    assert len(found.history.recent_months) == said
