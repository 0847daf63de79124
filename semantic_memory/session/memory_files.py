"""Memory files: what a person wrote down for the agent, shown in every prompt.

`AGENT.md`, `MEMORY.md` and `.agent-context.md` of the system's, the user's and the working
directory, in this order, the most particular last. Together they are capped; where something is
left out the text says so, and the most particular keep their place.
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
    """The system's, the user's and the working directory."""
    return (
        Path(platformdirs.site_config_dir("semantic-memory")),
        Path(platformdirs.user_config_dir("semantic-memory")),
        Path.cwd(),
    )


def read_memory_files(directories: Sequence[Path], observe: Observer) -> str:
    """The manifest of all files found; empty if there are none.

    What lies outside its directory, through a link or otherwise, isn't a plain file or isn't UTF-8
    is skipped, and an event says why.
    """
    files = [
        (path, text)
        for directory in dict.fromkeys(directories)
        for name in NAMES
        if (text := _read(directory, name, observe)) is not None
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


def _read(directory: Path, name: str, observe: Observer) -> str | None:
    path = directory / name
    try:
        root = directory.resolve(strict=True)
        real = path.resolve(strict=True)
        if not real.is_relative_to(root):
            observe(MemoryFileSkipped(str(path), f"it leads out of {root}, to {real}"))
            return None
        if not stat.S_ISREG(real.stat().st_mode):
            observe(MemoryFileSkipped(str(path), "it is not a plain file"))
            return None
        with real.open("rb") as file:
            # Enough to see that it is too long, and never more.
            data = file.read(4 * MOST_BYTES)
        text = data.decode(
            "utf-8-sig", errors="ignore" if len(data) == 4 * MOST_BYTES else "strict"
        )
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError:
        observe(MemoryFileSkipped(str(path), "it is not UTF-8"))
        return None
    except (OSError, RuntimeError) as error:
        observe(MemoryFileSkipped(str(path), str(error)))
        return None
    return text.strip().replace("\x00", "\ufffd") or None
