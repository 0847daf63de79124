"""Readers: messages, facts and items from files, one at a time, with unusable places reported.

`read` chooses the reader; each yields `Incoming` messages, an `IncomingRecord` for a fact or an
item of another system's memory, and `Rejected` places. What has no id gets the same one at every
reading, so that a file can be read again at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from io import BufferedReader
from pathlib import Path

import ijson

from ingest.readers.chat import read_chat
from ingest.readers.chatgpt import read_chatgpt
from ingest.readers.chatgpt_memory import SavedMemories
from ingest.readers.claude import read_claude
from ingest.readers.claude_code import read_claude_code
from ingest.readers.detect import detect
from ingest.readers.files import DAMAGE, Source, sources
from ingest.readers.jsonl import read_jsonl
from ingest.readers.langgraph import read_langgraph
from ingest.readers.letta import read_letta
from ingest.readers.locomo import read_locomo
from ingest.readers.longmemeval import read_longmemeval
from ingest.readers.mcp_memory import read_mcp_memory
from ingest.readers.mem0 import read_mem0
from ingest.readers.notes import read_markdown, read_text
from ingest.readers.realtalk import read_realtalk
from ingest.readers.records import Found, IncomingRecord
from ingest.readers.values import Incoming, Rejected
from ingest.readers.zep import read_zep
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.fields import Format
from semantic_memory.domain.ports import Progress

_WITH_SESSIONS: dict[Format, Callable[[BufferedReader], Iterator[Found]]] = {
    "claude-code": read_claude_code,
    "locomo": read_locomo,
    "longmemeval": read_longmemeval,
    "realtalk": read_realtalk,
}

_DATED: dict[Format, Callable[[BufferedReader, datetime], Iterator[Found]]] = {
    "claude": read_claude,
    "langgraph": read_langgraph,
    "letta": read_letta,
    "mcp-memory": read_mcp_memory,
    "mem0": read_mem0,
    "zep": read_zep,
}
"""Readers that date what has no time with the time of the file."""

__all__ = ["Format", "Found", "Incoming", "IncomingRecord", "Rejected", "read"]


def read(
    path: Path, form: Format, session_id: str, progress: Progress | None = None
) -> Iterator[Found]:
    """Read the messages, facts and items of a file: plain, gzipped or the zip of an export.

    Messages without a session get `session_id`. Memory is bounded by the largest item of the file:
    a message, or a conversation of an export. `progress` is called with the bytes read so far.

    Raises NotFoundError, or InvalidInputError if the file has nothing that can be used.
    """
    size = path.stat().st_size if path.exists() else 0
    taken = 0
    chosen = form
    parts = sources(path)
    saved = SavedMemories(parts[0].modified)  # all members of a zip have its time
    for source in parts:
        try:
            if chosen == "auto":  # all members of a zip are of one export
                chosen = detect(source)
            with source.open() as (file, raw):
                for item in _items(chosen, file, session_id, source, saved):
                    taken += 1
                    if progress:
                        progress("reading", raw.tell(), size)
                    yield item
        except (ijson.JSONError, *DAMAGE) as error:
            reason = str(error).split("\n", 1)[0]
            if not taken:
                raise InvalidInputError(f"{path} is damaged: {reason}") from None
            yield Rejected(f"after part {taken}", f"the file is damaged: {reason}")
        except OSError as error:
            raise InvalidInputError(f"{path} can't be read: {error.strerror or error}") from None
    for item in saved.records():
        taken += 1
        yield item
    if not taken:
        raise InvalidInputError(f"{path} holds nothing of the format {chosen}")


def _items(
    form: Format, file: BufferedReader, session_id: str, source: Source, saved: SavedMemories
) -> Iterator[Found]:
    match form:
        case "jsonl":
            return read_jsonl(file, session_id)
        case "openai" | "anthropic":
            return read_chat(file, session_id)
        case "markdown":
            return read_markdown(file, session_id, source.modified)
        case "text":
            return read_text(file, session_id, source.modified)
        case "chatgpt":
            return read_chatgpt(file, saved)
        case _ if form in _DATED:
            return _DATED[form](file, source.modified)
        case _:
            return _WITH_SESSIONS[form](file)
