"""The verbs of `memory.profile`."""

from __future__ import annotations

from semantic_memory.client.calls import Verb, many, one, written
from semantic_memory.domain.layout import Layout
from semantic_memory.domain.profile import Line, Overview
from semantic_memory.domain.reports import TagCount
from semantic_memory.domain.requests import (
    LayoutRequest,
    ProfileHistoryRequest,
    ProfileRequest,
    TagsRequest,
    UpdateProfileRequest,
)

_PROFILE = "/v1/profile"

get = Verb(ProfileRequest.of, "GET", _PROFILE, one(Overview))
update = Verb(
    UpdateProfileRequest.of, "PATCH", _PROFILE, written(Overview), ("user_id",), body="fields"
)
history = Verb(ProfileHistoryRequest.of, "GET", f"{_PROFILE}/history", many(Line))
tags = Verb(TagsRequest.of, "GET", f"{_PROFILE}/tags", many(TagCount))
layout = Verb(LayoutRequest.of, "GET", f"{_PROFILE}/layout", one(Layout))
