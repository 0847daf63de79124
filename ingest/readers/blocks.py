"""Content blocks of chat messages in the data of OpenAI, Anthropic and their apps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

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
}


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
        for block in _blocks(message.get("content"))
        if isinstance(block, dict) and block.get("type") == "tool_use"
    ]
    return [name for name in (*calls, *uses) if isinstance(name, str)]


def wrote_memory(message: Mapping[str, Any]) -> bool:
    """Return True if a message calls a tool that writes memories."""
    return any(map(writes_memory, tools_called(message)))


def _blocks(content: Any) -> list[Any]:
    return content if isinstance(content, list) else []


def _text(block: Any) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, dict):
        return ""
    kind = block.get("type") or block.get("content_type")
    if kind in ("tool_use", "tool_result", "thinking", "redacted_thinking"):
        return ""
    text = block.get("text") or block.get("refusal")
    return text if isinstance(text, str) else _PLACEHOLDERS.get(str(kind), "")
