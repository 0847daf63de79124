"""Reader of the memories in Claude's data export: `memories.json`, or a file of `memories/`.

They are prose: what Claude knows of the user, of each project, and files that it keeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ingest.readers.prose import told
from ingest.readers.records import Foreign, Found, IncomingRecord, given, parsed, stated
from semantic_memory.domain.categories import Category
from semantic_memory.domain.values import Timestamp


class _File(Foreign):
    path: str
    content: str
    updated_at: Timestamp | None = None


class _Memories(Foreign):
    conversations_memory: str | None = None
    project_memories: Mapping[str, str] | None = None
    memory_files: Sequence[_File] | None = None


def is_memories(value: Any) -> bool:
    """Return True for the memories of an account."""
    return isinstance(value, Mapping) and not _Memories.model_fields.keys().isdisjoint(value)


def read_claude_memories(value: Any, place: str, written: datetime) -> Iterator[Found]:
    """Read each line as a fact; `written` dates what has no time. Raises ValueError."""
    memories = parsed(_Memories, value)
    yield from _facts(memories.conversations_memory or "", place, "conversations", written)
    for project, text in (memories.project_memories or {}).items():
        yield from _facts(text, place, f"projects/{project}", written, Category.PROJECT)
    for file in memories.memory_files or ():
        yield from _facts(file.content, place, file.path, file.updated_at or written)


def _facts(
    text: str, place: str, part: str, said: datetime, category: Category | None = None
) -> Iterator[Found]:
    for title, line in told(text):
        statement = stated(
            system="claude",
            key=(part, line),
            content=line,
            category=category,
            created_at=said,
            origin=given(part=part, title=title),
        )
        yield IncomingRecord(None, f"{place}, {part}", statement)
