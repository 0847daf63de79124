"""Requests about conversations: observing messages, and the sessions they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

from pydantic import BeforeValidator, Field, StrictBool

from semantic_memory.domain import fields
from semantic_memory.domain.chat import MessageLike, messages_of
from semantic_memory.domain.facts import Category
from semantic_memory.domain.messages import HalfLife, Language, Message, SessionOptions, Verbosity
from semantic_memory.domain.requests.base import OfSession, OfUser, Request, example, several
from semantic_memory.domain.scope import Scoped
from semantic_memory.domain.values import Identifier, Unit, number

if TYPE_CHECKING:  # it would load numpy
    from semantic_memory.domain.ports import Progress


class ObserveRequest(OfSession, Scoped):
    """Take in messages of a conversation; they are on disk when this returns.

    A message may name an agent and a run of its own.
    """

    verb: ClassVar[str] = "observe"
    model_config = example(
        user_id="maya",
        session_id="monday",
        messages=[{"role": "user", "content": "I moved to Berlin in March."}],
    )

    messages: Annotated[list[Message], BeforeValidator(messages_of)] = Field(
        description=fields.MESSAGES
    )

    @classmethod
    def of(
        cls,
        messages: Iterable[MessageLike],
        *,
        user_id: str,
        session_id: str,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(
            messages=[*several(messages, f"{cls.verb}: messages")],
            user_id=user_id,
            session_id=session_id,
            agent_id=agent_id,
            run_id=run_id,
        )


class OpenSessionRequest(OfSession, Scoped):
    """Open a conversation with a model; its options are objects of the calling process."""

    verb: ClassVar[str] = "session"

    @classmethod
    def of(
        cls,
        *,
        user_id: str,
        session_id: str,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(user_id=user_id, session_id=session_id, agent_id=agent_id, run_id=run_id)


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

    agent_id: Identifier | None = Field(None, description=fields.SESSIONS_OF)

    @classmethod
    def of(cls, *, user_id: str, agent_id: str | None = None) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(user_id=user_id, agent_id=agent_id)


class _Overrides(OfUser):
    extract: StrictBool | None = Field(None, description=fields.EXTRACT)
    fades: StrictBool | None = Field(None, description=fields.FADES)
    compact: StrictBool | None = Field(None, description=fields.COMPACT)
    half_life_days: Mapping[Category, HalfLife] | None = Field(
        None, description=fields.HALF_LIFE_DAYS
    )
    floor: Unit | None = Field(None, description=fields.FLOOR)
    language: Language | None = Field(None, description=fields.LANGUAGE)
    verbosity: Verbosity | None = Field(None, description=fields.VERBOSITY)

    def options(self, before: SessionOptions) -> SessionOptions:
        """Return `before` with the options that were given."""
        given = {name: getattr(self, name) for name in SessionOptions.model_fields}
        changed = {name: value for name, value in given.items() if value is not None}
        return before.model_copy(update=changed)


class CreateSessionRequest(_Overrides):
    """Create a session without messages, with options of its own."""

    verb: ClassVar[str] = "create_session"
    model_config = example(user_id="maya", session_id="monday", language="German")

    session_id: Identifier | None = Field(None, description=fields.NEW_SESSION)
    agent_id: Identifier | None = Field(None, description=fields.SESSION_AGENT)

    @classmethod
    def of(
        cls,
        *,
        user_id: str,
        session_id: str | None = None,
        agent_id: str | None = None,
        extract: bool | None = None,
        fades: bool | None = None,
        compact: bool | None = None,
        half_life_days: Mapping[Category, float] | None = None,
        floor: float | None = None,
        language: str | None = None,
        verbosity: Verbosity | None = None,
    ) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(
            user_id=user_id,
            session_id=session_id,
            agent_id=agent_id,
            extract=extract,
            fades=fades,
            compact=compact,
            half_life_days=half_life_days,
            floor=floor,
            language=language,
            verbosity=verbosity,
        )


class _OfAgentsSession(OfSession):
    agent_id: Identifier | None = Field(None, description=fields.SESSION_OF)


class LoadSessionRequest(_OfAgentsSession):
    """Return a session, which takes messages again if it was closed."""

    verb: ClassVar[str] = "load_session"
    model_config = example(user_id="maya", session_id="monday")

    @classmethod
    def of(cls, *, user_id: str, session_id: str, agent_id: str | None = None) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(user_id=user_id, session_id=session_id, agent_id=agent_id)


class CloseSessionRequest(_OfAgentsSession):
    """Let a session take no further messages, and extract its facts."""

    verb: ClassVar[str] = "close_session"
    model_config = example(user_id="maya", session_id="monday")

    @classmethod
    def of(cls, *, user_id: str, session_id: str, agent_id: str | None = None) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(user_id=user_id, session_id=session_id, agent_id=agent_id)


class ConfigureSessionRequest(_Overrides, _OfAgentsSession):
    """Override the options of a session from now on; an option that isn't given stays."""

    verb: ClassVar[str] = "configure_session"
    model_config = example(user_id="maya", session_id="monday", extract=False)

    @classmethod
    def of(
        cls,
        *,
        user_id: str,
        session_id: str,
        agent_id: str | None = None,
        extract: bool | None = None,
        fades: bool | None = None,
        compact: bool | None = None,
        half_life_days: Mapping[Category, float] | None = None,
        floor: float | None = None,
        language: str | None = None,
        verbosity: Verbosity | None = None,
    ) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(
            user_id=user_id,
            session_id=session_id,
            agent_id=agent_id,
            extract=extract,
            fades=fades,
            compact=compact,
            half_life_days=half_life_days,
            floor=floor,
            language=language,
            verbosity=verbosity,
        )


class MessagesRequest(OfSession):
    """List the messages of a session in the order in which they were said, or the latest first."""

    verb: ClassVar[str] = "messages"

    agent_id: Identifier | None = Field(None, description=fields.AS_AGENT)
    limit: Annotated[int, Field(ge=1), BeforeValidator(number)] | None = Field(
        None, description=fields.MESSAGES_LIMIT
    )
    newest: StrictBool = Field(False, description=fields.NEWEST)

    @classmethod
    def of(
        cls,
        *,
        user_id: str,
        session_id: str,
        agent_id: str | None = None,
        limit: int | None = None,
        newest: bool = False,
    ) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(
            user_id=user_id,
            session_id=session_id,
            agent_id=agent_id,
            limit=limit,
            newest=newest,
        )


class PopRequest(OfSession):
    """Take back the latest message of a session, with the facts that nothing else says."""

    verb: ClassVar[str] = "pop"
    model_config = example(user_id="maya", session_id="monday")

    message_id: Identifier | None = Field(None, description=fields.MESSAGE)
    agent_id: Identifier | None = Field(None, description=fields.MESSAGE_OF)

    @classmethod
    def of(
        cls,
        *,
        user_id: str,
        session_id: str,
        message_id: str | None = None,
        agent_id: str | None = None,
    ) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(
            user_id=user_id, session_id=session_id, message_id=message_id, agent_id=agent_id
        )


class RequestsRequest(OfUser):
    """List a user's requests to forget, the latest first: pending, done and declined ones."""

    verb: ClassVar[str] = "requests"

    @classmethod
    def of(cls, *, user_id: str) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(user_id=user_id)


class SettleRequest(OfUser):
    """Settle a user's request to forget: forget what it names, say that it is done, or decline."""

    verb: ClassVar[str] = "settle_request"
    model_config = example(user_id="maya", request_id="0c5b01", answer="forget")

    request_id: Identifier = Field(description=fields.REQUEST)
    answer: fields.Answer = Field(description=fields.ANSWER)

    @classmethod
    def of(cls, request_id: str, *, user_id: str, answer: fields.Answer) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(request_id=request_id, user_id=user_id, answer=answer)
