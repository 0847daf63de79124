"""Time of a coding agent's hook at a prompt, from its start to its answer, beside Python's start.

The store is open in this process and serves the hook, as the server of an agent does. A run's CPU
is that of the hook's process; on a busy machine it tells more than the time on the clock.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from eval.starts import USER
from semantic_memory.entrypoints.hook import quick_answer
from semantic_memory.entrypoints.shared import SharedStore
from semantic_memory.settings import located

_HOOK = "semantic_memory.entrypoints.hook"
_PATIENCE = 60.0


class Hooked(NamedTuple):
    """Medians over the prompts, in milliseconds."""

    answer: float
    """On the clock, from the start of the hook's process to its end."""
    answer_cpu: float
    python: float
    """The same of a Python process that does nothing."""
    python_cpu: float


def measure(directory: Path, prompts: int) -> Hooked:
    """Ask for a block as a hook does, so many times. Raises RuntimeError without an answer."""
    options = ["--user", USER, "--data-dir", str(directory)]
    with SharedStore(located(directory, None), "mcp") as store:
        store.memory()
        end = time.monotonic() + _PATIENCE
        while quick_answer(options, _event(0)) is None:  # until it serves, with its model loaded
            if time.monotonic() > end:
                raise RuntimeError(f"the owner of {directory} answers no hook")
            time.sleep(0.1)
        answers = [_run(["-m", _HOOK, *options], _event(one)) for one in range(prompts)]
        alone = [_run(["-c", "pass"], "") for _ in range(prompts)]
    return Hooked(*_medians(answers), *_medians(alone))


def _event(number: int) -> str:
    return json.dumps(
        {
            "hook_event_name": "UserPromptSubmit",
            "session_id": "hook",
            "cwd": str(Path.cwd()),
            "prompt": f"How is the shelf of room {number} sorted?",
        }
    )


def _run(arguments: Sequence[str], given: str) -> tuple[float, float]:
    """Return the milliseconds of a process on the clock, and those of its CPU."""
    began = time.perf_counter()
    process = subprocess.Popen(  # noqa: S603  # this Python
        [sys.executable, *arguments], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    if process.stdin is not None:
        process.stdin.write(given.encode())
        process.stdin.close()
    _, status, used = os.wait4(process.pid, 0)
    passed = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"the hook ended with {process.returncode}")
    return 1_000 * passed, 1_000 * (used.ru_utime + used.ru_stime)


def _medians(runs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    passed, cpu = zip(*runs, strict=True)
    return statistics.median(passed), statistics.median(cpu)
