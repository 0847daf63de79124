"""Token counts of requests, as their APIs count them.

OpenAI's constants are those of "How to count tokens with tiktoken" (OpenAI cookbook): 3 tokens
around each message, 1 more with a name, 3 before the reply, and those around tool schemas. Tool
calls and pictures have no published constants; their estimates here err upwards, and so do the
counts for Anthropic.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from semantic_memory.domain.ports import TokenCounter
from semantic_memory.session.parts import Form

_MESSAGE, _NAME, _REPLY = 3, 1, 3
_CALL = 12  # around a tool call or its result
_IMAGE = 1_600  # most that either API counts for a picture of usual size
_PAGE, _PAGE_BYTES = 3_000, 40_000  # of a PDF
_TOOL_PROMPT = 350  # Anthropic's own instructions when there are tools

_FUNCTION = {"o200k": 7, "cl100k": 10}
_PROPERTIES, _KEY, _ENUM, _ENUM_ITEM, _FUNCTIONS_END = 3, 3, -3, 3, 12


class RequestCounter:
    """Counter of the tokens of messages and tool schemas, with a cache of text counts."""

    def __init__(self, counter: TokenCounter, form: Form, *, older: bool = False) -> None:
        self._form = form
        self._count = lru_cache(4_096)(counter.count)
        self._function = _FUNCTION["cl100k" if older else "o200k"]

    def request(self, messages: Sequence[Mapping[str, Any]], system: str = "") -> int:
        """Return the tokens of a prompt, including the start of the reply but not tool schemas."""
        head = _MESSAGE + self._count("system") + self._count(system) if system else 0
        return head + sum(map(self.message, messages)) + _REPLY

    def message(self, message: Mapping[str, Any]) -> int:
        """Return the tokens of one message in the API's form."""
        tokens = _MESSAGE + self._count(str(message["role"])) + self._content(message["content"])
        if name := message.get("name"):
            tokens += _NAME + self._count(name)
        for call in message.get("tool_calls") or ():
            function = call["function"]
            tokens += _CALL + self._count(function["name"]) + self._count(function["arguments"])
        return tokens + (_CALL if "tool_call_id" in message else 0)

    def tools(self, tools: Sequence[Mapping[str, Any]]) -> int:
        """Return the tokens of tool schemas."""
        if not tools:
            return 0
        if self._form == "anthropic":
            return _TOOL_PROMPT + sum(self._json(tool) for tool in tools)
        return _FUNCTIONS_END + sum(self._schema(tool) for tool in tools)

    def _content(self, content: Any) -> int:
        if content is None:
            return 0
        if isinstance(content, str):
            return self._count(content)
        return sum(self._block(block) for block in content)

    def _block(self, block: Mapping[str, Any]) -> int:
        match block:
            case {"type": "text", "text": text} | {"type": "thinking", "thinking": text}:
                return self._count(text)
            case {"type": "image" | "image_url"}:
                return _IMAGE
            case {"type": "document", "source": Mapping() as source}:
                return self._document(source.get("data"), source.get("type") == "text")
            case {"type": "file", "file": Mapping() as file}:
                return self._document(file.get("file_data"), readable=False)
            case {"type": "tool_use", "name": name, "input": values}:
                return _CALL + self._count(name) + self._json(values)
            case {"type": "tool_result", "content": content}:
                return _CALL + self._content(content)
        return self._json(block)

    def _document(self, data: object, readable: bool) -> int:
        if not isinstance(data, str):
            return 10 * _PAGE  # fetched by the API, so of unknown size
        if readable:
            return self._count(data)
        return _PAGE * max(1, -(-len(data) * 3 // (4 * _PAGE_BYTES)))

    def _json(self, value: object) -> int:
        return self._count(json.dumps(value, ensure_ascii=False, default=str))

    def _schema(self, tool: Mapping[str, Any]) -> int:
        function = tool.get("function")
        if not isinstance(function, Mapping):
            return self._function + self._json(tool)
        line = f"{function.get('name', '')}:{_unstopped(function.get('description', ''))}"
        tokens = self._function + self._count(line)
        properties = (function.get("parameters") or {}).get("properties") or {}
        tokens += _PROPERTIES if properties else 0
        return tokens + sum(self._property(name, value) for name, value in properties.items())

    def _property(self, name: str, schema: Mapping[str, Any]) -> int:
        known = {"type", "description", "enum"}
        line = f"{name}:{schema.get('type', '')}:{_unstopped(schema.get('description', ''))}"
        tokens = _KEY + self._count(line)
        if enum := schema.get("enum"):
            tokens += _ENUM + sum(_ENUM_ITEM + self._count(str(item)) for item in enum)
        deeper = {key: value for key, value in schema.items() if key not in known}
        return tokens + (self._json(deeper) if deeper else 0)


def _unstopped(description: str) -> str:
    return description.removesuffix(".")
