"""The items of users, `memory.items`: JSON values under exact keys, beside the facts.

memory.items.put(["preferences"], "theme", {"theme": "dark"}, user_id="maya")
memory.items.get(["preferences"], "theme", user_id="maya").value
"""

from __future__ import annotations

from semantic_memory.domain.requests import (
    DeleteItemRequest,
    GetItemRequest,
    ListItemsRequest,
    NamespacesRequest,
    PutItemRequest,
    SearchItemsRequest,
)
from semantic_memory.groups.binding import Group, verb


class Items(Group):
    """The items of a memory's users. Thread-safe.

    An item belongs to a user, with whom it is forgotten and exported, and stands under a key in a
    namespace of one or more labels. Every method raises InvalidInputError for a value that it can't
    use, and changes nothing then.
    """

    put = verb(PutItemRequest.of, lambda use: use.items.put)
    get = verb(GetItemRequest.of, lambda use: use.items.get)
    delete = verb(DeleteItemRequest.of, lambda use: use.items.delete)
    list = verb(ListItemsRequest.of, lambda use: use.items.listing)
    search = verb(SearchItemsRequest.of, lambda use: use.items.search)
    namespaces = verb(NamespacesRequest.of, lambda use: use.items.namespaces)
