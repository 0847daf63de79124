"""Whatever is forgotten, and whenever the process is killed: all that must go goes, or nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.crash.forgetting import opened
from tests.crash.matrix import MATRIX, WORDS, words_left
from tests.crash.test_kill import ROOT
from tests.support.effort import rounds

KILLS = rounds(full=20, quick=5)


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stores that were killed as something was forgotten."""
    directory = tmp_path_factory.mktemp("matrix")
    command = [sys.executable, "-m", "tests.crash.matrix", str(directory), str(KILLS)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    return directory


@pytest.mark.parametrize("what", MATRIX)
def test_what_was_killed_is_finished_or_never_began(stores: Path, what: str):
    given, gone = MATRIX[what]
    found = sorted(one for one in stores.glob(f"{what}-*") if one.is_dir())
    assert len(found) == KILLS + 1
    for directory in found:
        with opened(directory) as memory:
            memory.flush()
            left = words_left(memory, "u1")
            expected = [WORDS - gone]
            was_killed = not directory.name.endswith("whole")
            if was_killed:
                expected.append(WORDS)
            assert left in expected, directory.name
            assert words_left(memory, "u2") == WORDS
            logs = b"".join(path.read_bytes() for path in (directory / "sessions").rglob("*.jsonl"))
            if left != WORDS and "withdraw" not in given:
                for word in gone:
                    both = logs.count(word.encode())
                    assert both <= 1, (directory.name, word)  # those of the other user
            if was_killed and KILLS < 20:  # in the quick run
                continue
            memory.jobs.run(["compact"])
            memory.admin.rebuild()
            assert words_left(memory, "u1") == left, directory.name
            assert [finding for finding in memory.admin.check() if not finding.ok] == []
