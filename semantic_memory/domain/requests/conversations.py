"""Requests about conversations: observing messages, and the sessions they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, ClassVar, Self

from pydantic import BeforeValidator, Field, StrictBool, model_validator

from semantic_memory.domain import fields
from semantic_memory.domain.chat import MessageLike, messages_of
from semantic_memory.domain.facts import Category
from semantic_memory.domain.messages import (
    HalfLife,
    Language,
    Message,
    SessionMessage,
    SessionOptions,
    Verbosity,
)
from semantic_memory.domain.requests.base import (
    OfSession,
    OfUser,
    OfUserAlone,
    Watched,
    example,
    several,
)
from semantic_memory.domain.scope import Scoped
from semantic_memory.domain.values import Identifier, Unit, number


class ObserveRequest(OfUser, Scoped):
    """Take in messages of a conversation. They are on disk when this returns.

    A message is a `Message`, or one of OpenAI's or Anthropic's APIs, as a mapping or an object
    of their libraries: texts are joined, images and files leave a placeholder, tool results
    become messages of role `tool`, tool calls and thinking are left out.

    Each becomes a memory of category `conversation` moments later; facts are extracted from
    them once the session has gone quiet, or by `flush`. A message may name its own `session_id`,
    like the lines of a JSONL file and the messages of an export, so that one list may hold several
    sessions. A message whose id its session already has is skipped. With `agent_id` or `run_id`,
    the messages and what is extracted from them belong to that agent or run, as for `add`; a
    message may name its own.

    Raises InvalidInputError if an id is used for another text, SessionClosedError if the
    session was closed, StoreUnavailableError if the disk refuses; nothing of the session is kept
    then.
    """

    verb: ClassVar[str] = "observe"
    model_config = example(
        user_id="maya",
        session_id="monday",
        messages=[{"role": "user", "content": "I moved to Berlin in March."}],
    )

    session_id: Identifier | None = Field(None, description=fields.MESSAGES_SESSION)
    messages: Annotated[list[SessionMessage | Message], BeforeValidator(messages_of)] = Field(
        description=fields.MESSAGES
    )

    @model_validator(mode="after")
    def _has_sessions(self) -> Self:
        for place, message in enumerate(self.messages):
            if self.session_of(message) is None:
                raise ValueError(
                    f"messages.{place} names no session: give session_id, or one in each message"
                )
        return self

    def session_of(self, message: Message) -> str | None:
        """Return the session of a message, its own or that of the call."""
        own = message.session_id if isinstance(message, SessionMessage) else None
        return own or self.session_id

    @property
    def only_session(self) -> str | None:
        """The session of all messages; None if they are of several."""
        found = {self.session_of(message) for message in self.messages} or {self.session_id}
        return found.pop() if len(found) == 1 else None

    @classmethod
    def of(
        cls,
        messages: Iterable[MessageLike],
        *,
        user_id: str,
        session_id: str | None = None,
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
    """Open a conversation with a model."""

    verb: ClassVar[str] = "sessions.open"

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


class FlushRequest(Watched):
    """Wait until everything observed is extracted and indexed."""

    verb: ClassVar[str] = "flush"


class SessionsRequest(OfUser):
    """Return a user's sessions, the one with the latest message first.

    With `agent_id`, those of that agent alone: all of their messages are its, and they were
    created by `observe` or for it. Their logs are read for that.
    """

    verb: ClassVar[str] = "sessions.list"

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
    """Create a session without messages, with the options of `sessions.configure`.

    With `agent_id`, it is that agent's as long as nobody else's messages are in it.
    `observe` creates a session too, with its first message. Raises SessionExistsError if there
    is one of this id.
    """

    verb: ClassVar[str] = "sessions.create"
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

    @classmethod
    def of(cls, *, user_id: str, session_id: str, agent_id: str | None = None) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(user_id=user_id, session_id=session_id, agent_id=agent_id)


class LoadSessionRequest(_OfAgentsSession):
    """Return a session with its statistics and options, and open it again if it was closed.

    Raises NotFoundError if there is none; with `agent_id`, also if it isn't one of that agent
    alone.
    """

    verb: ClassVar[str] = "sessions.load"
    model_config = example(user_id="maya", session_id="monday")


class CloseSessionRequest(_OfAgentsSession):
    """Close a session: extract its facts, and refuse further messages until `sessions.load`.

    If a model can't be reached, the facts are extracted later. Raises NotFoundError if there is
    no such session, with `agent_id` as in `sessions.load`.
    """

    verb: ClassVar[str] = "sessions.close"
    model_config = example(user_id="maya", session_id="monday")


class ConfigureSessionRequest(_Overrides, _OfAgentsSession):
    """Override the options of a session from now on; an option that isn't given stays.

    With `extract` off, no facts are extracted from the messages said until it is on again; they
    are kept and found nevertheless. With `fades` off, the session's facts are pinned. With
    `compact` off, its window and log are never shortened. `half_life_days` and `floor` replace
    those of the settings in ranking. `language` and `verbosity` become part of the system
    prompt of `sessions.open`. A session can be configured before its first message. Returns the
    options that hold now. `agent_id` as in `sessions.load`.
    """

    verb: ClassVar[str] = "sessions.configure"
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
    """Return a session's messages in order, without the forgotten ones.

    With `newest`, the latest comes first. `limit` returns the first ones of that order: with
    `newest`, the last page of the conversation. With `agent_id`, only that agent's messages and
    the shared ones.

    Raises NotFoundError if there is none.
    """

    verb: ClassVar[str] = "sessions.messages"

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
    """Take back the latest message of a session, or another of it, and return it.

    It is erased permanently, with the facts that nothing else supports; what it alone had
    superseded is current again. Messages that were just observed can be taken back too, before
    anything is extracted from them. With `agent_id`, only a message of that agent.

    Raises NotFoundError if there is none.
    """

    verb: ClassVar[str] = "sessions.pop"
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


class RequestsRequest(OfUserAlone):
    """Return the user's requests to forget, said in conversations, the latest first.

    A request changes nothing until it is settled: by the application, or by the user's second
    clear word in the conversation.
    """

    verb: ClassVar[str] = "history.requests"


class SettleRequest(OfUser):
    """Settle a request to forget, which erases its subject; return it.

    The answer "forget" forgets what the request names, as `forget(query=subject)` or
    `forget(everything=True)` do; "done" says that the application has; "decline" that nothing
    is forgotten. `forget` with the same subject settles it too. A request that is settled stays
    as it is. Raises NotFoundError.
    """

    verb: ClassVar[str] = "history.settle"
    model_config = example(user_id="maya", request_id="0c5b01", answer="forget")

    request_id: Identifier = Field(description=fields.REQUEST)
    answer: fields.Answer = Field(description=fields.ANSWER)

    @classmethod
    def of(cls, request_id: str, *, user_id: str, answer: fields.Answer) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(request_id=request_id, user_id=user_id, answer=answer)
