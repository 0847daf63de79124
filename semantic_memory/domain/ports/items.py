"""Reading the ledger's items. They are written by changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.items import Item, ItemScope


class KeptItem(NamedTuple):
    """An item as it is kept."""

    num: int
    """Number of this state: every put draws a higher one, which is never used again."""
    item: Item


class ItemVectors(NamedTuple):
    """The vectors of several items."""

    nums: NDArray[np.int64]
    """The item of each row; one may have several."""
    rows: Matrix


class ItemTerms(NamedTuple):
    """The words by which items are found."""

    items: int
    """Number of items in the scope."""
    held: Mapping[int, frozenset[str]]
    """By item: the words looked for that it holds, if any."""


class Items(Protocol):
    """Reads items."""

    def item(
        self, user_id: str, namespace: tuple[str, ...], key: str, now: datetime
    ) -> KeptItem | None:
        """Return the item under a key; None if there is none, or it has expired."""
        ...

    def items(self, scope: ItemScope, *, limit: int, behind: int | None = None) -> list[KeptItem]:
        """Return items, the one put last first; those put before number `behind`, if given."""
        ...

    def items_of(self, nums: Sequence[int]) -> list[KeptItem]:
        """Return the items of these numbers, in this order, without those that are gone."""
        ...

    def namespaces(self, scope: ItemScope) -> list[tuple[str, ...]]:
        """Return the namespaces that have items, sorted."""
        ...

    def item_vectors(self, scope: ItemScope) -> ItemVectors:
        """Return the vectors of the items in a scope."""
        ...

    def item_terms(self, scope: ItemScope, terms: Sequence[str]) -> ItemTerms:
        """Return which items in a scope hold which of these stemmed words."""
        ...

    def unembedded_items(self, limit: int) -> list[KeptItem]:
        """Return items that wait for their vectors, the oldest first."""
        ...

    def count_items(self, user_id: str | None = None, *, expired_by: datetime | None = None) -> int:
        """Return the number of items, or of those that have expired by a time."""
        ...
