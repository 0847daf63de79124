"""The facade of items, `memory.items`: JSON values under exact keys, beside the facts.

memory.items.put(["preferences"], "theme", {"theme": "dark"}, user_id="maya")
memory.items.get(["preferences"], "theme", user_id="maya").value
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from semantic_memory.domain import fields
from semantic_memory.domain.items import By, Item, ItemHit
from semantic_memory.domain.requests.items import (
    DeleteItemRequest,
    GetItemRequest,
    ListItemsRequest,
    NamespacesRequest,
    PutItemRequest,
    SearchItemsRequest,
)

if TYPE_CHECKING:  # it would load numpy
    from semantic_memory.application.items import ItemStore

# In a class with a method `list`, `list[Item]` would mean that method.
Found = list[Item]
Hits = list[ItemHit]
Namespaces = list[tuple[str, ...]]


class Items:
    """The items of a memory's users. Thread-safe.

    An item belongs to a user, with whom it is forgotten and exported, and stands under a key in a
    namespace of one or more labels. Every method raises InvalidInputError for a value that it can't
    use, and changes nothing then.
    """

    def __init__(self, store: Callable[[], ItemStore]) -> None:
        self._store = store

    def put(
        self,
        namespace: Sequence[str],
        key: str,
        value: Mapping[str, Any],
        *,
        user_id: str,
        ttl: float | None = None,
        index: Sequence[str] | Literal[False] | None = None,
    ) -> None:
        """Keep a value under a key, in place of the one before.

        With `ttl`, the item is gone so many seconds after it was put or read last. `search` finds
        it by the texts at the paths of `index`, like `title` or `notes[*].text`; by all of it
        without any, and not at all with False.

        Raises InvalidInputError for a value with a secret or personal data, by the settings, unless
        `index` is False: such a value is kept as it is.
        """
        asked = PutItemRequest.of(namespace, key, value, user_id=user_id, ttl=ttl, index=index)
        self._store().put(asked)

    def get(
        self, namespace: Sequence[str], key: str, *, user_id: str, refresh: bool = True
    ) -> Item:
        """Return the item under a key. Raises NotFoundError.

        Its time to live begins anew, unless `refresh` is False.
        """
        asked = GetItemRequest.of(namespace, key, user_id=user_id, refresh=refresh)
        return self._store().get(asked)

    def delete(self, namespace: Sequence[str], key: str, *, user_id: str) -> bool:
        """Delete the item under a key; return False if there is none."""
        return self._store().delete(DeleteItemRequest.of(namespace, key, user_id=user_id))

    def list(
        self,
        namespace: Sequence[str] = (),
        *,
        user_id: str | None,
        filters: Mapping[str, Any] | None = None,
        limit: int = fields.ITEMS.default,
        offset: int = fields.OFFSET.default,
        refresh: bool = True,
    ) -> Found:
        """Return items of namespaces that begin with `namespace`, the one put last first.

        `filters` are conditions on values: `{"kind": "note", "stars": {"$gte": 3}}`, with the
        operators `$eq $ne $gt $gte $lt $lte` and `.` between the levels of a path. With `user_id`
        None, of every user.
        """
        asked = ListItemsRequest.of(
            namespace,
            user_id=user_id,
            filters=filters,
            limit=limit,
            offset=offset,
            refresh=refresh,
        )
        return self._store().listing(asked)

    def search(
        self,
        query: str,
        namespace: Sequence[str] = (),
        *,
        user_id: str | None,
        filters: Mapping[str, Any] | None = None,
        by: By = "both",
        limit: int = fields.ITEM_HITS.default,
        offset: int = fields.OFFSET.default,
        refresh: bool = True,
    ) -> Hits:
        """Return the items whose indexed texts are nearest to a query, the best first.

        By meaning, by words or both; the other arguments are those of `list`. Raises ProviderError
        if the embedding model can't be reached.
        """
        asked = SearchItemsRequest.of(
            query,
            namespace,
            user_id=user_id,
            filters=filters,
            by=by,
            limit=limit,
            offset=offset,
            refresh=refresh,
        )
        return self._store().search(asked)

    def namespaces(
        self,
        *,
        user_id: str | None,
        prefix: Sequence[str] = (),
        suffix: Sequence[str] = (),
        max_depth: int | None = None,
        limit: int = fields.NAMESPACES.default,
        offset: int = fields.NAMESPACES_OFFSET.default,
    ) -> Namespaces:
        """Return the namespaces that have items, in order, cut to `max_depth` labels.

        In `prefix` and `suffix` the label `*` stands for any one.
        """
        asked = NamespacesRequest.of(
            user_id=user_id,
            prefix=prefix,
            suffix=suffix,
            max_depth=max_depth,
            limit=limit,
            offset=offset,
        )
        return self._store().namespaces(asked)
