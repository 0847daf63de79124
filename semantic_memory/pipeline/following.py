"""Stages that follow a user's facts: settle them, derive their profile, index and keep them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Protocol

from semantic_memory.consolidation.resolver import Resolver
from semantic_memory.domain.events import BeliefsResolved, Event, MemoryQuarantined
from semantic_memory.pipeline.faults import FAULTS
from semantic_memory.pipeline.stage import (
    CONSOLIDATE,
    INDEX,
    KEEP,
    PROFILE,
    WHOLE,
    Hint,
    Outlook,
    Whole,
)
from semantic_memory.profile.rollup import Rollup
from semantic_memory.vectors.keeper import Keeper


class Consolidating:
    """Stage that merges a user's duplicates and supersedes what no longer holds, by the rules."""

    name = CONSOLIDATE

    def __init__(self, resolver: Resolver, observe: Callable[[Event], None], hint: Hint) -> None:
        self._resolver = resolver
        self._observe = observe
        self._hint = hint

    def pending(self) -> Iterator[str]:
        """Yield the users with facts that haven't been settled."""
        return (user.user_id for user in self._resolver.unsettled())

    def run(self, item: str) -> None:
        """Settle what a user has new. Raises StoreError."""
        for user in self._resolver.unsettled(item):
            start = time.perf_counter()
            try:
                counts = self._resolver.settle(user).counts
            except FAULTS as error:
                unread = self._resolver.quarantine_unreadable(user, FAULTS)
                if not unread:
                    raise
                for fact_id in unread:
                    self._observe(MemoryQuarantined(item, fact_id, type(error).__name__))
                self._hint(CONSOLIDATE, item)
                continue
            if counts:
                self._observe(BeliefsResolved(item, dict(counts), time.perf_counter() - start))
                self._hint(INDEX, WHOLE)
        self._hint(PROFILE, item)

    def outlook(self) -> Outlook:
        """Count the users with facts that haven't been settled."""
        return Outlook("consolidating", len(self._resolver.unsettled()))


class Profiling:
    """Stage that keeps a user's profile and history level with their facts."""

    name = PROFILE

    def __init__(self, rollup: Rollup) -> None:
        self._rollup = rollup

    def pending(self) -> Iterator[str]:
        """Yield the users with changes since their profiles were derived."""
        return iter(self._rollup.stale())

    def run(self, item: str) -> None:
        """Derive a user's profile again if their facts changed."""
        self._rollup.follow(item)

    def outlook(self) -> Outlook:
        """Count the users with changes since their profiles were derived."""
        return Outlook("deriving profiles", len(self._rollup.stale()))


class Indexing:
    """Stage that brings the vector index level with the ledger."""

    name = INDEX

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper

    def pending(self) -> Iterator[Whole]:
        """Yield `WHOLE` if the index lacks a change."""
        if self._keeper.behind:
            yield WHOLE

    def run(self, item: Whole) -> None:
        """Bring the index level. Raises IndexBrokenError, IndexUnavailableError."""
        del item
        self._keeper.sync()

    def outlook(self) -> Outlook:
        """Count the changes that the index lacks."""
        return Outlook("indexing", self._keeper.behind)


class KeptPartitions(Protocol):
    """Partitions in RAM, and the files from which they are read."""

    @property
    def unkept(self) -> set[str]:
        """The users whose files lack many of their memories."""
        ...

    def keep(self, user_id: str) -> None:
        """Write the file of a user's partition, if it lacks many memories."""
        ...


class Keeping:
    """Stage that writes the files from which partitions are read."""

    name = KEEP

    def __init__(self, partitions: KeptPartitions) -> None:
        self._partitions = partitions

    def pending(self) -> Iterator[str]:
        """Yield the users whose files lack many of their memories."""
        return iter(self._partitions.unkept)

    def run(self, item: str) -> None:
        """Write a user's file. Raises StoreError."""
        self._partitions.keep(item)

    def outlook(self) -> Outlook:
        """Count the users whose files lack many of their memories."""
        return Outlook("keeping partitions", len(self._partitions.unkept))
