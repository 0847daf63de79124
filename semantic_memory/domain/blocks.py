"""Content blocks of chat messages in the data of OpenAI, Anthropic and their apps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from semantic_memory.domain.markers import writes_memory

_PLACEHOLDERS = {
    "image": "[image]",
    "image_url": "[image]",
    "input_image": "[image]",
    "image_asset_pointer": "[image]",
    "document": "[document]",
    "file": "[document]",
    "input_file": "[document]",
    "input_audio": "[audio]",
    "audio": "[audio]",
    "container_upload": "[document]",
    "search_result": "[document]",
}
_LEFT_OUT = frozenset(
    {"thinking", "redacted_thinking", "reasoning", "compaction", "tool_reference"}
)


class Unreadable(NamedTuple):
    """A place in a content, as keys and positions, with what it should be and what it is."""

    place: tuple[str | int, ...]
    reason: str
    found: Any


def text_of(content: Any) -> str:
    """Return the text of a content, a line for each block; media leave a placeholder.

    Leaves out thinking, tool calls and tool results.
    """
    if isinstance(content, str):
        return content
    return "\n".join(text for block in _blocks(content) if (text := _text(block)))


def tool_results(content: Any) -> Iterator[str]:
    """Yield the texts of the tool results within a message."""
    for block in _blocks(content):
        if isinstance(block, dict) and block.get("type") == "tool_result":
            yield text_of(block.get("content"))


def tools_called(message: Mapping[str, Any]) -> list[str]:
    """Return the names of the tools that a message calls."""
    calls = [
        (call.get("function") or call).get("name")
        for call in _blocks(message.get("tool_calls"))
        if isinstance(call, dict) and isinstance(call.get("function") or call, dict)
    ]
    uses = [
        block.get("name")
        for block in (message, *_blocks(message.get("content")))
        if isinstance(block, dict) and block.get("type") in ("tool_use", "function_call")
    ]
    return [name for name in (*calls, *uses) if isinstance(name, str)]


def wrote_memory(message: Mapping[str, Any]) -> bool:
    """Return True if a message calls a tool that writes memories."""
    return any(map(writes_memory, tools_called(message)))


def unreadable(content: Any) -> Iterator[Unreadable]:
    """Yield the places of a content that are neither text, media, nor a part to leave out."""
    if not isinstance(content, str | list):
        yield Unreadable((), "must be a text or a list of blocks", content)
    for place, block in enumerate(_blocks(content)):
        if isinstance(block, str):
            continue
        if not isinstance(block, dict) or not isinstance(kind := block.get("type"), str):
            yield Unreadable((place,), "must be an object with a type, and a text or media", block)
        elif kind == "tool_result":
            inner = block.get("content")
            for one in unreadable("" if inner is None else inner):
                yield one._replace(place=(place, "content", *one.place))
        elif not (_is_left_out(kind) or kind in _PLACEHOLDERS or _words(block) is not None):
            yield Unreadable((place,), "is a block without a text, of no known type", block)


def _is_left_out(kind: Any) -> bool:
    return isinstance(kind, str) and (
        kind in _LEFT_OUT or kind.endswith(("tool_use", "tool_result"))
    )


def _words(block: Mapping[str, Any]) -> str | None:
    found = block.get("text", block.get("refusal"))
    return found if isinstance(found, str) else None


def _blocks(content: Any) -> list[Any]:
    return content if isinstance(content, list) else []


def _text(block: Any) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, dict):
        return ""
    kind = block.get("type") or block.get("content_type")
    if _is_left_out(kind):
        return ""
    return _words(block) or _placeholder(str(kind), block)


def _filename(file: Any) -> Any:
    return file.get("filename") if isinstance(file, dict) else None


def _placeholder(kind: str, block: Mapping[str, Any]) -> str:
    found = _PLACEHOLDERS.get(kind, "")
    if found != "[document]":
        return found
    names = (block.get("title"), block.get("filename"), _filename(block.get("file")))
    name = next((one for one in names if isinstance(one, str) and one.strip()), None)
    return f"[document: {name}]" if name else found
