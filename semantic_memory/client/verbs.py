"""The verbs as HTTP requests: a table of method, path, placing of the fields, and answer.

Names, arguments and results are those of `SemanticMemory`. Nothing here does I/O: a verb yields
calls, is sent the bodies of their answers, and returns a value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, replace
from string import Formatter
from typing import Any, Generic, ParamSpec, TypeVar

from pydantic import BaseModel, TypeAdapter

from semantic_memory.domain.errors import AccessDeniedError, InvalidInputError
from semantic_memory.domain.facts import Explanation, Fact, FactVersion, Page
from semantic_memory.domain.feed import EventPage, MemoryEvent
from semantic_memory.domain.fields import MOST_ITEMS
from semantic_memory.domain.forget_requests import RequestToForget
from semantic_memory.domain.layout import Layout
from semantic_memory.domain.messages import Message, Receipt, SessionInfo, SessionOptions
from semantic_memory.domain.profile import Line, Overview
from semantic_memory.domain.prompts import PromptRecord
from semantic_memory.domain.recall import Context, Hit
from semantic_memory.domain.reports import (
    Finding,
    Forgotten,
    JobRun,
    Proof,
    Stats,
    TagCount,
    Verified,
)
from semantic_memory.domain.requests import (
    AddManyRequest,
    AddRequest,
    AuditRequest,
    CheckRequest,
    CloseSessionRequest,
    ConfigureSessionRequest,
    ContextRequest,
    CreateSessionRequest,
    DeleteRequest,
    EventsRequest,
    ExplainRequest,
    ExportRequest,
    FlushRequest,
    ForgetRequest,
    FromDictRequest,
    GetRequest,
    HistoryRequest,
    LayoutRequest,
    ListQuery,
    ListRequest,
    LoadRequest,
    LoadSessionRequest,
    MaintainRequest,
    MessagesRequest,
    ObserveRequest,
    PopRequest,
    ProfileHistoryRequest,
    ProfileRequest,
    RebuildRequest,
    Request,
    RequestsRequest,
    RestoreRequest,
    RunsRequest,
    SearchRequest,
    SessionsRequest,
    SettleRequest,
    StatsRequest,
    SubscribeRequest,
    TagsRequest,
    ToDictRequest,
    UpdateProfileRequest,
    UpdateRequest,
    UsersRequest,
    VerifyRequest,
)

LINES = "application/x-ndjson"

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call:
    """One HTTP request."""

    method: str
    path: str
    query: Mapping[str, Any]
    json: Any = None
    lines: Iterable[bytes] | None = None
    """A body that can be sent once only."""


Steps = Generator[Call, bytes, T]


@dataclass(frozen=True)
class Verb(Generic[P, T]):
    """A row of the table: how a request is built, placed in a call, and answered."""

    build: Callable[P, Request]
    """Builds the request from a caller's arguments."""
    method: str
    path: str
    """With the fields that go into it in braces."""
    read: Callable[[bytes], T]
    """Reads the answer's body."""
    query: tuple[str, ...] = ()
    """The fields that go into the query; all of them, where a method has no body."""
    body: str | None = None
    """The field that is the whole body; by default the body holds all fields that remain."""
    steps: Callable[[Verb[P, T], Any], Steps[T]] | None = None
    """Carries a request out that may take several calls, or none."""

    @property
    def request(self) -> type[Request]:
        """The type of its requests."""
        build: Any = self.build  # a type, or its class method `of`
        found: type[Request] = getattr(build, "__self__", build)
        return found

    def carried_out(self, request: Request) -> Steps[T]:
        """Yield the calls of a request, and return its answer."""
        if self.steps is not None:
            return (yield from self.steps(self, request))
        return self.read((yield self.call(request)))

    def call(self, request: Request) -> Call:
        """Place the given fields of a request in a call. Raises InvalidInputError."""
        values = request.model_dump(mode="json", exclude_unset=True)
        if self.method == "GET" and (filters := values.pop("filters", None)):
            values["q"] = json.dumps(filters)
        path = self.path
        for name in _in_braces(path):
            path = path.replace(f"{{{name}}}", _segment(values.pop(name)))
        names = self.query if self.method in ("POST", "PATCH") else tuple(values)
        given = {name: values.pop(name, None) for name in names}
        query = {name: value for name, value in given.items() if value is not None}
        return Call(self.method, path, query, values[self.body] if self.body else values or None)


def _in_braces(path: str) -> list[str]:
    return [name for _, name, _, _ in Formatter().parse(path) if name]


def _segment(value: str) -> str:
    if value in (".", ".."):  # which would lead to another path
        raise InvalidInputError(f"no id of a memory: {value!r}")
    return value


class _Forgotten(BaseModel):
    forgotten: int
    memories: list[Fact] = []
    sentences: list[str] = []
    proof: Proof | None = None
    items: int = 0
    warning: str = ""
    kept_in: list[str] = []


class _Events(BaseModel):
    items: list[MemoryEvent]
    next: int


class _Items(BaseModel, Generic[T]):
    items: list[T]
    next: str | None = None


def _one(kind: type[T]) -> Callable[[bytes], T]:
    return TypeAdapter(kind).validate_json


def written(kind: type[T]) -> Callable[[bytes], T]:
    """Read an answer that a key without the right to read gets as an id alone."""
    read = TypeAdapter(kind).validate_json

    def answer(body: bytes) -> T:
        found = json.loads(body)
        items = found.get("items", [found])
        if any(one.keys() == {"id"} for one in items):
            ids = ", ".join(one["id"] for one in items)
            raise AccessDeniedError(f"{ids} was written, but this key has no right to read it")
        return read(body)

    return answer


def many(kind: type[T]) -> Callable[[bytes], list[T]]:
    """Read the items of an answer."""
    adapter = TypeAdapter(_Items[kind])  # type: ignore[valid-type]  # made at run time
    return lambda answer: adapter.validate_json(answer).items


def written_items(answer: bytes) -> list[Fact]:
    """Read facts that a key without the right to read gets as ids alone."""
    found: list[Fact] = written(_Items[Fact])(answer).items
    return found


def _page(answer: bytes) -> Page:
    found = _PAGE.validate_json(answer)
    return Page(found.items, found.next)


def _event_page(answer: bytes) -> EventPage:
    found = _EVENTS.validate_json(answer)
    return EventPage(found.items, found.next)


def _number(name: str) -> Callable[[bytes], int]:
    return lambda answer: int(json.loads(answer)[name])


def _forgotten(answer: bytes) -> Forgotten:
    found = _FORGOTTEN.validate_json(answer)
    return Forgotten(
        found.forgotten,
        found.memories,
        found.sentences,
        found.proof,
        found.items,
        found.warning,
        found.kept_in,
    )


def _nothing(answer: bytes) -> None:
    del answer


def _record(line: bytes) -> dict[str, Any]:
    """Read one JSON object."""
    found: dict[str, Any] = json.loads(line)
    return found


def _observe(verb: Verb[..., Receipt], request: ObserveRequest) -> Steps[Receipt]:
    """Send messages, as many at a time as the service takes."""
    accepted = duplicates = 0
    for start in range(0, len(request.messages), MOST_ITEMS):
        part = request.messages[start : start + MOST_ITEMS]
        call = verb.call(request.model_copy(update={"messages": []}))
        # With their ids, also those that were drawn at random here.
        said = [message.model_dump(mode="json", exclude_none=True) for message in part]
        receipt = verb.read((yield replace(call, json={**call.json, "messages": said})))
        accepted += receipt.accepted
        duplicates += receipt.duplicates
    return Receipt(accepted=accepted, duplicates=duplicates, session_id=request.session_id)


def _add_many(verb: Verb[..., list[Fact]], request: AddManyRequest) -> Steps[list[Fact]]:
    """Add facts; the service takes no empty list of them."""
    return verb.read((yield verb.call(request))) if request.items else []


def _list(verb: Verb[..., Page], request: ListRequest) -> Steps[Page]:
    """List page after page until there are as many memories as were asked for."""
    found = Page()
    after, most = request.after, request.most
    while most is None or len(found) < most:
        size = MOST_ITEMS if most is None else min(MOST_ITEMS, most - len(found))
        call = Call(verb.method, verb.path, ListQuery.page(request, size, after))
        page = verb.read((yield call))
        found += page
        after = found.next = page.next
        if after is None:
            break
    return found


def _load(verb: Verb[..., int], request: LoadRequest) -> Steps[int]:
    """Send records as JSON lines, while they are being made."""
    lines = (json.dumps(record).encode() + b"\n" for record in request.records)
    return verb.read((yield replace(verb.call(request), lines=lines)))


def _to_dict(verb: Verb[..., dict[str, Any]], request: ToDictRequest) -> Steps[dict[str, Any]]:
    """Ask for an export as one document."""
    call = verb.call(request)
    return verb.read((yield replace(call, query={**call.query, "format": "json"})))


_EVENTS = TypeAdapter(_Events)
_PAGE = TypeAdapter(_Items[Fact])
_FORGOTTEN = TypeAdapter(_Forgotten)
_FACT = "/v1/memories/{fact_id}"
_USER = ("user_id",)

observe = Verb(ObserveRequest.of, "POST", "/v1/messages", _one(Receipt), steps=_observe)
add = Verb(AddRequest.of, "POST", "/v1/memories", written(Fact))
add_many = Verb(AddManyRequest.of, "POST", "/v1/memories/batch", written_items, steps=_add_many)
flush = Verb(FlushRequest.of, "POST", "/v1/flush", _nothing)
search = Verb(SearchRequest.of, "POST", "/v1/search", many(Hit))
context = Verb(ContextRequest.of, "POST", "/v1/context", _one(Context))
get = Verb(GetRequest.of, "GET", _FACT, _one(Fact))
list_ = Verb(ListRequest.of, "GET", "/v1/memories", _page, steps=_list)
tags = Verb(TagsRequest.of, "GET", "/v1/tags", many(TagCount))
audit = Verb(AuditRequest.of, "GET", "/v1/audit", many(PromptRecord))
update = Verb(UpdateRequest.of, "PATCH", _FACT, written(Fact), _USER)
delete = Verb(DeleteRequest.of, "DELETE", _FACT, _nothing)
restore = Verb(RestoreRequest.of, "POST", f"{_FACT}/restore", written(Fact), _USER)
history = Verb(HistoryRequest.of, "GET", f"{_FACT}/history", many(FactVersion))
explain = Verb(ExplainRequest.of, "GET", f"{_FACT}/explanation", _one(Explanation))
profile = Verb(ProfileRequest.of, "GET", "/v1/profile", _one(Overview))
update_profile = Verb(
    UpdateProfileRequest.of, "PATCH", "/v1/profile", written(Overview), _USER, body="fields"
)
profile_history = Verb(ProfileHistoryRequest.of, "GET", "/v1/profile/history", many(Line))
layout = Verb(LayoutRequest.of, "GET", "/v1/layout", _one(Layout))
sessions = Verb(SessionsRequest.of, "GET", "/v1/sessions", many(SessionInfo))
configure_session = Verb(
    ConfigureSessionRequest.of, "PATCH", "/v1/sessions", written(SessionOptions)
)
create_session = Verb(CreateSessionRequest.of, "POST", "/v1/sessions", written(SessionInfo))
load_session = Verb(LoadSessionRequest.of, "POST", "/v1/sessions/load", written(SessionInfo))
close_session = Verb(CloseSessionRequest.of, "POST", "/v1/sessions/close", written(SessionInfo))
messages = Verb(MessagesRequest.of, "GET", "/v1/messages", many(Message))
pop = Verb(PopRequest.of, "POST", "/v1/messages/pop", written(Message))
forget = Verb(ForgetRequest.of, "POST", "/v1/forget", _forgotten)
verify_receipt = Verb(VerifyRequest.of, "POST", "/v1/receipts/verify", _one(Verified))
requests = Verb(RequestsRequest.of, "GET", "/v1/requests", many(RequestToForget))
settle_request = Verb(SettleRequest.of, "POST", "/v1/requests/settle", written(RequestToForget))
export = Verb(ExportRequest.of, "GET", "/v1/export", _record)
to_dict = Verb(ToDictRequest.of, "GET", "/v1/export", _record, steps=_to_dict)
from_dict = Verb(FromDictRequest.of, "POST", "/v1/import", _number("new"), _USER, body="document")
load = Verb(LoadRequest.of, "POST", "/v1/import", _number("new"), _USER, steps=_load)
events = Verb(EventsRequest.of, "GET", "/v1/events", _event_page)
subscribe = Verb(SubscribeRequest.of, "GET", "/v1/events", _one(MemoryEvent))
users = Verb(UsersRequest, "GET", "/v1/users", many(str))
stats = Verb(StatsRequest, "GET", "/v1/stats", _one(Stats))
check = Verb(CheckRequest, "GET", "/v1/check", many(Finding))
maintain = Verb(MaintainRequest.of, "POST", "/v1/maintenance", many(JobRun))
runs = Verb(RunsRequest.of, "GET", "/v1/maintenance", many(JobRun))
rebuild = Verb(RebuildRequest.of, "POST", "/v1/rebuild", _number("indexed"))
