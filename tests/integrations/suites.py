"""Run suites of other projects by pytest, in processes of their own, and know what fails."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_FAILED = re.compile(r"^(?:FAILED|ERROR) \S+?::(\w+)", re.MULTILINE)


def count_surprises(
    suite: Path,
    known: Mapping[str, str],
    options: Sequence[str] = (),
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> int:
    """Run a suite, print its outcome, and return how many tests differ from what is expected.

    `known` has the tests that fail, with the reason; one of them that passes differs too. A suite
    that can't be run counts as one.
    """
    command = [sys.executable, "-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", *options]
    command.append(str(suite))
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    failed = {*_FAILED.findall(done.stdout)}
    print(suite.name, done.stdout.rstrip().rpartition("\n")[2])
    for name in sorted(failed & {*known}):
        print(f"  fails as known: {name}: {known[name]}")
    surprises = [f"fails: {name}" for name in sorted(failed - {*known})]
    surprises += [f"passes now, known to fail: {name}" for name in sorted({*known} - failed)]
    if done.returncode not in (0, 1) or (done.returncode == 1 and not failed):
        surprises.append(f"could not be run:\n{done.stdout[-3_000:]}{done.stderr[-1_000:]}")
    for surprise in surprises:
        print(f"  {surprise}", flush=True)
    return len(surprises)
