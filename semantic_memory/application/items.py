"""Keep items: put, get, delete, list and search them, erase the expired ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, cast

import numpy as np

from ingest.gate import Gate
from semantic_memory.application.clearing import cleared_value
from semantic_memory.consolidation.resolver import Outcome
from semantic_memory.domain.changes import (
    DropItem,
    EmbedItem,
    EraseItems,
    Matrix,
    PutItem,
    RefreshItems,
)
from semantic_memory.domain.errors import (
    InputRefusedError,
    NotFoundError,
    ProviderError,
    StoreUnavailableError,
)
from semantic_memory.domain.events import MemoriesForgotten
from semantic_memory.domain.item_filters import passes
from semantic_memory.domain.item_paths import texts_at
from semantic_memory.domain.items import ANY, By, Item, ItemHit, ItemScope, begins
from semantic_memory.domain.ports import Clock, Embedder, Items, KeptItem, Ledger, Observer
from semantic_memory.domain.requests.items import (
    DeleteItemRequest,
    GetItemRequest,
    ListItemsRequest,
    NamespacesRequest,
    PutItemRequest,
    SearchItemsRequest,
)
from semantic_memory.domain.text import stems
from semantic_memory.vectors.passages import split

_PAGE = 500
_BATCH = 32  # items embedded in one call
_WORDS = 0.3  # share of the words in a score by both


class ItemStore:
    """Items of users, each change of one in a transaction. Thread-safe."""

    def __init__(
        self, ledger: Ledger, embedder: Embedder, gate: Gate, clock: Clock, observe: Observer
    ) -> None:
        self._ledger = ledger
        self._embedder = embedder
        self._gate = gate
        self._clock = clock
        self._observe = observe

    def put(self, asked: PutItemRequest) -> None:
        """Keep a value under a key, in place of the one before. Raises InvalidInputError.

        If the embedding model can't be reached, the next search embeds it.
        """
        now = self._clock.now()
        item = Item(
            user_id=asked.user_id,
            namespace=asked.namespace,
            key=asked.key,
            value=cleared_item(self._gate, asked.value, asked.paths, asked.verb),
            created_at=now,
            updated_at=now,
            ttl=asked.ttl,
            expires_at=None if asked.ttl is None else now + timedelta(seconds=asked.ttl),
            index=asked.paths,
        )
        self._ledger.apply([PutItem(item, now, item_terms(item, self._gate), self._vectors(item))])

    def get(self, asked: GetItemRequest) -> Item:
        """Return the item under a key. Raises NotFoundError."""
        now = self._clock.now()
        found = self._ledger.item(asked.user_id, asked.namespace, asked.key, now)
        if found is None:
            raise NotFoundError(f"no item {asked.key!r} in {'/'.join(asked.namespace)!r}")
        return self._read([found], now, refresh=asked.refresh)[0].item

    def delete(self, asked: DeleteItemRequest) -> bool:
        """Delete the item under a key; return False if there is none."""
        place = (asked.user_id, asked.namespace, asked.key)
        with self._ledger.exclusive(asked.user_id):
            there = self._ledger.item(*place, self._clock.now()) is not None
            self._ledger.apply([DropItem(*place)])
        if there:
            self._observe(MemoriesForgotten(asked.user_id, 1, 0))
        return there

    def listing(self, asked: ListItemsRequest) -> list[Item]:
        """Return items that pass the filters, the one put last first."""
        now = self._clock.now()
        scope = ItemScope(asked.user_id, asked.namespace, now)
        end = asked.offset + asked.limit
        passing = _passing(every_item(self._ledger, scope, min(end, _PAGE)), asked.filters)
        found = [*islice(passing, asked.offset, end)]
        return [one.item for one in self._read(found, now, refresh=asked.refresh)]

    def search(self, asked: SearchItemsRequest) -> list[ItemHit]:
        """Return the items nearest to a query that pass the filters, the best first.

        Raises ProviderError if the embedding model can't be reached.
        """
        now = self._clock.now()
        scope = ItemScope(asked.user_id, asked.namespace, now)
        scores = self._scores(asked.query, scope, asked.by)
        best = sorted(scores, key=lambda num: (-scores[num], -num))
        end = asked.offset + asked.limit
        passing = _passing(self._kept(best, end), asked.filters)
        found = [*islice(passing, asked.offset, end)]
        read = self._read(found, now, refresh=asked.refresh)
        return [
            ItemHit.model_construct(item=one.item, score=round(scores[one.num], 6)) for one in read
        ]

    def namespaces(self, asked: NamespacesRequest) -> list[tuple[str, ...]]:
        """Return the namespaces that have items, in order."""
        fixed = asked.prefix[: asked.prefix.index(ANY)] if ANY in asked.prefix else asked.prefix
        scope = ItemScope(asked.user_id, fixed, self._clock.now())
        found = {
            namespace[: asked.max_depth]
            for namespace in self._ledger.namespaces(scope)
            if begins(namespace, asked.prefix) and begins(namespace[::-1], asked.suffix[::-1])
        }
        return sorted(found)[asked.offset : asked.offset + asked.limit]

    def embed(self) -> None:
        """Embed the items that wait for their vectors. Raises ProviderError."""
        while waiting := self._ledger.unembedded_items(_BATCH):
            self._ledger.apply(self._embedded(waiting))

    def expire(self, user_id: str | None, *, dry_run: bool) -> Iterator[Outcome]:
        """Erase the items that have expired, of one user or of all, if there are any."""
        now = self._clock.now()
        if number := self._ledger.count_items(user_id, expired_by=now):
            outcome = Outcome()
            outcome.counts["expired items"] += number
            if dry_run:
                outcome.planned.append(f"erase {number:,} expired items")
            else:
                expired = self._expired(user_id, now)
                self._ledger.apply([EraseItems(user_id, now)])
                for one, count in expired.items():
                    self._observe(MemoriesForgotten(one, count, 0))
            yield outcome

    def _expired(self, user_id: str | None, now: datetime) -> Mapping[str, int]:
        """Return the numbers of expired items by user."""
        users = self._ledger.users() if user_id is None else [user_id]
        counts = {one: self._ledger.count_items(one, expired_by=now) for one in users}
        return {one: count for one, count in counts.items() if count}

    def _kept(self, nums: Sequence[int], size: int) -> Iterator[KeptItem]:
        """Yield the items of these numbers, read `size` at a time."""
        for start in range(0, len(nums), size):
            yield from self._ledger.items_of(nums[start : start + size])

    def _read(
        self, found: Sequence[KeptItem], now: datetime, *, refresh: bool
    ) -> Sequence[KeptItem]:
        """Return items, with their time to live begun again if that is asked for."""
        timed = {one.num: one.item.ttl for one in found if one.item.ttl is not None}
        if not refresh or not timed:
            return found
        try:
            self._ledger.apply([RefreshItems([*timed], now)])
        except StoreUnavailableError:  # what is kept can be read nevertheless
            return found
        return [
            one
            if (ttl := timed.get(one.num)) is None
            else KeptItem(
                one.num,
                one.item.model_copy(update={"expires_at": now + timedelta(seconds=ttl)}),
            )
            for one in found
        ]

    def _scores(self, query: str, scope: ItemScope, by: By) -> Mapping[int, float]:
        """Return the score of each item that a query finds."""
        match by:
            case "meaning":
                return self._by_meaning(query, scope)
            case "words":
                return self._by_words(query, scope)
            case "both":
                meant, worded = self._by_meaning(query, scope), self._by_words(query, scope)
                return {
                    num: (1 - _WORDS) * max(0.0, meant.get(num, 0.0))
                    + _WORDS * worded.get(num, 0.0)
                    for num in meant.keys() | worded.keys()
                }

    def _by_meaning(self, query: str, scope: ItemScope) -> dict[int, float]:
        """Return each item's cosine similarity, by its nearest text."""
        with suppress(StoreUnavailableError):  # those that have no vectors are found by words
            self.embed()
        nums, rows = self._ledger.item_vectors(scope)
        if not len(nums):
            return {}
        cosines = rows @ self._embedder.embed([query], "query")[0]
        items, places = np.unique(nums, return_inverse=True)
        best = np.full(len(items), -1.0, dtype=np.float32)
        np.maximum.at(best, places, cosines)
        return dict(zip(items.tolist(), best.tolist(), strict=True))

    def _by_words(self, query: str, scope: ItemScope) -> dict[int, float]:
        """Return the share of the query's words that each item holds, rare ones counting more."""
        terms = list(dict.fromkeys(stems(query)))
        if not terms:
            return {}
        number, held = self._ledger.item_terms(scope, terms)
        holding = {term: sum(term in own for own in held.values()) for term in terms}
        weights = {term: math.log1p((number - n + 0.5) / (n + 0.5)) for term, n in holding.items()}
        total = sum(weights.values())
        return {num: sum(weights[term] for term in own) / total for num, own in held.items()}

    def _vectors(self, item: Item) -> Mapping[str, Matrix] | None:
        """Return the vectors of an item; None if the model can't be reached now."""
        with suppress(ProviderError):
            return self._embedded([KeptItem(0, item)])[0].vectors
        return None

    def _embedded(self, waiting: Sequence[KeptItem]) -> list[EmbedItem]:
        """Return the changes that embed items, with one call of the embedder."""
        pieces = [
            (one.num, path, window)
            for one in waiting
            for path, text in _indexed(one.item, self._gate)
            for window in split(text).windows
        ]
        try:
            rows = self._embedder.embed([text for *_, text in pieces], "document") if pieces else ()
        except InputRefusedError:
            if len(waiting) > 1:
                middle = len(waiting) // 2
                return [*self._embedded(waiting[:middle]), *self._embedded(waiting[middle:])]
            return [EmbedItem(waiting[0].num)]  # found by words only
        vectors: dict[int, dict[str, list[Matrix]]] = {one.num: {} for one in waiting}
        for (num, path, _), row in zip(pieces, rows, strict=True):
            vectors[num].setdefault(path, []).append(row)
        return [
            EmbedItem(num, {path: np.stack(own) for path, own in paths.items()})
            for num, paths in vectors.items()
        ]


def cleared_item(
    gate: Gate, value: Mapping[str, Any], index: Sequence[str], place: str
) -> dict[str, Any]:
    """Return the value of an item with its texts treated by the gate. Raises InvalidInputError.

    Secrets stay, unless they are refused, and are masked in what is indexed. A value without
    indexed paths is returned as it is: histories of frameworks must come back exactly, and hold
    what looks like secrets, such as encrypted reasoning.
    """
    if not index:
        return dict(value)
    return cast(dict[str, Any], cleared_value(gate.kept, dict(value), f"{place}: value"))


def every_item(ledger: Items, scope: ItemScope, size: int = _PAGE) -> Iterator[KeptItem]:
    """Yield the items in a scope, the one put last first; the first `size` are read at once."""
    behind: int | None = None
    while page := ledger.items(scope, limit=size, behind=behind):
        size = _PAGE
        yield from page
        behind = page[-1].num


def item_terms(item: Item, gate: Gate) -> frozenset[str]:
    """Return the stemmed words that an item is found by."""
    return frozenset(term for _, text in _indexed(item, gate) for term in stems(text))


def _indexed(item: Item, gate: Gate) -> Iterator[tuple[str, str]]:
    """Yield the texts that an item is found by, without secrets, each with its path."""
    value = gate.searchable(item.value) if item.index else {}
    for path in item.index:
        for text in texts_at(value, path):
            yield path, text


def _passing(items: Iterable[KeptItem], filters: Mapping[str, object] | None) -> Iterator[KeptItem]:
    return (one for one in items if not filters or passes(one.item.value, filters))
