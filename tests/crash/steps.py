"""Kill this process at a step of its way through given modules."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any


def count_calls(work: Callable[[], object], modules: tuple[str, ...], kill_at: int) -> int:
    """Run `work`; return how many functions of the modules were entered.

    `modules` are ends of paths. The process is killed as it enters the `kill_at`th, if there is it.
    """
    entered = 0

    def trace(frame: Any, event: str, _: Any) -> None:
        nonlocal entered
        if event == "call" and frame.f_code.co_filename.endswith(modules):
            entered += 1
            if entered == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(trace)
    work()
    sys.setprofile(None)
    return entered
