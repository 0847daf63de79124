"""Take in conversations and take messages back; manage their sessions."""

from __future__ import annotations

import threading
from contextlib import suppress
from datetime import datetime

from semantic_memory.application.erasing import Erasing
from semantic_memory.application.reach import Reach, reach
from semantic_memory.domain.categories import Declared
from semantic_memory.domain.dating import refuse_ahead
from semantic_memory.domain.errors import NotFoundError, ProviderError, SessionExistsError
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.messages import (
    Message,
    Receipt,
    SessionInfo,
    SessionKey,
    SessionMessage,
    SessionOptions,
    SessionState,
)
from semantic_memory.domain.once import effect
from semantic_memory.domain.ports import Clock, Ledger, SessionLog
from semantic_memory.domain.requests import (
    CloseSessionRequest,
    ConfigureSessionRequest,
    CreateSessionRequest,
    LoadSessionRequest,
    MessagesRequest,
    ObserveRequest,
    PopRequest,
    SessionsRequest,
)
from semantic_memory.domain.retention import Expiry
from semantic_memory.domain.scope import Scope
from semantic_memory.domain.values import new_id
from semantic_memory.pipeline.facts import VERBATIM, forgotten, said, verbatim_id
from semantic_memory.pipeline.pipeline import Pipeline

TAKEN_BACK = "taken back"
"""The reason in the tombstone of a message that was popped."""


class Conversations:
    """Take in messages, take them back, manage sessions and list their messages. Thread-safe."""

    def __init__(
        self,
        ledger: Ledger,
        log: SessionLog,
        pipeline: Pipeline,
        clock: Clock,
        expiry: Expiry,
        erasing: Erasing,
        declared: Declared,
    ) -> None:
        self._ledger = ledger
        self._log = log
        self._pipeline = pipeline
        self._clock = clock
        self._expiry = expiry
        self._erasing = erasing
        self._declared = declared
        self._popping = threading.Lock()

    def observe(self, asked: ObserveRequest) -> Receipt:
        """Write messages to their sessions' logs; those without a time get the present one.

        Raises InvalidInputError if an id is used for another text or a time is more than a day
        ahead, SessionClosedError for a closed session, StoreUnavailableError.
        """
        now = self._clock.now()
        sessions: dict[str, list[Message]] = {}
        for place, message in enumerate(asked.messages):
            refuse_ahead(message.created_at, now, f"observe: messages.{place}")
            session_id = asked.session_of(message)
            if session_id is not None:  # each has one, as the request was checked
                sessions.setdefault(session_id, []).append(_dated(message, asked.scope, now))
        receipts = [
            self._pipeline.observe(messages, asked.user_id, session_id)
            for session_id, messages in sessions.items()
        ]
        return Receipt(
            accepted=sum(one.accepted for one in receipts),
            duplicates=sum(one.duplicates for one in receipts),
            session_id=asked.only_session,
        )

    def sessions(self, asked: SessionsRequest) -> list[SessionInfo]:
        """Return a user's sessions, the one with the latest message first."""
        infos = self._infos(asked.user_id)
        if asked.agent_id is None:
            return infos
        keys = {info.session_id: SessionKey(asked.user_id, info.session_id) for info in infos}
        return [info for info in infos if self._is_of(keys[info.session_id], asked.agent_id)]

    def create(self, asked: CreateSessionRequest) -> SessionInfo:
        """Create a session without messages. Raises SessionExistsError if it is there already."""
        self._declared.check(asked.half_life_days or (), "sessions.create: half_life_days")
        key = SessionKey(asked.user_id, asked.session_id or new_id())
        if self._pipeline.exists(key):
            raise SessionExistsError(
                f"sessions.create: user {key.user_id!r} has a session {key.session_id!r} already:"
                " `sessions.load` continues it"
            )
        self._pipeline.configure(key, asked.options(self._pipeline.options(key)))
        self._pipeline.mark(
            key, SessionState(created_at=self._clock.now(), agent_id=asked.agent_id)
        )
        return self._info(key)

    def load(self, asked: LoadSessionRequest) -> SessionInfo:
        """Return a session, which takes messages again if it was closed. Raises NotFoundError."""
        key = self._known(asked.key, asked.agent_id)
        self._pipeline.store_session(key)
        state = self._pipeline.state(key)
        if state.closed_at is not None:
            self._pipeline.mark(key, state.model_copy(update={"closed_at": None}))
        return self._info(key)

    def close(self, asked: CloseSessionRequest) -> SessionInfo:
        """Let a session take no further messages, and extract its facts. Raises NotFoundError.

        If a model can't be reached, the facts are extracted later, in the background.
        """
        key = self._known(asked.key, asked.agent_id)
        state = self._pipeline.state(key)
        if state.closed_at is None:
            self._pipeline.mark(key, state.model_copy(update={"closed_at": self._clock.now()}))
        with suppress(ProviderError):
            self._pipeline.extract_session(key)
        return self._info(key)

    def configure(self, asked: ConfigureSessionRequest) -> SessionOptions:
        """Override a session's options from now on; return the options that now hold.

        Raises NotFoundError if an agent is given whose session it isn't.
        """
        if asked.agent_id is not None:
            self._known(asked.key, asked.agent_id)
        self._declared.check(asked.half_life_days or (), "sessions.configure: half_life_days")
        options = asked.options(self._pipeline.options(asked.key))
        self._pipeline.configure(asked.key, options)
        return options

    def messages(self, asked: MessagesRequest) -> list[Message]:
        """Return a session's messages in order, without the forgotten ones.

        Raises NotFoundError if there is none.
        """
        seen = {asked.agent_id, None}
        found = [
            message
            for message in self._messages(asked.key)
            if asked.agent_id is None or message.agent_id in seen
        ]
        if not found:
            raise _unknown(asked.key)
        if asked.newest:
            found.reverse()
        return found[: asked.limit]

    def pop(self, asked: PopRequest) -> Message:
        """Erase a session's latest message, or another one, with what it alone said; return it.

        Raises NotFoundError if there is none.
        """
        self._pipeline.store_session(asked.key)
        with self._popping:  # no two take the same message
            message = self._named(asked)
            while not self._taken(asked.key, message.id):
                message = self._named(asked)
        return message

    def _taken(self, key: SessionKey, message_id: str) -> bool:
        """Erase a message; return False if another process has done so before."""
        fact_id = verbatim_id(key, message_id)

        def reached() -> Reach:
            seeds = self._ledger.get([fact_id], key.user_id)
            return reach(self._ledger, key.user_id, seeds, sources=False)

        with effect():
            if self._erasing.erase(key.user_id, reached, TAKEN_BACK, revives=True).gone:
                return True
            if forgotten(self._ledger, key, [message_id]):
                return False
            self._erasing.erase_said(key, message_id)
        return True

    def _named(self, asked: PopRequest) -> Message:
        messages = [
            message
            for message in self._messages(asked.key)
            if asked.agent_id in (None, message.agent_id)
        ]
        if not messages:
            raise _unknown(asked.key)
        if asked.message_id is None:
            return messages[-1]
        for message in messages:
            if message.id == asked.message_id:
                return message
        raise NotFoundError(
            f"no message {asked.message_id!r} in session {asked.session_id!r}"
            f" of user {asked.user_id!r}"
        )

    def _messages(self, key: SessionKey) -> list[Message]:
        records = list(self._log.read(*key))
        gone = forgotten(self._ledger, key, [record.message.id for record in records])
        ids = self._ledger.ids(key.user_id, Filters(session_id=key.session_id))
        memories = [one for one in self._ledger.get(ids) if one.source.extractor == VERBATIM]
        kept = self._expiry.kept(memories)
        gone.update(one for fact in memories for one in fact.message_ids)
        gone.difference_update(one for fact in kept for one in fact.message_ids)
        now = self._clock.now()
        found = {
            one.position: one.message
            for one in records
            if one.message.id not in gone and not one.message.has_expired(now)
        }
        for fact in kept:
            # A log that was too long has lost messages whose memories remain.
            if fact.source.position is not None:
                found.setdefault(fact.source.position, said(fact))
        if not found:
            raise _unknown(key)
        return [found[position] for position in sorted(found)]

    def _known(self, key: SessionKey, agent_id: str | None) -> SessionKey:
        known = self._pipeline.exists(key)
        if not known or (agent_id is not None and not self._is_of(key, agent_id)):
            raise _unknown(key)
        return key

    def _is_of(self, key: SessionKey, agent_id: str) -> bool:
        """Return True if all of a session's messages are the agent's, and no one else created it.

        A session without messages is the agent's that it was created for.
        """
        state = self._pipeline.state(key)
        try:
            agents = {message.agent_id for message in self._messages(key)}
        except NotFoundError:
            agents = {state.agent_id}
        return agents == {agent_id} and (state.created_at is None or state.agent_id == agent_id)

    def _info(self, key: SessionKey) -> SessionInfo:
        for info in self._infos(key.user_id):
            if info.session_id == key.session_id:
                return info
        raise _unknown(key)

    def _infos(self, user_id: str) -> list[SessionInfo]:
        """Return a user's sessions, also those without messages that were created explicitly."""
        found = {info.session_id: info for info in self._ledger.session_infos(user_id)}
        deleted = self._ledger.deleted(user_id)
        infos = []
        for session_id in dict.fromkeys([*found, *self._ledger.session_ids(user_id)]):
            key = SessionKey(user_id, session_id)
            state = self._pipeline.state(key)
            info = found.get(session_id) or _without_messages(key, state)
            if info is not None:
                known = {
                    "created_at": state.created_at or info.created_at,
                    "log_bytes": self._log.size(*key),
                    "options": self._pipeline.options(key),
                    "closed_at": state.closed_at,
                    "deleted": deleted.get(session_id, 0),
                    "corrupt_lines": self._log.corrupt_lines(*key),
                }
                infos.append(info.model_copy(update=known))
        return sorted(infos, key=lambda info: (info.last_at, info.session_id), reverse=True)


def _unknown(key: SessionKey) -> NotFoundError:
    return NotFoundError(f"no session {key.session_id!r} of user {key.user_id!r}")


def _without_messages(key: SessionKey, state: SessionState) -> SessionInfo | None:
    at = state.created_at or state.closed_at
    if at is None:
        return None
    return SessionInfo(
        session_id=key.session_id,
        created_at=at,
        last_accessed_at=at,
        messages=0,
        first_at=at,
        last_at=at,
        by_category={},
        log_bytes=0,
    )


def _dated(message: Message, scope: Scope, now: datetime) -> Message:
    """Return a message as its session keeps it."""
    plain = message.alone if isinstance(message, SessionMessage) else message
    scoped = plain.within(scope)
    return scoped if scoped.created_at else scoped.model_copy(update={"created_at": now})
