"""Detection of a file's format."""

from __future__ import annotations

import json
from io import BufferedReader

import ijson

from ingest.readers.claude_code import is_entry
from ingest.readers.files import Source
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.fields import FORMATS, Format

_HEAD = 65_536
_MOST_EVENTS = 100_000
_BY_KEY: dict[str, Format] = {
    "mapping": "chatgpt",
    "chat_messages": "claude",
    "haystack_sessions": "longmemeval",
    "conversation": "locomo",
    "session_1": "realtalk",
    "messages": "openai",
    "role": "openai",
}
_OF_ENTRIES = frozenset({"sessionId", "leafUuid", "messageId"})
"""Fields of the first entry of a transcript of Claude Code."""
_BY_SUFFIX: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
}


def detect(source: Source) -> Format:
    """Detect the format of a file by its content if that is JSON, else by its name.

    Raises InvalidInputError, which names the formats, if it can't be detected.
    """
    with source.open() as (file, _):
        head = file.read(_HEAD).lstrip()
    named = next((form for end, form in _BY_SUFFIX.items() if source.name.endswith(end)), None)
    if head[:1] in (b"{", b"[") and named not in ("text", "markdown"):
        if _is_transcript(head.partition(b"\n")[0]):
            return "claude-code"
        if named == "jsonl" or _is_message(head.partition(b"\n")[0]):
            return "jsonl"
        with source.open() as (file, _):
            found = next((_BY_KEY[key] for key in _keys(file) if key in _BY_KEY), None)
        if found:
            return found
    elif named and b"\0" not in head:
        return named
    raise InvalidInputError(
        f"can't tell the format of {source.path}: give --format"
        f" {', '.join(form for form in FORMATS if form != 'auto')}"
    )


def _is_message(line: bytes) -> bool:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(values, dict) and "role" in values


def _is_transcript(line: bytes) -> bool:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return is_entry(values) and not _OF_ENTRIES.isdisjoint(values)


def _keys(file: BufferedReader) -> list[str]:
    """Return the keys of a document, or of its first item if it is a list."""
    keys: list[str] = []
    depth = own = 0
    try:
        for number, (event, value) in enumerate(ijson.basic_parse(file)):
            if event == "start_map":
                depth += 1
                own = own or depth
            elif event == "start_array":
                depth += 1
            elif event in ("end_map", "end_array"):
                depth -= 1
                if depth < own:
                    break
            elif event == "map_key" and depth == own:
                keys.append(value)
                if value in _BY_KEY:
                    break
            if number > _MOST_EVENTS or (depth > 2 and not own):
                break
    except ijson.JSONError:
        pass  # the keys before the damage may be enough
    return keys
