"""The command line."""

from __future__ import annotations

import gc
import sys

from semantic_memory.domain.errors import SemanticMemoryError
from semantic_memory.entrypoints.cli import (
    admin,
    encryption,
    history,
    hooks,
    install,
    jobs,
    profile,
    serving,
    sessions,
    transfer,
    trying,
    work,
)
from semantic_memory.entrypoints.cli.commands import app

__all__ = [
    "admin",
    "app",
    "encryption",
    "history",
    "hooks",
    "install",
    "jobs",
    "main",
    "profile",
    "serving",
    "sessions",
    "transfer",
    "trying",
]

_ALLOCATIONS = 200_000  # objects more before the youngest are searched for garbage; Python's: 700


def main() -> None:
    """Run the command line; a user's mistake ends in one line and an exit code, never a traceback.

    Exit codes: 0 done, 1 the store can't serve or a check failed, 2 wrong input, usage or settings,
    3 not found, 130 interrupted.
    """
    # Imports allocate much and free nothing: collecting garbage was a fifth of a start's time.
    gc.set_threshold(_ALLOCATIONS, *gc.get_threshold()[1:])
    try:
        app()
    except SemanticMemoryError as error:
        sys.exit(work.show.fail(error))
    except KeyboardInterrupt:
        sys.exit(130)
