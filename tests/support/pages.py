"""Runs the Python blocks of a page of the documents.

Blocks of one page share their names, in the order of the page. A comment `<!-- setup ... -->` holds
code that readers don't need to see. A block ```text right behind a Python block is its output, in
which DATE stands for any date.
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
_PARTS = re.compile(
    r"^<!-- setup\n(?P<setup>.*?)^-->$"
    r"|^```python\n(?P<shown>.*?)^```$(?:\s*^```text\n(?P<output>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)


class Block(NamedTuple):
    """Code of a page."""

    code: str
    line: int
    """Line of the page on which the code begins."""
    output: str | None
    """What it prints; None if the page doesn't say."""


def pages() -> list[Path]:
    """Return the pages whose code runs: README and the documents."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path) -> Iterator[Block]:
    """Return the code of a page in its order."""
    text = page.read_text(encoding="utf-8")
    for found in _PARTS.finditer(text):
        name = "shown" if found["setup"] is None else "setup"
        line = text.count("\n", 0, found.start(name)) + 1
        yield Block(found[name], line, found["output"])


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
                    runner.run(eval(code, names))  # noqa: S307 - the project's own documents
                else:
                    exec(code, names)  # noqa: S102 - as above
            if block.output is not None:
                check(printed.getvalue(), block.output, f"{page.name}, line {block.line}")


def check(printed: str, shown: str, place: str) -> None:
    """Compare an output with that of the page."""
    pattern = re.escape(shown.strip()).replace("DATE", r"(?:\d{4}-\d\d-\d\d|\d+ \w+ \d{4})")
    if re.fullmatch(pattern, printed.strip()) is None:
        raise AssertionError(f"{place} prints\n{printed}")


if __name__ == "__main__":
    sys.path[0] = str(ROOT)  # for this directory, whose names others have too
    page = Path(sys.argv[1])
    try:
        run(page)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("semantic_memory", "ingest", "examples", "tests"):
            raise
        print(f"not installed: {error.name}", file=sys.stderr)
        sys.stderr.flush()
        os._exit(77)  # as test harnesses do for a test that can't run
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # without waiting for the background work of memories that a page leaves open
