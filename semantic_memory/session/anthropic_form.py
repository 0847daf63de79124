"""Conversion from and to the messages of Anthropic's Messages API."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.session.parts import (
    ChatMessage,
    Document,
    Image,
    Other,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    clean,
    other,
    parts_of,
)

Wire = dict[str, Any]


def from_anthropic(message: Mapping[str, Any]) -> list[ChatMessage]:
    """Convert a message of the API; one with both tool results and other parts becomes two.

    Raises InvalidInputError.
    """
    role = message.get("role")
    if role not in ("user", "assistant"):
        raise InvalidInputError(
            f"push: role must be user or assistant (got {role!r}); the system prompt belongs to"
            " the session: session(system_prompt=...)"
        )
    parts = parts_of(message.get("content"), _part, "blocks")
    if not parts:
        raise InvalidInputError("push: a message has no content")
    results = tuple(part for part in parts if isinstance(part, ToolResult))
    rest = tuple(part for part in parts if not isinstance(part, ToolResult))
    group = str(message["id"]) if message.get("id") else None
    found = []
    if results:
        found.append(ChatMessage(role="tool", parts=results))
    if rest:
        found.append(ChatMessage(role=role, parts=rest, group=group))
    return found


def to_anthropic(messages: Iterable[ChatMessage]) -> list[Wire]:
    """Convert to the API's messages, in which roles alternate and the user begins.

    Expects complete pairs of calls and results (`pairs.complete`).
    """
    wires: list[Wire] = []
    for message in messages:
        role: Role = "assistant" if message.role == "assistant" else "user"
        blocks = [block for part in message.parts if (block := _block(part)) is not None]
        if not blocks:
            continue
        if not wires and role == "assistant":
            wires.append({"role": "user", "content": [{"type": "text", "text": "[...]"}]})
        if wires and wires[-1]["role"] == role:
            wires[-1]["content"].extend(blocks)
        else:
            wires.append({"role": role, "content": blocks})
    for wire in wires:
        (first, *more) = wire["content"]
        if not more and first["type"] == "text":
            wire["content"] = first["text"]
    return wires


def _block(part: Part) -> Wire | None:
    match part:
        case Text(text=text):
            return {"type": "text", "text": text} if text.strip() else None
        case Image(url=url):
            return {"type": "image", "source": _source(url)}
        case Document(url=url, title=title):
            return {"type": "document", "source": _source(url)} | (
                {"title": title} if title else {}
            )
        case Thinking(redacted=str(data)):
            return {"type": "redacted_thinking", "data": data}
        case Thinking(text=text, signature=str(signature)):
            return {"type": "thinking", "thinking": text, "signature": signature}
        case ToolCall(id=call_id, name=name, arguments=arguments):
            return {"type": "tool_use", "id": call_id, "name": name, "input": _input(arguments)}
        case ToolResult(call_id=call_id, content=content, failed=failed):
            blocks = [block for inner in content if (block := _block(inner)) is not None]
            alone = len(blocks) == 1 and blocks[0]["type"] == "text"
            wire: Wire = {
                "type": "tool_result",
                "tool_use_id": call_id,
                "content": blocks[0]["text"] if alone else blocks,
            }
            return wire | ({"is_error": True} if failed else {})
        case Other(form="anthropic", block=block):
            return dict(json.loads(block))
        case Other(type=name):
            return {"type": "text", "text": f"[{name}]"}
    return None


def _source(url: str) -> Wire:
    if not url.startswith("data:"):
        return {"type": "url", "url": url}
    kind, _, data = url.removeprefix("data:").partition(",")
    media_type, _, encoding = kind.partition(";")
    if encoding == "base64":
        return {"type": "base64", "media_type": media_type, "data": data}
    return {"type": "text", "media_type": media_type, "data": data}


def _input(arguments: str) -> Any:
    try:
        value = json.loads(arguments or "{}")
    except ValueError:
        return {"arguments": arguments}  # invalid JSON from a model, shown verbatim
    return value if isinstance(value, dict) else {"arguments": value}


def _part(block: Mapping[str, Any]) -> Part:
    match block:
        case {"type": "text", "text": str(text)}:
            return Text(text=clean(text))
        case {"type": "image", "source": Mapping() as source} if url := _url(source):
            return Image(url=url)
        case {"type": "document", "source": Mapping() as source} if url := _url(source):
            title = block.get("title")
            return Document(url=url, title=clean(str(title)) if title else None)
        case {"type": "thinking", "thinking": str(text)}:
            return Thinking(text=clean(text), signature=block.get("signature"))
        case {"type": "redacted_thinking", "data": str(data)}:
            return Thinking(redacted=data)
        case {"type": "tool_use", "id": str(call_id), "name": str(name)}:
            arguments = json.dumps(block.get("input") or {}, ensure_ascii=False)
            return ToolCall(id=call_id, name=clean(name), arguments=clean(arguments))
        case {"type": "tool_result", "tool_use_id": str(call_id)}:
            inner = parts_of(block.get("content") or "", _part, "blocks")
            return ToolResult(
                call_id=call_id,
                content=_result_content(inner),
                failed=bool(block.get("is_error")),
            )
        case {"type": str()}:
            return other("anthropic", block)
    raise InvalidInputError(f"push: a block of a message has no type (got keys {sorted(block)})")


def _result_content(parts: Sequence[Part]) -> tuple[Text | Image | Document, ...]:
    return tuple(
        part
        if isinstance(part, Text | Image | Document)
        else Text(text=part.model_dump_json(exclude_defaults=True))
        for part in parts
    )


def _url(source: Mapping[str, Any]) -> str | None:
    """Return an address or `data:` URI; None for sources specific to this API, like uploads."""
    match source:
        case {"url": str(url)}:
            return url
        case {"type": "text", "media_type": str(kind), "data": str(data)}:
            return f"data:{kind},{data}"
        case {"media_type": str(kind), "data": str(data)}:
            return f"data:{kind};base64,{data}"
    return None
