"""Resolve filters against the clock and the ledger: times in words, references, words."""

from __future__ import annotations

from datetime import datetime

from semantic_memory.domain.categories import BUILT_IN, Declared
from semantic_memory.domain.conditions import in_columns
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.ports import Clock, Ledger

_BY_LEDGER = ("words", "not_words", "metadata", "min_trust", "either", "not_any")


class FilterResolver:
    """Resolves filters into ones that every engine takes. Thread-safe."""

    def __init__(self, ledger: Ledger, clock: Clock, declared: Declared = BUILT_IN) -> None:
        """Refuse categories that aren't `declared`."""
        self._ledger = ledger
        self._clock = clock
        self._declared = declared

    def resolved(self, filters: Filters, user_id: str, now: datetime | None = None) -> Filters:
        """Return the filters with times in words (asked at `now`) and references resolved.

        Raises InvalidInputError for a category that isn't declared.
        """
        for one in (filters, *filters.nested()):
            named = (one.categories or frozenset()) | one.not_categories
            self._declared.check(sorted(named), "filters: category")
        found = filters.at(now or self._clock.now())
        if found.refers_to is found.referred_by is None:
            return found
        for start, backwards in ((found.refers_to, True), (found.referred_by, False)):
            if start is not None:
                ids = self._ledger.linked(user_id, start, depth=found.depth, backwards=backwards)
                found = _among(found, ids)
        return found.model_copy(update={"refers_to": None, "referred_by": None})

    def for_search(self, filters: Filters, user_id: str) -> Filters:
        """Return the filters resolved, and those by words, metadata and trust met by the ledger.

        Partitions and the vector index have no columns for them.
        """
        found = self.resolved(filters, user_id)
        if all(map(in_columns, found.conditions())):
            return found
        met = _among(found, frozenset(self._ledger.ids(user_id, found)))
        return met.model_copy(update={name: getattr(NO_FILTERS, name) for name in _BY_LEDGER})


def _among(filters: Filters, ids: frozenset[str]) -> Filters:
    kept = ids if filters.ids is None else filters.ids & ids
    return filters.model_copy(update={"ids": kept})
