"""Items in plain dictionaries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np

from semantic_memory.domain.changes import (
    DropItem,
    EmbedItem,
    EraseItems,
    ItemChange,
    PutItem,
    RefreshItems,
)
from semantic_memory.domain.items import Item, ItemScope
from semantic_memory.domain.ports import ItemTerms, ItemVectors, KeptItem
from semantic_memory.ledger.memory.store import ItemPlace, ItemRow, Part, Tables


class ItemReader(Part):
    """The role `Items`."""

    def item(
        self, user_id: str, namespace: tuple[str, ...], key: str, now: datetime
    ) -> KeptItem | None:
        """Return the item under a key; None if there is none, or it has expired."""
        row = self._store.snapshot().items.get((user_id, namespace, key))
        return row.kept if row is not None and row.item.holds(now) else None

    def items(self, scope: ItemScope, *, limit: int, behind: int | None = None) -> list[KeptItem]:
        """Return items, the one put last first; those put before number `behind`, if given."""
        found = [row.kept for row in self._within(scope) if behind is None or row.num < behind]
        return sorted(found, key=lambda one: -one.num)[:limit]

    def items_of(self, nums: Sequence[int]) -> list[KeptItem]:
        """Return the items of these numbers, in this order, without those that are gone."""
        found = {row.num: row.kept for row in self._store.snapshot().items.values()}
        return [found[num] for num in nums if num in found]

    def namespaces(self, scope: ItemScope) -> list[tuple[str, ...]]:
        """Return the namespaces that have items, sorted."""
        return sorted({row.item.namespace for row in self._within(scope)})

    def item_vectors(self, scope: ItemScope) -> ItemVectors:
        """Return the vectors of the items in a scope."""
        found = [(row.num, rows) for row in self._within(scope) for rows in row.vectors.values()]
        if not found:
            return ItemVectors(np.zeros(0, np.int64), np.zeros((0, 1), np.float32))
        nums = np.repeat([num for num, _ in found], [len(rows) for _, rows in found])
        return ItemVectors(nums, np.concatenate([rows for _, rows in found]))

    def item_terms(self, scope: ItemScope, terms: Sequence[str]) -> ItemTerms:
        """Return which items in a scope hold which of these stemmed words."""
        rows = list(self._within(scope))
        held = {row.num: row.terms & set(terms) for row in rows}
        return ItemTerms(len(rows), {num: found for num, found in held.items() if found})

    def unembedded_items(self, limit: int) -> list[KeptItem]:
        """Return items that wait for their vectors, the oldest first."""
        rows = self._store.snapshot().items.values()
        return sorted((row.kept for row in rows if row.waiting), key=lambda one: one.num)[:limit]

    def count_items(self, user_id: str | None = None, *, expired_by: datetime | None = None) -> int:
        """Return the number of items, or of those that have expired by a time."""
        items = (row.item for row in self._store.snapshot().items.values())
        return sum(_erased(item, EraseItems(user_id, expired_by)) for item in items)

    def _within(self, scope: ItemScope) -> Iterator[ItemRow]:
        return (row for row in self._store.snapshot().items.values() if scope.covers(row.item))


def write(tables: Tables, change: ItemChange) -> bool:
    """Write a change of items; return True if it had an effect."""
    match change:
        case PutItem():
            return _put(tables, change)
        case DropItem(user_id, namespace, key):
            return tables.items.pop((user_id, namespace, key), None) is not None
        case RefreshItems(nums, at):
            for place, row in _of(tables, nums):
                if row.item.ttl is not None:
                    until = at + timedelta(seconds=row.item.ttl)
                    item = row.item.model_copy(update={"expires_at": until})
                    tables.items[place] = replace(row, item=item)
            return True
        case EmbedItem(num, vectors):
            for place, row in _of(tables, [num]):
                if row.waiting:
                    tables.items[place] = replace(row, vectors=dict(vectors), waiting=False)
                    return True
            return False
        case EraseItems():
            before = len(tables.items)
            tables.items = {
                place: row for place, row in tables.items.items() if not _erased(row.item, change)
            }
            return len(tables.items) < before


def _put(tables: Tables, change: PutItem) -> bool:
    item = change.item
    place = (item.user_id, item.namespace, item.key)
    old = tables.items.pop(place, None)
    if old is not None and old.item.holds(change.at):
        if change.fresh:
            tables.items[place] = old
            return False
        item = item.model_copy(update={"created_at": old.item.created_at})
    tables.item_number += 1
    tables.items[place] = ItemRow(
        tables.item_number,
        item,
        change.terms,
        change.vectors or {},
        waiting=bool(item.index) and change.vectors is None,
    )
    return True


def _of(tables: Tables, nums: Sequence[int]) -> list[tuple[ItemPlace, ItemRow]]:
    wanted = set(nums)
    return [(place, row) for place, row in tables.items.items() if row.num in wanted]


def _erased(item: Item, change: EraseItems) -> bool:
    return change.user_id in (None, item.user_id) and (
        change.expired_by is None or not item.holds(change.expired_by)
    )
