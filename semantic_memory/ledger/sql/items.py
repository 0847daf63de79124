"""Reading items, and their rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from semantic_memory.domain.changes import (
    EraseItems,
)
from semantic_memory.domain.items import Item, ItemScope
from semantic_memory.domain.ports import ItemTerms, ItemVectors, KeptItem
from semantic_memory.ledger.sql.part import Part
from semantic_memory.ledger.sql.rows import (
    chunks,
    decoding,
    maybe_moment,
    micros,
    moment,
)

_END = "\x1f"  # of a label
_BEHIND = "\x20"  # sorts right behind it


class ItemRow(NamedTuple):
    """The columns of `items` that make an item."""

    num: int
    user_id: str
    namespace: str
    key: str
    value: str
    created_at: int
    updated_at: int
    ttl: int | None
    expires_at: int | None
    paths: str


_SELECT = f"SELECT {', '.join(f'i.{name}' for name in ItemRow._fields)} FROM items i"
PLACE = "namespace = ? AND key = ? AND user_id = ?"
"""The condition of the item under a key."""


class ItemReader(Part):
    """The role `Items`."""

    def item(
        self, user_id: str, namespace: tuple[str, ...], key: str, now: datetime
    ) -> KeptItem | None:
        """Return the item under a key; None if there is none, or it has expired."""
        with self._connections.snapshot() as db:
            row = db.execute(
                f"{_SELECT} WHERE {PLACE} AND (expires_at IS NULL OR expires_at > ?)",
                (written(namespace), key, user_id, micros(now)),
            ).fetchone()
        return None if row is None else _to_item(ItemRow._make(row))

    def items(self, scope: ItemScope, *, limit: int, behind: int | None = None) -> list[KeptItem]:
        """Return items, the one put last first; those put before number `behind`, if given."""
        condition, values = _within(scope)
        if behind is not None:
            condition += " AND i.num < ?"
            values.append(behind)
        query = f"{_SELECT} WHERE {condition} ORDER BY i.num DESC LIMIT ?"
        with self._connections.snapshot() as db:
            rows = db.execute(query, (*values, limit)).fetchall()
        return [_to_item(ItemRow._make(row)) for row in rows]

    def items_of(self, nums: Sequence[int]) -> list[KeptItem]:
        """Return the items of these numbers, in this order, without those that are gone."""
        found: dict[int, KeptItem] = {}
        with self._connections.snapshot() as db:
            for part, marks in chunks(nums):
                for row in db.execute(f"{_SELECT} WHERE i.num IN ({marks})", part):
                    found[row[0]] = _to_item(ItemRow._make(row))
        return [found[num] for num in nums if num in found]

    def namespaces(self, scope: ItemScope) -> list[tuple[str, ...]]:
        """Return the namespaces that have items, sorted."""
        condition, values = _within(scope)
        query = f"SELECT DISTINCT i.namespace FROM items i WHERE {condition}"
        with self._connections.snapshot() as db:
            return sorted(_read(namespace) for (namespace,) in db.execute(query, values))

    def item_vectors(self, scope: ItemScope) -> ItemVectors:
        """Return the vectors of the items in a scope."""
        condition, values = _within(scope)
        own = self._connections.dialect.same("v", "i")
        query = (
            f"SELECT v.num, v.rows, v.data FROM items i JOIN item_vectors v ON {own}"
            f" WHERE {condition}"
        )
        with self._connections.snapshot() as db:
            rows = db.execute(query, values).fetchall()
        return _to_vectors(rows)

    def item_terms(self, scope: ItemScope, terms: Sequence[str]) -> ItemTerms:
        """Return which items in a scope hold which of these stemmed words."""
        condition, values = _within(scope)
        own = self._connections.dialect.same("t", "i")
        marks = ", ".join("?" * len(terms))
        held: dict[int, set[str]] = {}
        with self._connections.snapshot() as db:
            query = f"SELECT count(*) FROM items i WHERE {condition}"
            (number,) = db.execute(query, values).fetchone()
            if not terms:
                return ItemTerms(number, {})
            query = (
                f"SELECT t.num, t.term FROM item_terms t JOIN items i ON {own}"
                f" WHERE t.term IN ({marks}) AND {condition}"
            )
            for num, term in db.execute(query, (*terms, *values)):
                held.setdefault(num, set()).add(term)
        return ItemTerms(number, {num: frozenset(found) for num, found in held.items()})

    def unembedded_items(self, limit: int) -> list[KeptItem]:
        """Return items that wait for their vectors, the oldest first."""
        query = f"{_SELECT} WHERE i.embedded = 0 ORDER BY i.num LIMIT ?"
        with self._connections.snapshot() as db:
            return [_to_item(ItemRow._make(row)) for row in db.execute(query, (limit,))]

    def count_items(self, user_id: str | None = None, *, expired_by: datetime | None = None) -> int:
        """Return the number of items, or of those that have expired by a time."""
        condition, values = condition_of(EraseItems(user_id, expired_by))
        return self._number(f"SELECT count(*) FROM items WHERE {condition}", values)


def written(namespace: Sequence[str]) -> str:
    """Return a namespace as its column has it: what begins alike has labels alike."""
    return "".join(label.replace("%", "%25").replace(_END, "%1F") + _END for label in namespace)


@lru_cache(maxsize=4_096)
def _read(namespace: str) -> tuple[str, ...]:
    labels = namespace.split(_END)[:-1]
    return tuple(label.replace("%1F", _END).replace("%25", "%") for label in labels)


def _within(scope: ItemScope) -> tuple[str, list[Any]]:
    """Return the condition on `items i` for a scope, and its values."""
    condition = "(i.expires_at IS NULL OR i.expires_at > ?)"
    values: list[Any] = [micros(scope.now)]
    if scope.user_id is not None:
        condition += " AND i.user_id = ?"
        values.append(scope.user_id)
    if scope.prefix:
        prefix = written(scope.prefix)
        condition += " AND i.namespace >= ? AND i.namespace < ?"
        values += [prefix, prefix[:-1] + _BEHIND]
    return condition, values


def condition_of(change: EraseItems) -> tuple[str, list[Any]]:
    """Return the condition of the items that are erased, and its values."""
    condition = "TRUE"
    values: list[Any] = []
    if change.user_id is not None:
        condition += " AND user_id = ?"
        values.append(change.user_id)
    if change.expired_by is not None:
        condition += " AND expires_at <= ?"
        values.append(micros(change.expired_by))
    return condition, values


@lru_cache(maxsize=1_024)
def _read_paths(paths: str) -> tuple[str, ...]:
    return tuple(json.loads(paths))


@decoding
def _to_item(row: ItemRow) -> KeptItem:
    """Return the item of a row. Its values were validated on their way in."""
    item = Item.model_construct(
        user_id=row.user_id,
        namespace=_read(row.namespace),
        key=row.key,
        value=json.loads(row.value),
        created_at=moment(row.created_at),
        updated_at=moment(row.updated_at),
        ttl=None if row.ttl is None else row.ttl / 1e6,
        expires_at=maybe_moment(row.expires_at),
        index=_read_paths(row.paths),
    )
    return KeptItem(row.num, item)


@decoding
def _to_vectors(rows: Sequence[tuple[int, int, bytes]]) -> ItemVectors:
    if not rows:
        return ItemVectors(np.zeros(0, np.int64), np.zeros((0, 1), np.float32))
    nums, counts, data = zip(*rows, strict=True)
    total = sum(counts)
    vectors = np.frombuffer(b"".join(data), np.float32).reshape(total, -1)
    return ItemVectors(np.repeat(np.array(nums, np.int64), counts), vectors)
