"""The profile of a user and the topics of their memories, `memory.profile`.

memory.profile.update({"diet": "vegetarian"}, user_id="maya")
print(memory.profile.get(user_id="maya").core)
"""

from __future__ import annotations

from semantic_memory.domain.requests import (
    LayoutRequest,
    ProfileHistoryRequest,
    ProfileRequest,
    TagsRequest,
    UpdateProfileRequest,
)
from semantic_memory.groups.binding import Group, verb


class Profiles(Group):
    """The profiles of a memory's users, and overviews of their memories. Thread-safe."""

    get = verb(ProfileRequest.of, lambda use: use.profiles.get)
    update = verb(UpdateProfileRequest.of, lambda use: use.profiles.update)
    history = verb(ProfileHistoryRequest.of, lambda use: use.profiles.history)
    tags = verb(TagsRequest.of, lambda use: use.lookup.tags)
    layout = verb(LayoutRequest.of, lambda use: use.map.layout)
