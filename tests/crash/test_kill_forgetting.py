"""A forget that a kill cuts off is finished at the next opening."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from semantic_memory import Message
from tests.crash.forgetting import KEY, SAID, fill, opened
from tests.crash.test_kill import ROOT
from tests.support.effort import rounds
from tests.support.inside import inside, log_file

KILLS = rounds(full=24, quick=5)


def killed_at(directory: Path, what: str, step: int) -> str:
    """Return what the program printed: nothing if it was killed."""
    command = [sys.executable, "-m", "tests.crash.forgetting", str(directory), what, str(step)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode in (0, -9), done.stderr
    return done.stdout


@pytest.mark.parametrize("what", ["fact", "session"])
def test_a_killed_forget_is_finished_or_never_began(tmp_path: Path, what: str) -> None:
    fresh = tmp_path / "fresh"
    fill(fresh)
    undisturbed = tmp_path / "undisturbed"
    shutil.copytree(fresh, undisturbed)
    steps = int(killed_at(undisturbed, what, 0))
    assert steps > 10
    dice = random.Random(7)
    outcomes = set()
    for step in sorted(dice.sample(range(1, steps + 1), min(KILLS, steps))):
        directory = tmp_path / f"killed-{step}"
        shutil.copytree(fresh, directory)
        assert killed_at(directory, what, step) == ""
        with opened(directory) as memory:
            texts = {fact.content for fact in memory.list(user_id="u1")}
            log = log_file(memory, "u1", "s1")
            held = log.read_bytes() if log.exists() else b""
            began = "Anna is getting divorced" not in texts
            assert (b"divorced" in held) is not began, step
            assert bool([one for one in texts if "divorced" in one]) is not began, step
            outcomes.add(began)
            memory.observe([Message(id="new", role="user", content="I ride a bike")], **KEY)
            memory.flush()
            said = [message.content for message in memory.sessions.messages(**KEY)]
            places = [
                fact.source.position
                for fact in memory.list(user_id="u1", filters={"categories": ["conversation"]})
            ]
            assert len(places) == len(set(places)), (step, places)
            if not began:
                assert said == [*SAID, "I ride a bike"]
            elif what == "fact":
                assert said == ["We had pasta.", *SAID[1:], "I ride a bike"]
            else:
                assert said == ["I ride a bike"]
            assert not inside(memory).ledger.redactions()
            assert [finding for finding in memory.admin.check() if not finding.ok] == []
        shutil.rmtree(directory)
    assert outcomes == {True, False}, "the kills came too early or too late to say anything"
