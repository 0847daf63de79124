"""Rewrite session logs in another form: encrypted, under another key, or in plain text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ingest.log_file import LogFiles
from ingest.log_line import LineFormat
from semantic_memory.domain import log_lines
from semantic_memory.domain.messages import SessionKey


class Resealed(NamedTuple):
    """Outcome of rewriting a log."""

    session: SessionKey | None
    """Session of the log; None if its first line is damaged."""
    offsets: Mapping[int, int]
    """Byte offset of each position in the new file."""


def reseal(path: Path, files: LogFiles, reads: LineFormat, writes: LineFormat) -> Resealed:
    """Rewrite a log, atomically; damaged lines stay damaged, and a torn last line is cut off.

    Raises ConfigurationError if a line is encrypted with a key that `reads` doesn't have.
    """
    lines: list[bytes] = []
    session: SessionKey | None = None
    last, ends, position, end = b"", {0: 0}, 0, 0
    with files.opened(path) as file:
        for line in file:
            if not line.endswith(b"\n"):
                break
            kind, data = log_lines.copied(reads.read(line), line)
            if kind == "session":
                session = SessionKey(data["user_id"], data["session_id"])
            lines.append(writes.write(str(kind), data, last))
            last = writes.checksum(lines[-1])
            end += len(lines[-1])
            position += kind != "session"
            ends[position] = end
    files.replace(path, b"".join(lines))
    return Resealed(session, ends)
