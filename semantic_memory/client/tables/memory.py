"""The verbs of the memory itself."""

from __future__ import annotations

from dataclasses import replace

from pydantic import BaseModel

from semantic_memory.client.calls import Call, Items, Steps, Verb, many, nothing, one, written
from semantic_memory.domain.facts import Fact, Page
from semantic_memory.domain.fields import MOST_ITEMS
from semantic_memory.domain.messages import Receipt
from semantic_memory.domain.recall import Context, Hit
from semantic_memory.domain.reports import Forgotten, Proof
from semantic_memory.domain.requests import (
    AddRequest,
    ContextRequest,
    DeleteRequest,
    FlushRequest,
    ForgetRequest,
    GetRequest,
    ListQuery,
    ListRequest,
    ObserveRequest,
    SearchRequest,
    UpdateRequest,
)


class _Forgotten(BaseModel):
    forgotten: int
    memories: list[Fact] = []
    sentences: list[str] = []
    proof: Proof | None = None
    items: int = 0
    warning: str = ""
    kept_in: list[str] = []


def _page(answer: bytes) -> Page:
    found = Items[Fact].model_validate_json(answer)
    return Page(found.items, found.next)


def _forgotten(answer: bytes) -> Forgotten:
    found = dict(_Forgotten.model_validate_json(answer))
    return Forgotten(found.pop("forgotten"), **found)


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
    return Receipt(accepted=accepted, duplicates=duplicates, session_id=request.only_session)


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


_FACT = "/v1/memories/{fact_id}"

observe = Verb(ObserveRequest.of, "POST", "/v1/messages", one(Receipt), steps=_observe)
add = Verb(AddRequest.of, "POST", "/v1/memories", written(Fact))
search = Verb(SearchRequest.of, "POST", "/v1/search", many(Hit))
context = Verb(ContextRequest.of, "POST", "/v1/context", one(Context))
get = Verb(GetRequest.of, "GET", _FACT, one(Fact))
list_ = Verb(ListRequest.of, "GET", "/v1/memories", _page, steps=_list)
update = Verb(UpdateRequest.of, "PATCH", _FACT, written(Fact), ("user_id",))
delete = Verb(DeleteRequest.of, "DELETE", _FACT, nothing)
forget = Verb(ForgetRequest.of, "POST", "/v1/forget", _forgotten)
flush = Verb(FlushRequest.of, "POST", "/v1/flush", nothing)
