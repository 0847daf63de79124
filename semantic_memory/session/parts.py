"""A message of a conversation with a model, whatever API it came through.

It is made of parts: text, images, documents, thinking, tool calls and their results. The session
log keeps it as a `Message` whose content is what can be read and searched; parts that this can't
hold go into its metadata, under `parts`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.markers import WROTE_MEMORY, writes_memory
from semantic_memory.domain.messages import Message
from semantic_memory.domain.values import Value, parse

PARTS = "parts"
GROUP = "group"
_READABLE = 10_000  # characters of one part in the readable form

Role = Literal["user", "assistant", "tool"]
Form = Literal["openai", "anthropic"]


class Text(Value):
    """Words."""

    kind: Literal["text"] = "text"
    text: str


class Image(Value):
    """A picture, by its address or as a `data:` URI."""

    kind: Literal["image"] = "image"
    url: str


class Document(Value):
    """A file, by its address or as a `data:` URI."""

    kind: Literal["document"] = "document"
    url: str
    title: str | None = None


class Thinking(Value):
    """What a model thought before it answered; goes back to it unchanged or not at all."""

    kind: Literal["thinking"] = "thinking"
    text: str = ""
    signature: str | None = None
    redacted: str | None = None


class ToolCall(Value):
    """A model asks for a tool."""

    kind: Literal["call"] = "call"
    id: str
    name: str
    arguments: str
    """A JSON object, as text."""


class ToolResult(Value):
    """What a tool answered to the call with this id."""

    kind: Literal["result"] = "result"
    call_id: str
    content: tuple[Text | Image | Document, ...] = ()
    failed: bool = False


class Other(Value):
    """A block of one API that has no counterpart elsewhere, kept as it is."""

    kind: Literal["other"] = "other"
    form: Form
    type: str
    block: str
    """As JSON."""


Part = Annotated[
    Text | Image | Document | Thinking | ToolCall | ToolResult | Other,
    Field(discriminator="kind"),
]
_PARTS: TypeAdapter[tuple[Part, ...]] = TypeAdapter(tuple[Part, ...])


class ChatMessage(Value):
    """One message. `group` is the API's own id where it spreads one message over several."""

    id: str = ""
    role: Role
    name: str | None = None
    parts: tuple[Part, ...]
    group: str | None = None

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tools it asks for."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """The answers of tools that it holds."""
        return tuple(part for part in self.parts if isinstance(part, ToolResult))

    @property
    def text(self) -> str:
        """Its words alone."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))


def other(form: Form, block: Mapping[str, Any]) -> Other:
    """A block of one API, as it is. Raises InvalidInputError if it isn't JSON."""
    try:
        text = json.dumps(block, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"push: a {block['type']!r} block isn't JSON: {error}") from None
    return Other(form=form, type=str(block["type"]), block=clean(text))


def clean(text: str) -> str:
    """`text` without what no store and no API can carry: NUL and lone surrogates."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def readable(message: ChatMessage) -> str:
    """What is kept, searched and summarised of a message: words, with names for the rest."""
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
    return ""  # thinking was not said


def _shortened(text: str) -> str:
    return text if len(text) <= _READABLE else f"{text[:_READABLE]} [...]"


def to_log(message: ChatMessage, values: Mapping[str, Any]) -> Message:
    """`message` as the session log keeps it; `values` are further fields.

    Raises InvalidInputError.
    """
    metadata: dict[str, JsonValue] = {}
    if not (len(message.parts) == 1 and isinstance(message.parts[0], Text)):
        metadata[PARTS] = _PARTS.dump_python(message.parts, mode="json", exclude_defaults=False)
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
    """The message that `to_log` kept, or one that was only said; None for a system message.

    Parts that can't be read are taken for what they say.
    """
    if message.role == "system":
        return None
    parts: tuple[Part, ...] = (Text(text=message.content),)
    if PARTS in message.metadata:
        try:
            parts = _PARTS.validate_python(message.metadata[PARTS], strict=False)
        except ValidationError:
            parts = (Text(text=message.content),)
    group = message.metadata.get(GROUP)
    return ChatMessage(
        id=message.id,
        role=message.role,
        name=message.name,
        parts=parts,
        group=group if isinstance(group, str) else None,
    )


def without_pictures(parts: Iterable[Part]) -> tuple[Part, ...]:
    """The same with `[image]` and `[document]` in the place of what only costs."""
    return tuple(
        Text(text=_readable(part)) if isinstance(part, Image | Document) else part for part in parts
    )
