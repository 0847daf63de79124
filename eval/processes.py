"""Time of a call; CPU, RAM and disk of a process and its directory (Linux)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def milliseconds(call: Callable[[], object]) -> float:
    """Return the milliseconds that a call takes."""
    start = time.perf_counter()
    call()
    return 1_000 * (time.perf_counter() - start)


def cpu_ms(call: Callable[[], object]) -> float:
    """Return the CPU milliseconds that this process takes for a call."""
    start = time.process_time()
    call()
    return 1_000 * (time.process_time() - start)


def seconds_of(pid: int) -> float:
    """Return the CPU seconds that a process and its children have taken until now."""
    return sum(map(_seconds, family(pid)))


def resident_megabytes(pid: int) -> float:
    """Return the resident memory of a process, in MB."""
    pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * _PAGE / 1e6


def family(pid: int) -> Iterator[int]:
    """Yield a process and all its descendants."""
    yield pid
    # Any thread may have started a child.
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text(encoding="ascii").split():
            yield from family(int(child))


def megabytes_on_disk(path: Path) -> float:
    """Return the MB of blocks that a file, or all files of a directory, take on disk."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.lstat().st_blocks for file in files if file.is_file()) * 512 / 1e6


def _seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / _TICKS  # itself, and children that have ended
