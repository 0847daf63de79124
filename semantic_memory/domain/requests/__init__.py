"""Requests: one frozen type for each verb, with its fields, their limits and their defaults.

The facade and the clients build a request by its `of`; a body of the REST service is a request;
MCP tools and the command line show the same `semantic_memory.domain.fields`.
"""

from __future__ import annotations

from semantic_memory.domain.requests.base import OfFact, OfSession, OfUser, Reasoned, Request
from semantic_memory.domain.requests.changes import (
    AddManyRequest,
    AddRequest,
    DeleteRequest,
    ForgetRequest,
    NewFact,
    RestoreRequest,
    Revision,
    UpdateRequest,
)
from semantic_memory.domain.requests.conversations import (
    CloseSessionRequest,
    ConfigureSessionRequest,
    CreateSessionRequest,
    FlushRequest,
    LoadSessionRequest,
    MessagesRequest,
    ObserveRequest,
    OpenSessionRequest,
    PopRequest,
    RequestsRequest,
    SessionsRequest,
    SettleRequest,
)
from semantic_memory.domain.requests.feed import EventsRequest, SubscribeRequest
from semantic_memory.domain.requests.items import (
    DeleteItemRequest,
    GetItemRequest,
    ListItemsRequest,
    NamespacesRequest,
    PutItemRequest,
    SearchItemsRequest,
)
from semantic_memory.domain.requests.memories import (
    ExplainRequest,
    GetRequest,
    HistoryRequest,
    LayoutRequest,
    ListQuery,
    ListRequest,
    TagsRequest,
)
from semantic_memory.domain.requests.profiles import (
    ProfileHistoryRequest,
    ProfileRequest,
    ProfileTexts,
    UpdateProfileRequest,
)
from semantic_memory.domain.requests.recall import ContextRequest, SearchRequest
from semantic_memory.domain.requests.upkeep import (
    AuditRequest,
    CheckRequest,
    ExportRequest,
    FromDictRequest,
    LoadRequest,
    MaintainRequest,
    RebuildRequest,
    RunsRequest,
    StatsRequest,
    ToDictRequest,
    UsersRequest,
    VerifyRequest,
)

__all__ = [
    "AddManyRequest",
    "AddRequest",
    "AuditRequest",
    "CheckRequest",
    "CloseSessionRequest",
    "ConfigureSessionRequest",
    "ContextRequest",
    "CreateSessionRequest",
    "DeleteItemRequest",
    "DeleteRequest",
    "EventsRequest",
    "ExplainRequest",
    "ExportRequest",
    "FlushRequest",
    "ForgetRequest",
    "FromDictRequest",
    "GetItemRequest",
    "GetRequest",
    "HistoryRequest",
    "LayoutRequest",
    "ListItemsRequest",
    "ListQuery",
    "ListRequest",
    "LoadRequest",
    "LoadSessionRequest",
    "MaintainRequest",
    "MessagesRequest",
    "NamespacesRequest",
    "NewFact",
    "ObserveRequest",
    "OfFact",
    "OfSession",
    "OfUser",
    "OpenSessionRequest",
    "PopRequest",
    "ProfileHistoryRequest",
    "ProfileRequest",
    "ProfileTexts",
    "PutItemRequest",
    "Reasoned",
    "RebuildRequest",
    "Request",
    "RequestsRequest",
    "RestoreRequest",
    "Revision",
    "RunsRequest",
    "SearchItemsRequest",
    "SearchRequest",
    "SessionsRequest",
    "SettleRequest",
    "StatsRequest",
    "SubscribeRequest",
    "TagsRequest",
    "ToDictRequest",
    "UpdateProfileRequest",
    "UpdateRequest",
    "UsersRequest",
    "VerifyRequest",
]
