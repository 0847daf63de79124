"""Memory files: notes written by people for the agent, part of every prompt.

`AGENT.md`, `MEMORY.md` and `.agent-context.md` are read from the system's, the user's and the
working directory, in this order, the most specific last. Their lines and bytes are limited
together, headings and warnings included; each file gets a fair share, and what one doesn't need
goes to the others. A file that is cut says so.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import platformdirs

from semantic_memory.domain.events import MemoryFileSkipped
from semantic_memory.domain.ports import Observer

NAMES = ("AGENT.md", "MEMORY.md", ".agent-context.md")
_READ = 4  # times the bytes that may be shown are read, enough to tell how long a file is
_BYTES_PER_TOKEN = 6  # more than tokens have on average
_SLACK = 0.95
_BETWEEN = "\n\n"  # files; a blank line


@dataclass(frozen=True, slots=True)
class Caps:
    """Limits of all memory files together; defaults are in `WindowSettings`."""

    lines: int
    size: int
    """In bytes."""


class _File(NamedTuple):
    path: Path
    text: str

    @property
    def whole(self) -> str:
        return f"# {self.path}\n{self.text}"


def system_directories() -> tuple[Path, ...]:
    """Return the directories of files for every user of this machine."""
    return Path("/etc/agent/global"), Path(platformdirs.site_config_dir("semantic-memory"))


def standard_directories() -> tuple[Path, ...]:
    """Return the system's directories, the user's, and the working directory."""
    return (
        *system_directories(),
        Path(os.path.expanduser("~/.agent")),  # noqa: PTH111 - never fails without a home
        Path(platformdirs.user_config_dir("semantic-memory")),
        Path.cwd(),
    )


class MemoryFiles:
    """The memory files of some directories, read again each time.

    Skips a file that lies outside its directory (through a link), isn't a plain file, isn't UTF-8,
    can't be read or finds no room for its heading, and emits MemoryFileSkipped with the reason.
    """

    def __init__(self, directories: Sequence[Path], caps: Caps, emit: Observer) -> None:
        self._directories = directories
        self._caps = caps
        self._emit = emit

    def text(self) -> str:
        """Return the texts of all files found, each under its path; empty if there are none."""
        return self._shown(self._found(), self._caps)

    def within(self, tokens: int, count: Callable[[str], int]) -> str:
        """Return the texts as `text` does, cut further to at most `tokens` tokens."""
        files = self._found()
        caps = replace(self._caps, size=min(self._caps.size, tokens * _BYTES_PER_TOKEN))
        while files and (text := self._shown(files, caps)):
            used = count(text)
            if used <= tokens:
                return text
            caps = replace(
                caps, size=int(_SLACK * min(caps.size, len(text.encode())) * tokens / used)
            )
        return ""

    def _found(self) -> list[_File]:
        return [
            _File(directory / name, text)
            for directory in dict.fromkeys(self._directories)
            for name in NAMES
            if (text := _read(directory, name, _READ * self._caps.size, self._emit)) is not None
        ]

    def _shown(self, files: Sequence[_File], caps: Caps) -> str:
        # With a blank line behind it, and a line for the warning that it may get.
        lines = _shares([file.whole.count("\n") + 3 for file in files], caps.lines + 1)
        sizes = _shares(
            [len((file.whole + _BETWEEN).encode()) for file in files], caps.size + len(_BETWEEN)
        )
        shown: list[str] = []
        for file, most_lines, most_bytes in zip(files, lines, sizes, strict=True):
            block = _cut(file, most_lines - 1, most_bytes - len(_BETWEEN), self._caps)
            if block is None:
                self._emit(MemoryFileSkipped(str(file.path), "there is no room for it"))
            else:
                shown.append(block)
        return _BETWEEN.join(shown)


def _shares(needs: Sequence[int], cap: int) -> list[int]:
    """Divide `cap` fairly: nobody gets more than needed, and the rest is shared equally."""
    shares = [0] * len(needs)
    left = cap
    for taken, place in enumerate(sorted(range(len(needs)), key=lambda place: needs[place])):
        shares[place] = min(needs[place], left // (len(needs) - taken))
        left -= shares[place]
    return shares


def _cut(file: _File, lines: int, size: int, caps: Caps) -> str | None:
    """Return a file with its heading in so many lines and bytes; None without room for these."""
    if file.whole.count("\n") < lines and len(file.whole.encode()) <= size:
        return file.whole
    heading = f"# {file.path}\n"
    warning = (
        f"\n[WARNING: {file.path.name} is cut: {file.text.count(chr(10)) + 1:,} lines and"
        f" {len(file.text.encode()):,} bytes; memory files together may have {caps.lines:,} lines"
        f" and {caps.size:,} bytes]"
    )
    lines -= 2
    size -= len((heading + warning).encode())
    if lines < 0 or size < 0:
        return None
    kept = "\n".join(file.text.split("\n")[:lines])
    if len(kept.encode()) > size:
        kept = kept.encode()[:size].decode(errors="ignore")
        # A line is cut rather than half of the room lost.
        ends = kept.rfind("\n"), kept.rfind(" ")
        kept = kept[: next((end for end in ends if 2 * end > len(kept)), len(kept))]
    return heading + kept + warning if kept else heading + warning.lstrip("\n")


def _read(directory: Path, name: str, most: int, emit: Observer) -> str | None:
    path = directory / name
    try:
        root = directory.resolve(strict=True)
        real = path.resolve(strict=True)
        if not real.is_relative_to(root):
            emit(MemoryFileSkipped(str(path), f"it leads out of {root}, to {real}"))
            return None
        if not stat.S_ISREG(real.stat().st_mode):
            emit(MemoryFileSkipped(str(path), "it is not a plain file"))
            return None
        with real.open("rb") as file:
            data = file.read(most)
        text = data.decode("utf-8-sig", errors="ignore" if len(data) == most else "strict")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError:
        emit(MemoryFileSkipped(str(path), "it is not UTF-8"))
        return None
    except (OSError, RuntimeError) as error:
        emit(MemoryFileSkipped(str(path), str(error)))
        return None
    return text.strip().replace("\x00", "\ufffd") or None
