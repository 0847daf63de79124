"""The command line, run in this process or in one of its own."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from semantic_memory.entrypoints.cli import main, work

COLUMNS = 100


@dataclass(frozen=True)
class Done:
    """Exit code and output of a command."""

    returncode: int
    stdout: str
    stderr: str


class Cli:
    """Commands on a store.

    Most run in this process: a process of its own spends two seconds of CPU on imports.
    """

    def __init__(self, store: Path) -> None:
        self.store = store

    def __call__(self, *arguments: str, code: int = 0) -> Done:
        """Run a command in this process, and check its exit code."""
        return _checked(in_process(*arguments, data_dir=self.store), code)

    def process(self, *arguments: str, code: int = 0) -> Done:
        """Run a command in a process of its own, and check its exit code."""
        done = subprocess.run(
            [sys.executable, "-m", "semantic_memory.entrypoints.cli", *arguments],
            capture_output=True,
            text=True,
            env={
                **os.environ,
                "SEMANTIC_MEMORY_DATA_DIR": str(self.store),
                "COLUMNS": str(COLUMNS),
            },
            check=False,
        )
        return _checked(Done(done.returncode, done.stdout, done.stderr), code)

    def json(self, *arguments: str) -> Any:
        """Run a command in this process, and return the JSON that it prints."""
        return json.loads(self(*arguments, "--json").stdout)


def in_process(
    *arguments: str,
    program: Callable[[], object] = main,
    name: str = "semantic-memory",
    data_dir: Path | None = None,
) -> Done:
    """Run the function behind a command as its process would."""
    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", [name, *arguments])
        if data_dir is not None:
            patch.setenv("SEMANTIC_MEMORY_DATA_DIR", str(data_dir))
        for console in (work.show.out, work.show.err):
            console.width = COLUMNS
        try:
            program()
        except SystemExit as end:
            code = end.code or 0
    assert isinstance(code, int)
    return Done(code, out.getvalue(), err.getvalue())


def _checked(done: Done, code: int) -> Done:
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode == code, done.stderr
    return done
