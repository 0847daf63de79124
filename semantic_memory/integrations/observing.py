"""Observing by adapters: texts of people and models, as messages can hold them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from semantic_memory.domain.messages import Message, Role
from semantic_memory.domain.requests import ObserveRequest
from semantic_memory.domain.values import MAX_CONTENT_BYTES, clipped, derived_id
from semantic_memory.integrations.steps import Steps


class Utterance(NamedTuple):
    """A text that a person or a model said."""

    role: Role
    text: str
    name: str | None = None
    at: datetime | None = None


def storable(said: Utterance) -> Utterance | None:
    """Return what was said as a message can hold it; None if that is nothing."""
    text = said.text.replace("\x00", "").encode("utf-8", "replace").decode()
    return said._replace(text=clipped(text, MAX_CONTENT_BYTES)) if text.strip() else None


def observed(
    given: Iterable[tuple[str, Utterance]], *, user_id: str, session_id: str
) -> Steps[None]:
    """Observe texts, each under the id of its message, if the session hasn't got them yet.

    An id that comes with another text, as after an edit, is another message.
    """
    kept = [(one, said) for one, found in given if (said := storable(found)) is not None]
    messages = [
        Message(
            id=derived_id(one, said.role, said.text),
            role=said.role,
            content=said.text,
            name=said.name,
            created_at=said.at,
        )
        for one, said in kept
    ]
    if messages:
        yield ObserveRequest.of(messages, user_id=user_id, session_id=session_id)
