"""Messages of OpenAI's and Anthropic's APIs, as the fields of messages of a memory.

Parts of text are joined, images and files leave a placeholder, and tool results become messages of
role `tool`. Thinking and tool calls are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from semantic_memory.domain.blocks import text_of, tool_results, unreadable, wrote_memory
from semantic_memory.domain.markers import WROTE_MEMORY
from semantic_memory.domain.messages import Message, SessionMessage
from semantic_memory.domain.refusals import UNKNOWN_KEY

MessageLike = Message | Mapping[str, Any] | BaseModel
"""A message, or one of OpenAI's or Anthropic's APIs: a mapping, or an object of their libraries."""

_ROLES = {"developer": "system", "function": "tool"}
_OF_APIS = frozenset(
    """
    annotations audio cache_control container context_management function_call logprobs model object
    parsed phase reasoning reasoning_content reasoning_details refusal status stop_details
    stop_reason stop_sequence tool_call_id tool_calls type usage
    """.split()
)
"""Keys of messages of the APIs beside those of a `Message`."""
_SILENT = ("tool_calls", "function_call")
_FORM: Final = "message_form"


class Chat:
    """A conversation, read message by message.

    A message of tool calls alone has no text; if it calls a tool that writes memories, the next
    message of the turn is marked.
    """

    def __init__(self) -> None:
        self._marked = False

    def read(self, message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the fields of the messages made of one: its tool results, then its text."""
        found = [*_said(message)]
        begins = message.get("role") == "user" and all(one["role"] == "user" for one in found)
        self._marked = wrote_memory(message) or (self._marked and not begins)
        for values in found:
            if self._marked:
                values["metadata"] = {**(values.get("metadata") or {}), WROTE_MEMORY: True}
            self._marked = False
            yield values


def messages_of(given: Any) -> Any:
    """Return the messages of a list of messages in any form; another value as it is.

    Raises ValidationError, which names the places that can't be read.
    """
    if not isinstance(given, list):
        return given
    chat = Chat()
    found: list[Message] = []
    wrong: list[InitErrorDetails] = []
    for place, one in enumerate(given):
        try:
            found += _read(chat, one)
        except ValidationError as error:
            wrong += [_within(place, detail) for detail in error.errors(include_url=False)]
    if wrong:
        raise ValidationError.from_exception_data("messages", wrong)
    return found


def _read(chat: Chat, one: Any) -> list[Message]:
    if isinstance(one, BaseModel) and not isinstance(one, Message):
        one = one.model_dump(exclude_none=True)
    if isinstance(one, Message) or not isinstance(one, Mapping):
        return [Message.model_validate(one)]
    if {"kind", "session_id"} <= one.keys() and isinstance(exported := one.get("message"), Mapping):
        one = {**exported, "session_id": one["session_id"]}  # a line of an export
    plain = _plain(one)
    if wrong := [*_wrong(plain)]:
        raise ValidationError.from_exception_data("message", wrong)
    kind = SessionMessage if "session_id" in plain else Message
    return [kind.model_validate(values) for values in chat.read(plain)]


def _plain(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message without values of None, whose blocks are mappings."""
    found = {key: value for key, value in message.items() if value is not None}
    if isinstance(content := found.get("content"), list | tuple):
        found["content"] = [
            one.model_dump(exclude_none=True) if isinstance(one, BaseModel) else one
            for one in content
        ]
    return found


def _wrong(message: Mapping[str, Any]) -> Iterator[InitErrorDetails]:
    """Yield what can't be read of a message."""
    if _is_item(message):
        if message["type"].endswith("call_output"):
            yield from _of_content(message, "output")
        return
    for key in message.keys() - SessionMessage.model_fields.keys() - _OF_APIS:
        yield InitErrorDetails(type=UNKNOWN_KEY, loc=(str(key),), input=message[key])
    if "content" in message:
        yield from _of_content(message, "content")


def _of_content(message: Mapping[str, Any], key: str) -> Iterator[InitErrorDetails]:
    for place, reason, found in unreadable(message.get(key, "")):
        yield _detail((key, *place), reason, found)


def _detail(place: tuple[str | int, ...], reason: str, found: Any) -> InitErrorDetails:
    error = PydanticCustomError(_FORM, "{reason}", {"reason": reason})
    return InitErrorDetails(type=error, loc=place, input=found)


def _within(place: int, detail: ErrorDetails) -> InitErrorDetails:
    """Return a detail of an error about one message as one about the message at a place."""
    context = detail.get("ctx", {})
    kind: PydanticCustomError | str = detail["type"]
    if kind == _FORM:
        kind = PydanticCustomError(_FORM, "{reason}", context)
    loc = (place, *detail["loc"])
    return InitErrorDetails(type=kind, loc=loc, input=detail["input"], ctx=context)


def _is_item(message: Mapping[str, Any]) -> bool:
    """Return True for an item of OpenAI's responses that is no message: a call, or its output."""
    kind = message.get("type")
    return "role" not in message and isinstance(kind, str) and kind != "message"


def _said(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the fields of the messages made of one: its tool results, then its text."""
    kept = {
        key: message[key]
        for key in SessionMessage.model_fields
        if message.get(key) is not None and key not in ("role", "content")
    }
    if _is_item(message):
        text = text_of(message.get("output"))
        if text.strip():
            yield {"role": "tool", "content": text} | kept
        return
    content = message.get("content")
    results = [one for one in tool_results(content) if one.strip()]
    for place, result in enumerate(results, start=1):
        own = {"id": f"{message['id']}:{place}"} if "id" in kept else {}
        shared = {key: value for key, value in kept.items() if key != "name"}
        yield {"role": "tool", "content": result} | shared | own
    text = text_of(content) or _beside(message)
    role = _ROLES.get(str(message.get("role")), message.get("role"))
    silent = isinstance(content, list) or any(message.get(key) for key in _SILENT)
    if text.strip() or not (silent or role == "tool"):
        values = {"role": role, "content": text if text or "content" in message else None}
        yield {key: value for key, value in values.items() if value is not None} | kept


def _beside(message: Mapping[str, Any]) -> str:
    """Return what a message without content says: a refusal, or the words of its audio."""
    audio = message.get("audio")
    said = message.get("refusal") or (audio.get("transcript") if isinstance(audio, dict) else None)
    return said if isinstance(said, str) else ""
