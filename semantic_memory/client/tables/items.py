"""The verbs of `memory.items`."""

from __future__ import annotations

import json

from pydantic import TypeAdapter

from semantic_memory.client.calls import Verb, nothing
from semantic_memory.domain.items import Item, ItemHit
from semantic_memory.domain.requests import (
    DeleteItemRequest,
    GetItemRequest,
    ListItemsRequest,
    NamespacesRequest,
    PutItemRequest,
    SearchItemsRequest,
)

_ITEM = "/v1/items/item"
_HITS = TypeAdapter(list[ItemHit])
_ITEMS = TypeAdapter(list[Item])


def _item(answer: bytes) -> Item:
    return Item.model_validate(json.loads(answer))  # which reads whole numbers of any size


def _items(answer: bytes) -> list[Item]:
    return _ITEMS.validate_python(json.loads(answer)["items"])


def _hits(answer: bytes) -> list[ItemHit]:
    return _HITS.validate_python(json.loads(answer)["items"])


def _namespaces(answer: bytes) -> list[tuple[str, ...]]:
    return [tuple(labels) for labels in json.loads(answer)["items"]]


def _deleted(answer: bytes) -> bool:
    return bool(json.loads(answer)["deleted"])


put = Verb(PutItemRequest.of, "POST", "/v1/items", nothing)
get = Verb(GetItemRequest.of, "GET", _ITEM, _item)
delete = Verb(DeleteItemRequest.of, "DELETE", _ITEM, _deleted)
list_ = Verb(ListItemsRequest.of, "POST", "/v1/items/list", _items)
search = Verb(SearchItemsRequest.of, "POST", "/v1/items/search", _hits)
namespaces = Verb(NamespacesRequest.of, "POST", "/v1/items/namespaces", _namespaces)
