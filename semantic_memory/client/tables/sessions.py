"""The verbs of `memory.sessions`, except `open`, which must be where the model is called."""

from __future__ import annotations

from semantic_memory.client.calls import Verb, many, written
from semantic_memory.domain.messages import Message, SessionInfo, SessionOptions
from semantic_memory.domain.requests import (
    CloseSessionRequest,
    ConfigureSessionRequest,
    CreateSessionRequest,
    LoadSessionRequest,
    MessagesRequest,
    PopRequest,
    SessionsRequest,
)

_SESSIONS = "/v1/sessions"

create = Verb(CreateSessionRequest.of, "POST", _SESSIONS, written(SessionInfo))
load = Verb(LoadSessionRequest.of, "POST", f"{_SESSIONS}/load", written(SessionInfo))
close = Verb(CloseSessionRequest.of, "POST", f"{_SESSIONS}/close", written(SessionInfo))
configure = Verb(ConfigureSessionRequest.of, "PATCH", _SESSIONS, written(SessionOptions))
messages = Verb(MessagesRequest.of, "GET", f"{_SESSIONS}/messages", many(Message))
pop = Verb(PopRequest.of, "POST", f"{_SESSIONS}/pop", written(Message))
list_ = Verb(SessionsRequest.of, "GET", _SESSIONS, many(SessionInfo))
