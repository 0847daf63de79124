"""Take in conversations, and show and configure the sessions they belong to."""

from __future__ import annotations

from ingest.session_log import SessionLog
from semantic_memory.domain.errors import NotFoundError
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.messages import (
    Message,
    Receipt,
    SessionInfo,
    SessionKey,
    SessionOptions,
)
from semantic_memory.domain.ports import Clock, Ledger
from semantic_memory.domain.requests import (
    ConfigureSessionRequest,
    MessagesRequest,
    ObserveRequest,
    SessionsRequest,
)
from semantic_memory.pipeline.facts import VERBATIM, forgotten, said
from semantic_memory.pipeline.pipeline import Pipeline


class Conversations:
    """Take in messages, list sessions and their messages, and set their options. Thread-safe."""

    def __init__(self, ledger: Ledger, log: SessionLog, pipeline: Pipeline, clock: Clock) -> None:
        self._ledger = ledger
        self._log = log
        self._pipeline = pipeline
        self._clock = clock

    def observe(self, asked: ObserveRequest) -> Receipt:
        """Write messages to their session's log; those without a time get the present one.

        Raises InvalidInputError if an id is used for another text, StoreUnavailableError.
        """
        now = self._clock.now()
        dated = [
            message if message.created_at else message.model_copy(update={"created_at": now})
            for message in asked.messages
        ]
        return self._pipeline.observe(dated, *asked.key)

    def sessions(self, asked: SessionsRequest) -> list[SessionInfo]:
        """Return a user's sessions, the one with the latest message first."""
        return [
            info.model_copy(
                update={
                    "log_bytes": self._log.size(asked.user_id, info.session_id),
                    "options": self._pipeline.options(SessionKey(asked.user_id, info.session_id)),
                }
            )
            for info in self._ledger.session_infos(asked.user_id)
        ]

    def configure(self, asked: ConfigureSessionRequest) -> SessionOptions:
        """Override a session's options from now on; return the options that now hold."""
        given = {"extract": asked.extract, "fades": asked.fades}
        changed = {name: value for name, value in given.items() if value is not None}
        options = self._pipeline.options(asked.key).model_copy(update=changed)
        self._pipeline.configure(asked.key, options)
        return options

    def messages(self, asked: MessagesRequest) -> list[Message]:
        """Return a session's messages in order, without the forgotten ones.

        Raises NotFoundError if there is none.
        """
        records = list(self._log.read(*asked.key))
        gone = forgotten(self._ledger, asked.key, [record.message.id for record in records])
        found = {one.position: one.message for one in records if one.message.id not in gone}
        ids = self._ledger.ids(asked.user_id, Filters(session_id=asked.session_id))
        for fact in self._ledger.get(ids):
            # A log that was too long has lost messages whose memories remain.
            if fact.source.extractor == VERBATIM and fact.source.position is not None:
                found.setdefault(fact.source.position, said(fact))
        if not found:
            raise NotFoundError(f"no session {asked.session_id!r} of user {asked.user_id!r}")
        return [found[position] for position in sorted(found)]
