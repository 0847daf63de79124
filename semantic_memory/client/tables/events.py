"""The verbs of `memory.events`."""

from __future__ import annotations

from pydantic import BaseModel

from semantic_memory.client.calls import Verb, one
from semantic_memory.domain.feed import EventPage, MemoryEvent
from semantic_memory.domain.requests import EventsRequest, SubscribeRequest


class _Events(BaseModel):
    items: list[MemoryEvent]
    next: int


def _event_page(answer: bytes) -> EventPage:
    found = _Events.model_validate_json(answer)
    return EventPage(found.items, found.next)


list_ = Verb(EventsRequest.of, "GET", "/v1/events", _event_page)
subscribe = Verb(SubscribeRequest.of, "GET", "/v1/events", one(MemoryEvent))
