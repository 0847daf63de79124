"""Values that readers yield, and the builder of their messages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from semantic_memory.domain.messages import Message
from semantic_memory.domain.refusals import explain
from semantic_memory.domain.values import Identifier, derived_id

_IDENTIFIER: TypeAdapter[str] = TypeAdapter(Identifier)


class Incoming(NamedTuple):
    """A message with its session, and its user if the file names one."""

    user_id: str | None
    session_id: str
    message: Message


class Rejected(NamedTuple):
    """An unusable place in a file, with the reason."""

    place: str
    reason: str


class Builder:
    """Builder of messages, with ids that are the same at every reading of a file."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, ...]] = Counter()

    def incoming(self, user_id: Any, session_id: Any, values: Mapping[str, Any]) -> Incoming:
        """Build a message with user and session. Raises ValueError with a reason in one line."""
        return Incoming(
            None if user_id is None else _identifier("user_id", user_id),
            _identifier("session_id", session_id),
            self.message(str(session_id), values),
        )

    def message(self, session_id: str, values: Mapping[str, Any]) -> Message:
        """Build a message from its fields. Raises ValueError with a reason in one line."""
        fields = {key: _plain(value) for key, value in values.items() if value is not None}
        if "id" not in fields:
            said = tuple(
                str(fields.get(key, "")) for key in ("role", "name", "created_at", "content")
            )
            self._seen[session_id, *said] += 1
            # Equal messages of a session differ by their order.
            fields["id"] = derived_id(session_id, *said, str(self._seen[session_id, *said]))
        else:
            fields["id"] = str(fields["id"])
        try:
            return Message.model_validate(fields)
        except ValidationError as error:
            raise ValueError(explain(error, Message)) from None


def moment(seconds: Any) -> datetime:
    """Return the time at a number of seconds since 1970.

    Raises ValueError for what is beyond the years 1 to 9999, TypeError for what is no number.
    """
    try:
        return datetime.fromtimestamp(float(seconds), UTC)
    except (OverflowError, OSError):
        raise ValueError(f"{seconds} seconds since 1970 is outside the years 1 to 9999") from None


def slug(text: str) -> str:
    """Return an identifier made of a name: other characters become `-`.

    >>> slug("Notes of May.txt"), slug("...")
    ('Notes-of-May.txt', '...')
    """
    return re.sub(r"[^A-Za-z0-9_.@:+-]+", "-", text).strip("-")[:128] or "import"


def _identifier(field: str, value: Any) -> str:
    try:
        return _IDENTIFIER.validate_python(str(value))
    except ValidationError as error:
        raise ValueError(f"{field}: {explain(error)}") from None


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value  # ijson yields Decimal
