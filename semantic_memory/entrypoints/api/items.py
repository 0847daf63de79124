"""Routes for items: JSON values under exact keys."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response

from semantic_memory.domain.items import Item, ItemHit
from semantic_memory.domain.requests import (
    DeleteItemRequest,
    GetItemRequest,
    ListItemsRequest,
    NamespacesRequest,
    PutItemRequest,
    SearchItemsRequest,
)
from semantic_memory.domain.values import Value
from semantic_memory.entrypoints.agent_limits import own_namespace, own_prefix
from semantic_memory.entrypoints.api import bodies
from semantic_memory.entrypoints.api.access import CurrentCaller
from semantic_memory.entrypoints.api.problems import documented
from semantic_memory.entrypoints.api.routes import UNKNOWN, Opened, reading, writing
from semantic_memory.entrypoints.rights import Right

reads = reading("/v1/items", "items")
writes = writing("/v1/items", "items")


class Deleted(Value):
    """The outcome of a deletion: false if there was no such item."""

    deleted: bool


class FoundItems(bodies.Items[Item]):
    """Items, the one put last first."""


class ItemHits(bodies.Items[ItemHit]):
    """Found items, best first."""


class Namespaces(bodies.Items[list[str]]):
    """Namespaces, in order."""


@writes.post("", status_code=204, response_class=Response)
def put(body: PutItemRequest, caller: CurrentCaller, memory: Opened) -> None:
    """Keep a value under a key, in place of the one before."""
    caller.require(Right.WRITE, body.user_id, scoped=True)
    own_namespace(caller, body.namespace)
    memory.items.put(**body.given())


@reads.get("/item", responses=UNKNOWN)
def get(asked: Annotated[GetItemRequest, Query()], caller: CurrentCaller, memory: Opened) -> Item:
    """Return the item under a key; its time to live begins again."""
    caller.require(Right.READ, asked.user_id, scoped=True)
    own_namespace(caller, asked.namespace)
    return memory.items.get(**asked.given())


@writes.delete("/item")
def delete(
    asked: Annotated[DeleteItemRequest, Query()], caller: CurrentCaller, memory: Opened
) -> Deleted:
    """Delete the item under a key, if there is one."""
    caller.require(Right.WRITE, asked.user_id, scoped=True)
    own_namespace(caller, asked.namespace)
    return Deleted(deleted=memory.items.delete(**asked.given()))


@reads.post("/list")
def list_(body: ListItemsRequest, caller: CurrentCaller, memory: Opened) -> FoundItems:
    """List items of namespaces that begin with a prefix, the one put last first."""
    caller.require_user(Right.READ, body.user_id, scoped=True)
    prefix = own_prefix(caller, body.namespace)
    return FoundItems(items=memory.items.list(**body.given() | {"namespace": prefix}))


@reads.post("/search", responses=documented(502))
def search(body: SearchItemsRequest, caller: CurrentCaller, memory: Opened) -> ItemHits:
    """Find items by the texts at their indexed paths, the best first."""
    caller.require_user(Right.READ, body.user_id, scoped=True)
    prefix = own_prefix(caller, body.namespace)
    return ItemHits(items=memory.items.search(**body.given() | {"namespace": prefix}))


@reads.post("/namespaces")
def list_namespaces(body: NamespacesRequest, caller: CurrentCaller, memory: Opened) -> Namespaces:
    """List the namespaces that have items; the label `*` stands for any one."""
    caller.require_user(Right.READ, body.user_id, scoped=True)
    prefix = own_prefix(caller, body.prefix)
    found = memory.items.namespaces(**body.given() | {"prefix": prefix})
    return Namespaces(items=[[*labels] for labels in found])
