"""A feed that is resumed after a kill tells everything, in order, and nothing twice."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

from semantic_memory.ledger.sqlite import SqliteLedger
from tests.crash.test_kill import ROOT
from tests.support.effort import rounds

KILLS = rounds(full=20, quick=4)


def killed(store: Path, after: int, lines: int) -> list[list[str]]:
    """Return what the program printed until it was killed, some time after `lines` lines."""
    command = [sys.executable, "-m", "tests.crash.following", str(store), str(after)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True) as process:
        assert process.stdout is not None
        printed = [process.stdout.readline() for _ in range(lines)]
        process.kill()
        printed += process.stdout.readlines()
    return [line.split() for line in printed if line.endswith("\n")]


def test_a_feed_resumed_after_kills_tells_every_fact_once(tmp_path: Path) -> None:
    dice = random.Random(5)
    added: list[str] = []
    told: list[tuple[int, str]] = []
    for _ in range(KILLS):
        after = told[-1][0] if told else 0
        for kind, *rest in killed(tmp_path, after, dice.randint(5, 60)):
            if kind == "added":
                added += rest
            else:
                told.append((int(rest[0]), rest[1]))
    ledger = SqliteLedger(tmp_path / "ledger.sqlite3")
    left = ledger.events(told[-1][0], 1_000)
    told += [(event.id, event.memory_id or "") for event in left if event.kind == "added"]
    known = ledger.ids("u1")
    ledger.close()
    assert [fact_id for _, fact_id in told] == known
    assert set(added) <= set(known)
    assert [number for number, _ in told] == sorted({number for number, _ in told})
