"""The entries of a session log, one a line.

`message` is one that was observed, `cut` one of which sentences were erased, `gone` stands for one
that was erased as a whole. Other kinds hold no message.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.logs import Entry
from semantic_memory.domain.messages import Message

ERASED = b""
"""In place of the digest of a message whose text was erased, which must not be added again."""

Content = tuple[str, dict[str, Any]]
"""The kind and the data of a line."""

DAMAGED = "damaged"
"""Kind of a line that holds what could be read of a damaged one, which may be a text."""

_SAID = ("message", "cut")
_KNOWN = (*_SAID, "gone")


def logged(message: Message) -> Content:
    """Return the content of the line of a message: without the fields that it doesn't have."""
    return "message", message.model_dump(mode="json", exclude_defaults=True)


def erasure(message_id: str, *, forgotten: bool) -> Content:
    """Return the content of the line that stands for an erased message."""
    return "gone", {"id": message_id, **({"forgotten": True} if forgotten else {})}


def copied(entry: Entry, line: bytes) -> Entry:
    """Return the entry that a copy has of a line."""
    if entry.kind is None:
        return Entry(DAMAGED, {"line": line.decode(errors="replace")})
    return entry


def named(entry: Entry) -> str | None:
    """Return the id of an entry's message, or of what it stands for; None without one."""
    message_id: str | None = entry.data.get("id") if entry.kind in _KNOWN else None
    return message_id


def said(entry: Entry) -> Message | None:
    """Return the message of an entry; None if it has none that can be read."""
    if entry.kind not in _SAID:
        return None
    try:
        return Message.model_validate(entry.data)
    except ValidationError:
        return None


def names(entry: Entry, message_id: str | None) -> bool:
    """Return True for the entry of a message, or what stands for it."""
    return entry.kind in _KNOWN and entry.data.get("id") == message_id


def known_by(entry: Entry) -> bytes | None:
    """Return the digest by which the entry's message is known; None if it can't be read."""
    if entry.kind in ("gone", "cut"):
        return ERASED
    message = said(entry)
    return None if message is None else digest(message)


def erased(entries: Iterable[Entry]) -> dict[str, str | None]:
    """Return the remaining texts of messages that were forgotten or cut, by id.

    None is left of a forgotten one.
    """
    left: dict[str, str | None] = {}
    for kind, data in entries:
        if kind == "cut":
            left[data["id"]] = data["content"]
        elif kind == "gone" and data.get("forgotten"):
            left[data["id"]] = None
    return left


def rewritten(
    content: Content, gone: Collection[str], cut: Mapping[str, str], *, forgotten: bool
) -> Content:
    """Return what is left of a line without the messages `gone`, and with the texts of `cut`."""
    kind, data = content
    if kind in _KNOWN and data["id"] in gone:
        return erasure(data["id"], forgotten=forgotten or "forgotten" in data)
    if kind in _SAID and data["id"] in cut:
        return "cut", {**data, "content": cut[data["id"]]}
    return content


def digest(message: Message) -> bytes:
    """Return the digest of what was said, by which messages of one id are compared."""
    content = "\x1f".join((message.role, message.name or "", message.content))
    return hashlib.blake2b(content.encode(), digest_size=8).digest()


def fresh(
    messages: Iterable[Message], known: Mapping[str, bytes], session_id: str
) -> dict[str, Message]:
    """Return the messages, by id, that a session doesn't have; `known` are the digests of others.

    Raises InvalidInputError if an id names another content there, or names two.
    """
    found: dict[str, Message] = {}
    for message in messages:
        before = known.get(message.id)
        if before is None and message.id in found:
            before = digest(found[message.id])
        if before is None:
            found[message.id] = message
        elif before not in (ERASED, digest(message)):
            raise InvalidInputError(
                f"message id {message.id!r} already names another message of session"
                f" {session_id!r}: ids must be unique within a session"
            )
    return found
