"""Changes of a memory, `memory.events`: ids, kinds and actions, in their order.

for event in memory.events.subscribe(user_id="maya"):
    print(event.kind, event.memory_id)
"""

from __future__ import annotations

from semantic_memory.domain.requests import EventsRequest, SubscribeRequest
from semantic_memory.groups.binding import Group, verb


class Events(Group):
    """The feed of a memory's changes. Thread-safe."""

    list = verb(EventsRequest.of, lambda use: use.feed.events)
    subscribe = verb(SubscribeRequest.of, lambda use: use.feed.subscribe)
