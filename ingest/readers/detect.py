"""Detection of a file's format."""

from __future__ import annotations

import json
from io import BufferedReader
from typing import Any

import ijson

from ingest.readers.claude_code import is_entry
from ingest.readers.documents import events
from ingest.readers.files import Source
from ingest.readers.mcp_memory import is_graph_line
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.fields import FORMATS, Format

_HEAD = 65_536
_MOST_EVENTS = 100_000
_BY_KEY: dict[str, Format] = {
    "mapping": "chatgpt",
    "chat_messages": "claude",
    "conversations_memory": "claude",
    "memory_files": "claude",
    "project_memories": "claude",
    "results": "mem0",
    "memory": "mem0",
    "memory_id": "mem0",
    "edges": "zep",
    "fact": "zep",
    "agents": "letta",
    "core_memory": "letta",
    "archive_id": "letta",
    "namespace": "langgraph",
    "prefix": "langgraph",
    "haystack_sessions": "longmemeval",
    "conversation": "locomo",
    "session_1": "realtalk",
    "messages": "openai",
    "role": "openai",
}
_OF_ENTRIES = frozenset({"sessionId", "leafUuid", "messageId"})
"""Fields of the first entry of a transcript of Claude Code."""
_OF_STORES = frozenset({"namespace", "prefix"})
"""Fields of an item of a LangGraph store, of which messages have none."""
_BY_SUFFIX: dict[str, Format] = {
    ".af": "letta",
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
        if by_line := _of_line(_first(head), named):
            return by_line
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


def _first(head: bytes) -> Any:
    """Return the value on the first line; None if that isn't a whole one."""
    try:
        return json.loads(head.partition(b"\n")[0])
    except (ValueError, RecursionError):
        return None


def _of_line(first: Any, named: Format | None) -> Format | None:
    """Return the format of a file with a value a line."""
    if is_entry(first) and not _OF_ENTRIES.isdisjoint(first):
        return "claude-code"
    if is_graph_line(first):
        return "mcp-memory"
    if isinstance(first, dict) and "role" in first:
        return "jsonl"
    rows = isinstance(first, dict) and not _OF_STORES.isdisjoint(first)
    return "jsonl" if named == "jsonl" and not rows else None


def _keys(file: BufferedReader) -> list[str]:
    """Return the keys of a document, or of its first item if it is a list."""
    keys: list[str] = []
    depth = own = 0
    try:
        for number, (event, value) in enumerate(events(file)):
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
