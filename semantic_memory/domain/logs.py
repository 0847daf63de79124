"""Values of session logs: their records, and what reading and rewriting them counts."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from semantic_memory.domain.messages import Message, SessionKey

NOTHING_CUT: Mapping[str, str] = MappingProxyType({})


class Entry(NamedTuple):
    """Content of a line; `kind` is None if the line is damaged."""

    kind: str | None
    data: dict[str, Any]


class Record(NamedTuple):
    """A message read back from the log."""

    position: int
    """Position in the session, from 0; corrupt lines count, so that positions never shift."""
    start: int
    """Byte offset of the line."""
    end: int
    """Byte offset of the end of the line, where reading continues."""
    message: Message


class SessionSummary(NamedTuple):
    """Contents of a session's log; `session` is None if the log doesn't tell whose it is."""

    session: SessionKey | None
    messages: int
    corrupt_lines: int
    torn_bytes: int


class LogTally(NamedTuple):
    """Counts over all logs."""

    sessions: int
    size: int
    """Bytes of all logs."""
    corrupt_lines: int


class Rewritten(NamedTuple):
    """Outcome of rewriting a session's log."""

    freed: int
    """Number of bytes freed."""
    offsets: Mapping[int, int]
    """Byte offset of each position in the rewritten log."""
