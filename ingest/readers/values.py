"""What readers yield, and how they build a message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from semantic_memory.domain.messages import Message
from semantic_memory.domain.values import Identifier, derived_id, explain

_IDENTIFIER: TypeAdapter[str] = TypeAdapter(Identifier)


class Incoming(NamedTuple):
    """A message, its session, and its user where the file names one."""

    user_id: str | None
    session_id: str
    message: Message


class Rejected(NamedTuple):
    """A place in the file that can't be used, and why."""

    place: str
    reason: str


class Builder:
    """Builds messages, giving those without an id the same one at every reading of the file."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, ...]] = Counter()

    def incoming(self, user_id: Any, session_id: Any, values: Mapping[str, Any]) -> Incoming:
        """A message with its place. Raises ValueError with the reason in one line."""
        return Incoming(
            None if user_id is None else _identifier("user_id", user_id),
            _identifier("session_id", session_id),
            self.message(str(session_id), values),
        )

    def message(self, session_id: str, values: Mapping[str, Any]) -> Message:
        """A message from its fields. Raises ValueError with the reason in one line."""
        fields = {key: _plain(value) for key, value in values.items() if value is not None}
        if "id" not in fields:
            said = tuple(
                str(fields.get(key, "")) for key in ("role", "name", "created_at", "content")
            )
            self._seen[session_id, *said] += 1
            # The same words twice in a session are two messages, told apart by their order.
            fields["id"] = derived_id(session_id, *said, str(self._seen[session_id, *said]))
        else:
            fields["id"] = str(fields["id"])
        try:
            return Message.model_validate(fields)
        except ValidationError as error:
            raise ValueError(explain(error, known=Message.model_fields)) from None


def _identifier(field: str, value: Any) -> str:
    try:
        return _IDENTIFIER.validate_python(str(value))
    except ValidationError as error:
        raise ValueError(f"{field}: {explain(error)}") from None


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value  # as numbers are streamed
