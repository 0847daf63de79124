"""Processes of this machine, by what /proc tells of them."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def chroma_workers(directory: Path) -> list[int]:
    """Return the ids of the live Chroma workers whose index is in or below a directory."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):  # ended meanwhile
                arguments = (entry / "cmdline").read_bytes().split(b"\0")
                if b"-P" in arguments and any(_below(path, directory) for path in arguments):
                    found.append(int(entry.name))
    return [pid for pid in found if is_running(pid)]


def is_running(pid: int) -> bool:
    """Return True unless a process has ended, waited for or not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")


def _below(argument: bytes, directory: Path) -> bool:
    path = Path(os.fsdecode(argument))
    return path.is_absolute() and path.is_relative_to(directory)
