"""Runs the Python blocks of a page of the documents.

Blocks of one page share their names, in the order of the page. A comment `<!-- setup ... -->` holds
code that readers don't need to see. A block ```text after a Python block is its output; dates may
differ. A block after `<!-- service -->` needs a running service: `tests/service/test_operations.py`
runs it.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
import io
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
NOT_INSTALLED = 77
"""Exit code of a page that needs a framework which isn't there, as of other test harnesses."""
_PARTS = re.compile(
    r"^<!-- setup\n(?P<setup>.*?)^-->$"
    r"|^<!-- service -->\s*^```python\n.*?^```$"
    r"|^```python\n(?P<shown>.*?)^```$(?:\s*^```text\n(?P<output>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2} [A-Z][a-z]+ \d{4}|\d{4}-\d\d")


class Block(NamedTuple):
    """Code of a page."""

    code: str
    line: int
    """Line of the page on which the code begins."""
    output: str | None
    """The output that the page shows; None if it shows none."""
    is_shown: bool
    """False if readers don't see it."""


def pages() -> list[Path]:
    """Return the pages whose code runs: README and the documents."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path) -> Iterator[Block]:
    """Return the code of a page in its order."""
    text = page.read_text(encoding="utf-8")
    for found in _PARTS.finditer(text):
        if found["setup"] is None and found["shown"] is None:
            continue
        name = "shown" if found["setup"] is None else "setup"
        line = text.count("\n", 0, found.start(name)) + 1
        yield Block(found[name], line, found["output"], name == "shown")


def run(page: Path) -> None:
    """Run the code of a page in the working directory. Raises AssertionError for another output."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with asyncio.Runner() as runner:
        for block in blocks(page):
            code = compile(
                "\n" * (block.line - 1) + block.code,
                str(page),
                "exec",
                ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
            )
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                if code.co_flags & inspect.CO_COROUTINE:
                    runner.run(eval(code, names))
                else:
                    exec(code, names)
            if block.output is not None:
                check(printed.getvalue(), block.output, f"{page.name}, line {block.line}")


def check(printed: str, shown: str, place: str) -> None:
    """Compare an output with that of the page, whatever their dates."""
    if _DATE.sub("DATE", printed.strip()) != _DATE.sub("DATE", shown.strip()):
        raise AssertionError(f"{place} prints\n{printed}")


def main(page: Path, directory: Path) -> int:
    """Run a page in a directory; return an exit code."""
    sys.path[:0] = [str(ROOT)]
    os.chdir(directory)
    try:
        run(page)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("semantic_memory", "ingest", "examples"):
            raise
        sys.stderr.write(f"not installed: {error.name}")
        return NOT_INSTALLED
    return 0


if __name__ == "__main__":
    code = main(Path(sys.argv[1]), Path(sys.argv[2]))
    sys.stderr.flush()
    os._exit(code)  # without waiting for the background work of memories that a page leaves open
