"""Requests about conversations: observing messages, and the sessions they belong to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar, Self

from pydantic import Field, StrictBool

from semantic_memory.domain import fields
from semantic_memory.domain.messages import Message
from semantic_memory.domain.requests.base import OfSession, OfUser, Request, example

if TYPE_CHECKING:  # it would load numpy
    from semantic_memory.domain.ports import Progress


class ObserveRequest(OfSession):
    """Take in messages of a conversation; they are on disk when this returns."""

    verb: ClassVar[str] = "observe"
    model_config = example(
        user_id="maya",
        session_id="monday",
        messages=[{"role": "user", "content": "I moved to Berlin in March."}],
    )

    messages: list[Message] = Field(description=fields.MESSAGES)

    @classmethod
    def of(cls, messages: Iterable[Message], *, user_id: str, session_id: str) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(messages=[*messages], user_id=user_id, session_id=session_id)


class OpenSessionRequest(OfSession):
    """Open a conversation with a model; its options are objects of the calling process."""

    verb: ClassVar[str] = "session"

    @classmethod
    def of(cls, *, user_id: str, session_id: str) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(user_id=user_id, session_id=session_id)


class FlushRequest(Request):
    """Wait until everything observed is extracted and indexed."""

    verb: ClassVar[str] = "flush"

    @classmethod
    def of(cls, progress: Progress | None = None) -> Self:
        """Build the request. `progress` is no part of it: a service reports none."""
        del progress
        return cls()


class SessionsRequest(OfUser):
    """List a user's sessions, the one with the latest message first."""

    verb: ClassVar[str] = "sessions"

    @classmethod
    def of(cls, *, user_id: str) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(user_id=user_id)


class ConfigureSessionRequest(OfSession):
    """Override the options of a session from now on; an option that isn't given stays."""

    verb: ClassVar[str] = "configure_session"
    model_config = example(user_id="maya", session_id="monday", extract=False)

    extract: StrictBool | None = Field(None, description=fields.EXTRACT)
    fades: StrictBool | None = Field(None, description=fields.FADES)

    @classmethod
    def of(
        cls,
        *,
        user_id: str,
        session_id: str,
        extract: bool | None = None,
        fades: bool | None = None,
    ) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(user_id=user_id, session_id=session_id, extract=extract, fades=fades)


class MessagesRequest(OfSession):
    """List the messages of a session in the order in which they were said."""

    verb: ClassVar[str] = "messages"

    @classmethod
    def of(cls, *, user_id: str, session_id: str) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(user_id=user_id, session_id=session_id)
