"""Messages of a conversation with a model, independent of the API.

A message is made of parts: text, images, documents, thinking, tool calls and their results. The
session log keeps it as a `Message` whose content is its readable text. Unless that is all of it,
its parts are kept in the metadata, under `parts`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.markers import WROTE_MEMORY, writes_memory
from semantic_memory.domain.messages import Message
from semantic_memory.domain.refusals import parse
from semantic_memory.domain.values import Value

PARTS = "parts"
GROUP = "group"
_READABLE = 10_000  # characters of a tool call's arguments or result in the readable text

Role = Literal["user", "assistant", "tool"]
Form = Literal["openai", "anthropic"]


class Text(Value):
    """Text."""

    kind: Literal["text"] = "text"
    text: str


class Image(Value):
    """An image, as an address or a `data:` URI."""

    kind: Literal["image"] = "image"
    url: str


class Document(Value):
    """A file, as an address or a `data:` URI."""

    kind: Literal["document"] = "document"
    url: str
    title: str | None = None


class Thinking(Value):
    """A model's thinking before its answer; returned to the model unchanged or not at all."""

    kind: Literal["thinking"] = "thinking"
    text: str = ""
    signature: str | None = None
    redacted: str | None = None


class ToolCall(Value):
    """A model's call of a tool."""

    kind: Literal["call"] = "call"
    id: str
    name: str
    arguments: str
    """JSON object, as text."""


class ToolResult(Value):
    """Result of the tool call with id `call_id`."""

    kind: Literal["result"] = "result"
    call_id: str
    content: tuple[Text | Image | Document, ...] = ()
    failed: bool = False


class Other(Value):
    """A block specific to one API, kept unchanged."""

    kind: Literal["other"] = "other"
    form: Form
    type: str
    block: str
    """The block as JSON."""


Part = Annotated[
    Text | Image | Document | Thinking | ToolCall | ToolResult | Other,
    Field(discriminator="kind"),
]
_PARTS: TypeAdapter[tuple[Part, ...]] = TypeAdapter(tuple[Part, ...])


class ChatMessage(Value):
    """One message. `group` is the API's id of a message that it spreads over several."""

    id: str = ""
    role: Role
    name: str | None = None
    parts: tuple[Part, ...]
    group: str | None = None

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Tool calls in the message."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """Tool results in the message."""
        return tuple(part for part in self.parts if isinstance(part, ToolResult))

    @property
    def text(self) -> str:
        """Text of the message, without its other parts."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))


def parts_of(content: Any, part: Callable[[Mapping[str, Any]], Part], blocks: str) -> list[Part]:
    """Convert the content of a message of an API, each block by `part`.

    Raises InvalidInputError, which names the `blocks` as the API does.
    """
    if isinstance(content, str):
        return [Text(text=clean(content))] if content else []
    if not isinstance(content, list | tuple) or not all(isinstance(b, Mapping) for b in content):
        raise InvalidInputError(f"push: content must be a text or a list of {blocks}")
    return [part(block) for block in content]


def other(form: Form, block: Mapping[str, Any]) -> Other:
    """Keep a block of one API unchanged. Raises InvalidInputError if it isn't JSON."""
    try:
        text = json.dumps(block, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"push: a {block['type']!r} block isn't JSON: {error}") from None
    return Other(form=form, type=str(block["type"]), block=clean(text))


def clean(text: str) -> str:
    """Replace characters that stores and APIs can't carry: NUL and lone surrogates."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def readable(message: ChatMessage) -> str:
    """Return the readable text of a message: its words, and names for its other parts.

    This is the text that is stored, searched and summarised.
    """
    lines = (_readable(part) for part in message.parts)
    return "\n".join(line for line in lines if line.strip()) or "[no text]"


def _readable(part: Part) -> str:
    match part:
        case Text(text=text):
            return text
        case ToolCall(name=name, arguments=arguments):
            return f"[calls {name} {_shortened(arguments)}]"
        case ToolResult(content=content):
            return _shortened("\n".join(_readable(inner) for inner in content))
        case Document(title=title):
            return f"[document: {title}]" if title else "[document]"
        case Image():
            return "[image]"
        case Other(type=name):
            return f"[{name}]"
    return ""  # thinking isn't part of the conversation


def _shortened(text: str) -> str:
    return text if len(text) <= _READABLE else f"{text[:_READABLE]} [...]"


def to_log(message: ChatMessage, values: Mapping[str, Any]) -> Message:
    """Convert a message for the session log; `values` are further fields of the result.

    Raises InvalidInputError.
    """
    metadata: dict[str, JsonValue] = {}
    if not (len(message.parts) == 1 and isinstance(message.parts[0], Text)):
        metadata[PARTS] = _PARTS.dump_python(message.parts, mode="json")
    if message.group is not None:
        metadata[GROUP] = message.group
    if any(writes_memory(call.name) for call in message.calls):
        metadata[WROTE_MEMORY] = True
    fields = {
        "role": message.role,
        "content": readable(message),
        "name": message.name,
        "metadata": metadata,
        **values,
    }
    return parse(Message, "push", fields)


def from_log(message: Message) -> ChatMessage | None:
    """Convert a message of the session log back; None for a system message.

    A message without valid parts in its metadata becomes one of text.
    """
    if message.role == "system":
        return None
    parts: tuple[Part, ...] = (Text(text=message.content),)
    if PARTS in message.metadata:
        with suppress(ValidationError):
            parts = _PARTS.validate_python(message.metadata[PARTS], strict=False)
    group = message.metadata.get(GROUP)
    return ChatMessage(
        id=message.id,
        role=message.role,
        name=message.name,
        parts=parts,
        group=group if isinstance(group, str) else None,
    )


def without_pictures(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Replace images and documents by `[image]` and `[document]`."""
    return tuple(
        Text(text=_readable(part)) if isinstance(part, Image | Document) else part for part in parts
    )
