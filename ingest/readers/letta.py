"""Reader of Letta: an agent file (`.af`) of either version, or a list of archival passages.

An agent file has the blocks of core memory and the latest messages, and no passages of archival
memory: those are what `agents.passages.list` or `archives.passages.list` returns.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from io import BufferedReader
from typing import Any

from pydantic import AliasChoices, Field

from ingest.readers.documents import items
from ingest.readers.prose import told
from ingest.readers.records import (
    Foreign,
    Found,
    IncomingRecord,
    given,
    parsed,
    read_each,
    stated,
)
from ingest.readers.values import Builder, Incoming, Rejected, slug
from semantic_memory.domain.blocks import text_of
from semantic_memory.domain.values import Timestamp

_SYSTEM = "letta"
_SAYING = "send_message"
"""The tool by which agents of the older kinds speak: what they write beside it is thinking."""
_OF_AGENT = "persona"
"""The label of the block in which an agent describes itself."""
_PACKED = "user_message"
"""The type of what a user said, where messages are JSON; other types come from the program."""


class _Block(Foreign):
    id: str | None = None
    label: str
    value: str
    created_at: Timestamp | None = None
    updated_at: Timestamp | None = None


class _Function(Foreign):
    name: str
    arguments: str = ""


class _ToolCall(Foreign):
    function: _Function


class _Message(Foreign):
    role: str
    content: Any = None
    tool_calls: Sequence[_ToolCall] | None = None
    created_at: Timestamp | None = None


class _Agent(Foreign):
    name: str = Field(min_length=1)
    core_memory: Sequence[_Block] = ()
    block_ids: Sequence[str] | None = None
    messages: Sequence[Any] = ()


class _File(Foreign):
    agents: Sequence[_Agent]
    blocks: Sequence[_Block] = ()


class _Passage(Foreign):
    id: str | None = None
    text: str
    archive_id: str | None = None
    created_at: Timestamp | None = None
    is_deleted: bool | None = None
    tags: Sequence[str] | None = None
    metadata: Mapping[str, Any] | None = Field(
        None, validation_alias=AliasChoices("metadata", "metadata_")
    )


def read_letta(file: BufferedReader, written: datetime) -> Iterator[Found]:
    """Read each line of a block and each passage as a fact, and what was said as messages.

    Blocks labelled `persona` are left out: they describe the agent, in the first person.
    An agent's facts and messages have its name as their agent, but for the blocks that several
    agents share; a session is named after its agent. `written` dates what has no time.
    """
    return read_each(items(file), "document", partial(_document, written=written))


def _document(value: Any, place: str, written: datetime) -> Iterator[Found]:
    match value:
        case {"agents": _}:
            file = parsed(_File, value)
            users = Counter(one for agent in file.agents for one in agent.block_ids or ())
            blocks = {block.id: block for block in file.blocks}
            shared = [block for block in file.blocks if users[block.id or ""] != 1]
            yield from _blocks(shared, None, place, written)
            for agent in file.agents:
                ids = [one for one in agent.block_ids or () if users[one] == 1]
                own = [blocks[one] for one in ids if one in blocks]
                yield from _agent(agent, own, place, written)
        case {"core_memory": _}:
            agent = parsed(_Agent, value)
            yield from _agent(agent, agent.core_memory, place, written)
        case {"text": _}:
            yield from _passage(parsed(_Passage, value), place, written)
        case _:
            raise ValueError("is no agent file and no archival passage of Letta")


def _agent(
    agent: _Agent, blocks: Sequence[_Block], place: str, written: datetime
) -> Iterator[Found]:
    name = slug(agent.name)
    place = f"{place}, agent {agent.name}"
    yield from _blocks(blocks, name, place, written)
    builder = Builder()
    for number, message in enumerate(agent.messages, start=1):
        try:
            if incoming := _said(builder, parsed(_Message, message), name):
                yield incoming
        except ValueError as error:
            yield Rejected(f"{place}, message {number}", str(error))


def _blocks(
    blocks: Sequence[_Block], agent: str | None, place: str, written: datetime
) -> Iterator[Found]:
    for block in blocks:
        if block.label.casefold() == _OF_AGENT:
            yield Rejected(f"{place}, block {block.label}", "describes the agent, not the user")
            continue
        for title, line in told(block.value):
            statement = stated(
                system=_SYSTEM,
                key=(agent or "", block.label, line),
                content=line,
                agent_id=agent,
                created_at=block.updated_at or block.created_at or written,
                origin=given(block=block.label, title=title),
            )
            yield IncomingRecord(None, f"{place}, block {block.label}", statement)


def _passage(passage: _Passage, place: str, written: datetime) -> Iterator[Found]:
    if passage.is_deleted:
        return
    statement = stated(
        system=_SYSTEM,
        key=(passage.id or "", passage.text),
        content=passage.text,
        created_at=passage.created_at or written,
        tags=tuple(passage.tags or ()),
        metadata=passage.metadata,
        origin=given(id=passage.id, archive=passage.archive_id),
    )
    yield IncomingRecord(None, place, statement)


def _said(builder: Builder, message: _Message, agent: str) -> Incoming | None:
    """Return what a user or the agent said; None for prompts, tools and thinking.

    Ids are those of the file alone, so that messages get ids by their texts and times.
    """
    text = _spoken(message) if message.role == "assistant" else _asked(message)
    if not text.strip():
        return None
    return builder.incoming(
        None,
        agent,
        {
            "role": message.role,
            "content": text,
            "created_at": message.created_at,
            "agent_id": agent,
        },
    )


def _spoken(message: _Message) -> str:
    if not message.tool_calls:
        return text_of(message.content)
    calls = (call.function for call in message.tool_calls if call.function.name == _SAYING)
    return "\n".join(filter(None, (_member(call.arguments, "message") for call in calls)))


def _asked(message: _Message) -> str:
    if message.role != "user":
        return ""
    text = text_of(message.content)
    kind = _member(text, "type")
    if kind is None:
        return text
    return (_member(text, "message") or "") if kind == _PACKED else ""


def _member(text: str, name: str) -> str | None:
    """Return a text in a JSON object; None if the text is no such object."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) else None
