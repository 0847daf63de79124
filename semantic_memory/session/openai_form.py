"""Conversion from and to the messages of OpenAI's chat completions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.patterns import regex
from semantic_memory.session.parts import (
    ChatMessage,
    Document,
    Image,
    Other,
    Part,
    Text,
    ToolCall,
    ToolResult,
    clean,
    other,
    parts_of,
    readable,
)

Wire = dict[str, Any]

_NAME = regex(r"[A-Za-z0-9_-]{1,64}")


def from_openai(message: Mapping[str, Any]) -> list[ChatMessage]:
    """Convert a message of the API. Raises InvalidInputError."""
    role = message.get("role")
    if role == "tool":
        content = tuple(
            part for part in _parts(message.get("content")) if isinstance(part, Text | Image)
        )
        result = ToolResult(call_id=_call_id(message), content=content)
        return [ChatMessage(role="tool", parts=(result,))]
    if role not in ("user", "assistant"):
        raise InvalidInputError(
            f"push: role must be user, assistant or tool (got {role!r}); the system prompt belongs"
            " to the session: session(system_prompt=...)"
        )
    parts = _parts(message.get("content"))
    if refusal := message.get("refusal"):
        parts.append(Text(text=clean(str(refusal))))
    parts += [_call(call) for call in message.get("tool_calls") or ()]
    if not parts:
        raise InvalidInputError("push: a message has neither content nor tool calls")
    name = message.get("name")
    group = message.get("id")
    return [
        ChatMessage(
            role=role,
            name=clean(str(name)) if name else None,
            parts=tuple(parts),
            group=str(group) if group else None,
        )
    ]


def to_openai(system: str, messages: Iterable[ChatMessage]) -> list[Wire]:
    """Convert to the API's messages, without thinking, which the API doesn't take.

    Expects complete pairs of calls and results (`pairs.complete`).
    """
    wires: list[Wire] = [{"role": "system", "content": system}] if system else []
    for message in messages:
        wires += _wires(message)
    return wires


def _wires(message: ChatMessage) -> list[Wire]:
    if message.results:
        return [
            {
                "role": "tool",
                "tool_call_id": result.call_id,
                "content": readable(ChatMessage(role="tool", parts=result.content)),
            }
            for result in message.results
        ]
    content = _content(message.parts)
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for call in message.calls
    ]
    if not content and not calls:
        return []
    wire: Wire = {"role": "user" if message.role == "tool" else message.role, "content": content}
    if message.name and _NAME.fullmatch(message.name):
        wire["name"] = message.name
    if calls:
        wire |= {"content": content or None, "tool_calls": calls}
    return [wire]


def _content(parts: Sequence[Part]) -> str | list[Wire]:
    blocks = [block for part in parts if (block := _block(part)) is not None]
    if len(blocks) == 1 and blocks[0]["type"] == "text":
        return str(blocks[0]["text"])
    return blocks


def _block(part: Part) -> Wire | None:
    match part:
        case Text(text=text):
            return {"type": "text", "text": text} if text else None
        case Image(url=url):
            return {"type": "image_url", "image_url": {"url": url}}
        case Document(url=url, title=title):
            if url.startswith("data:"):
                return {
                    "type": "file",
                    "file": {"filename": title or "document", "file_data": url},
                }
            return {"type": "text", "text": f"[document: {title or url}]"}
        case Other(form="openai", block=block):
            return dict(json.loads(block))
        case Other(type=name):
            return {"type": "text", "text": f"[{name}]"}
    return None


def _parts(content: Any) -> list[Part]:
    return [] if content is None else parts_of(content, _part, "parts")


def _part(block: Mapping[str, Any]) -> Part:
    match block:
        case {"type": "text", "text": str(text)}:
            return Text(text=clean(text))
        case {"type": "refusal", "refusal": str(text)}:
            return Text(text=clean(text))
        case {"type": "image_url", "image_url": {"url": str(url)}}:
            return Image(url=url)
        case {"type": "file", "file": {"file_data": str(data), **rest}}:
            return Document(url=data, title=str(rest["filename"]) if "filename" in rest else None)
        case {"type": str()}:
            return other("openai", block)
    raise InvalidInputError(f"push: a part of a message has no type (got keys {sorted(block)})")


def _call(call: Any) -> ToolCall:
    match call:
        case {"id": str(call_id), "function": {"name": str(name), "arguments": str(arguments)}}:
            return ToolCall(id=call_id, name=clean(name), arguments=clean(arguments))
    raise InvalidInputError(
        "push: a tool call must have an id and a function with name and arguments as JSON text"
    )


def _call_id(message: Mapping[str, Any]) -> str:
    value = message.get("tool_call_id")
    if not isinstance(value, str) or not value:
        raise InvalidInputError("push: a tool message must have tool_call_id")
    return value
