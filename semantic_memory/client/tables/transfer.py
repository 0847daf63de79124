"""The verbs of `memory.transfer`."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from semantic_memory.client.calls import Steps, Verb, record, written_items
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.reports import Loaded
from semantic_memory.domain.requests import (
    AddManyRequest,
    ExportRequest,
    FromDictRequest,
    LoadRequest,
    ToDictRequest,
)


def _add_many(verb: Verb[..., list[Fact]], request: AddManyRequest) -> Steps[list[Fact]]:
    """Add facts; the service takes no empty list of them."""
    return verb.read((yield verb.call(request))) if request.items else []


def _loaded(answer: bytes) -> Loaded:
    """Read the number of new memories, and the ids that couldn't be kept."""
    found = json.loads(answer)
    return Loaded(found["new"], found.get("renamed"))


def _load(verb: Verb[..., Loaded], request: LoadRequest) -> Steps[Loaded]:
    """Send records as JSON lines, while they are being made."""
    lines = (json.dumps(record).encode() + b"\n" for record in request.records)
    return verb.read((yield replace(verb.call(request), lines=lines)))


def _to_dict(verb: Verb[..., dict[str, Any]], request: ToDictRequest) -> Steps[dict[str, Any]]:
    """Ask for an export as one document."""
    call = verb.call(request)
    return verb.read((yield replace(call, query={**call.query, "format": "json"})))


_EXPORT = "/v1/transfer/export"
_IMPORT = "/v1/transfer/import"
_USER = ("user_id",)

add_many = Verb(AddManyRequest.of, "POST", "/v1/transfer/add-many", written_items, steps=_add_many)
export = Verb(ExportRequest.of, "GET", _EXPORT, record)
load = Verb(LoadRequest.of, "POST", _IMPORT, _loaded, _USER, steps=_load)
to_dict = Verb(ToDictRequest.of, "GET", _EXPORT, record, steps=_to_dict)
from_dict = Verb(FromDictRequest.of, "POST", _IMPORT, _loaded, _USER, body="document")
