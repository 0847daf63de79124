"""Memory files: notes written by people for the agent, part of every prompt.

`AGENT.md`, `MEMORY.md` and `.agent-context.md` are read from the system's, the user's and the
working directory, in this order, the most specific last. Their total length is limited; a file that
is cut says so, and the most specific files are cut last.
"""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path

import platformdirs

from semantic_memory.domain.events import MemoryFileSkipped
from semantic_memory.domain.ports import Observer

NAMES = ("AGENT.md", "MEMORY.md", ".agent-context.md")
MOST_LINES = 200
MOST_BYTES = 25_000


def standard_directories() -> tuple[Path, ...]:
    """Return the system's and the user's configuration directory and the working directory."""
    return (
        Path(platformdirs.site_config_dir("semantic-memory")),
        Path(platformdirs.user_config_dir("semantic-memory")),
        Path.cwd(),
    )


def read_memory_files(directories: Sequence[Path], emit: Observer) -> str:
    """Return the texts of all files found, each under its path; empty if there are none.

    Skips a file that lies outside its directory (through a link), isn't a plain file, isn't UTF-8
    or can't be read, and emits MemoryFileSkipped with the reason.
    """
    files = [
        (path, text)
        for directory in dict.fromkeys(directories)
        for name in NAMES
        if (text := _read(directory, name, emit)) is not None
        for path in [directory / name]
    ]
    lines, size = MOST_LINES, MOST_BYTES
    shown: list[str] = []
    for path, text in reversed(files):
        kept = _cut(text, lines, size)
        lines -= kept.count("\n") + 1
        size -= len(kept.encode())
        whole = text.count("\n") + 1
        if kept != text:
            kept += (
                f"\n[WARNING: {path.name} is cut: {whole:,} lines and {len(text.encode()):,} bytes;"
                f" memory files together may have {MOST_LINES} lines and {MOST_BYTES:,} bytes]"
            )
        shown.append(f"# {path}\n{kept}")
    return "\n\n".join(reversed(shown))


def _cut(text: str, lines: int, size: int) -> str:
    kept = "\n".join(text.split("\n")[: max(0, lines)])
    if len(kept.encode()) > size:
        kept = kept.encode()[: max(0, size)].decode(errors="ignore")
        kept = kept[: kept.rfind("\n")] if "\n" in kept else kept
    return kept


def _read(directory: Path, name: str, emit: Observer) -> str | None:
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
            # Enough to see that it is too long.
            data = file.read(4 * MOST_BYTES)
        text = data.decode(
            "utf-8-sig", errors="ignore" if len(data) == 4 * MOST_BYTES else "strict"
        )
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError:
        emit(MemoryFileSkipped(str(path), "it is not UTF-8"))
        return None
    except (OSError, RuntimeError) as error:
        emit(MemoryFileSkipped(str(path), str(error)))
        return None
    return text.strip().replace("\x00", "\ufffd") or None
