"""The command line."""

from __future__ import annotations

import sys

from semantic_memory.domain.errors import SemanticMemoryError
from semantic_memory.entrypoints.cli import conversations, records, serving, work
from semantic_memory.entrypoints.cli.commands import app

__all__ = ["app", "conversations", "main", "records", "serving"]


def main() -> None:
    """Run the command line; a user's mistake ends in one line and an exit code, never a traceback.

    Exit codes: 0 done, 1 the store can't serve or a check failed, 2 wrong input, usage or settings,
    3 not found, 130 interrupted.
    """
    try:
        app()
    except SemanticMemoryError as error:
        sys.exit(work.show.fail(error))
    except KeyboardInterrupt:
        sys.exit(130)
