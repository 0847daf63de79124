"""Reader of Claude Code's transcripts: an entry a line, of which some are what was said.

An answer is several entries, one for each of its blocks. Left out are thinking, tool calls and
their results, what the program itself puts into the conversation (reminders, output of commands,
summaries after a compaction), and what subagents are told and answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ingest.readers.values import Builder, Incoming, Rejected
from semantic_memory.domain.blocks import text_of, wrote_memory
from semantic_memory.domain.markers import WROTE_MEMORY
from semantic_memory.domain.patterns import regex

_ROLES = frozenset({"user", "assistant"})
_NOT_SAID = ("isMeta", "isSidechain", "isCompactSummary", "isApiErrorMessage")
"""Flags of entries that neither the user nor the model said in the conversation."""
_SYNTHETIC = "<synthetic>"
"""Named as the model of answers that the program made up, as after an interruption."""
_TAGS = """
    system-reminder command-name command-message command-args command-contents local-command-caveat
    local-command-stdout local-command-stderr bash-input bash-stdout bash-stderr ide_opened_file
    ide_selection ide_diagnostics task-notification user-prompt-submit-hook session-start-hook
"""
"""Elements of a user's message that the program wrote."""
_WRITTEN_BY_PROGRAM = regex(
    rf"<({'|'.join(_TAGS.split())})\b[^>]*>.*?</\1>|\[Request interrupted by user[^\]]*\]",
    re.DOTALL,
)


def read_claude_code(lines: Iterable[bytes]) -> Iterator[Incoming | Rejected]:
    """Read the messages of user and model that have text, with the ids of their entries."""
    builder = Builder()
    marked = False
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line.decode("utf-8"))
            if not is_entry(entry):
                raise ValueError("is not an entry of a transcript: an object with a type")
            if not _is_said(entry):
                continue
            said = entry["message"]
            marked = wrote_memory(said) or (marked and entry["type"] != "user")
            text = _WRITTEN_BY_PROGRAM.sub("", text_of(said.get("content"))).strip()
            if not text:
                continue
            if not isinstance(entry.get("sessionId"), str):
                raise ValueError("names no sessionId")
            values = {
                "id": entry.get("uuid"),
                "role": entry["type"],
                "content": text,
                "created_at": entry.get("timestamp"),
                "metadata": {WROTE_MEMORY: True} if marked else None,
            }
            marked = False
            yield builder.incoming(None, entry["sessionId"], values)
        except ValueError as error:
            yield Rejected(f"line {number}", str(error))
        except RecursionError:
            yield Rejected(f"line {number}", "is nested too deeply")


def is_entry(value: Any) -> bool:
    """Return True for an entry of a transcript."""
    return isinstance(value, dict) and isinstance(value.get("type"), str) and "role" not in value


def _is_said(entry: Mapping[str, Any]) -> bool:
    said = entry.get("message")
    return (
        entry["type"] in _ROLES
        and isinstance(said, dict)
        and said.get("model") != _SYNTHETIC
        and not any(entry.get(flag) for flag in _NOT_SAID)
    )
