"""A request to forget that a kill cuts off has erased nothing before it was settled."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crash.asking import CONFIRMED, SAID, say
from tests.crash.forgetting import KEY, opened
from tests.crash.test_kill import ROOT
from tests.support.effort import rounds

KILLS = rounds(full=24, quick=4)


def killed_at(directory: Path, what: str, step: int) -> str:
    """Return what the program printed: nothing if it was killed."""
    command = [sys.executable, "-m", "tests.crash.asking", str(directory), what, str(step)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode in (0, -9), done.stderr
    return done.stdout


@pytest.mark.parametrize("what", ["say", "settle", "confirm"])
def test_a_killed_request_erased_nothing_or_is_finished(tmp_path: Path, what: str) -> None:
    fresh = tmp_path / "fresh"
    with opened(fresh) as memory:
        say(memory, *(SAID[:2] if what == "say" else SAID))
    undisturbed = tmp_path / "undisturbed"
    shutil.copytree(fresh, undisturbed)
    steps = int(killed_at(undisturbed, what, 0))
    assert steps > 10
    dice = random.Random(5)
    for step in sorted(dice.sample(range(1, steps + 1), min(KILLS, steps))):
        directory = tmp_path / f"killed-{step}"
        shutil.copytree(fresh, directory)
        assert killed_at(directory, what, step) == ""
        with opened(directory) as memory:
            memory.flush()
            said = [message.content for message in memory.sessions.messages(**KEY)]
            states = [one.state for one in memory.history.requests(user_id=KEY["user_id"])]
            if states == ["done"]:
                assert what != "say"
                assert [one for one in said if "Anna" in one] == []
                assert said[:2] == ["We had pasta.", "I like tea"]
            else:
                assert said[:2] == [*SAID[:2]]
                assert set(states) <= {"pending"}
            say(memory, *SAID, *([CONFIRMED] if what == "confirm" else []))
            (request,) = memory.history.requests(user_id=KEY["user_id"])
            kept = {message.content for message in memory.sessions.messages(**KEY)}
            assert (request.state == "pending") is ({*SAID} <= kept)
            if what == "confirm":
                assert request.state == "done"
            assert [finding for finding in memory.admin.check() if not finding.ok] == []
        shutil.rmtree(directory)
