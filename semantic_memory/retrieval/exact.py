"""The exact scan that stands in front of Chroma.

Measured: one user's 1,000 vectors are scanned in 0.2 ms, with any filter; Chroma takes 80 ms for a
filtered query over 100,000. So whoever fits is answered from RAM, and only a user who has outgrown
it is asked of Chroma.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.ports import Ledger, Match, VectorSearch
from semantic_memory.retrieval.order import top
from semantic_memory.retrieval.partition import Partition

_LOADED_AT_ONCE = 500  # memories; what comes from the ledger takes 15 KB each for a moment


class ExactIndex:
    """A `VectorSearch` over partitions in RAM, which follow the ledger.

    Holds the partitions used last within `budget_bytes`. A user with more than `limit` memories, or
    who would take all of the budget alone, has outgrown it and is passed on to the index behind.
    Thread-safe.
    """

    def __init__(
        self, ledger: Ledger, behind: VectorSearch, *, budget_bytes: int, limit: int
    ) -> None:
        self._ledger = ledger
        self._behind = behind
        self._budget = budget_bytes
        self._limit = limit
        self._guard = threading.Lock()
        self._partitions: OrderedDict[str, Partition] = OrderedDict()
        self._sizes: dict[str, int] = {}
        self._outgrown: set[str] = set()

    @contextmanager
    def partition(self, user_id: str) -> Iterator[Partition | None]:
        """The user's partition, level with the ledger and held still; None if outgrown."""
        partition = self._find(user_id)
        if partition is None:
            yield None
            return
        with partition.lock:
            while partition.revision < self._ledger.revision(user_id):
                partition.apply(self._ledger.delta(user_id, partition.revision, _LOADED_AT_ONCE))
            yield partition
        self._weigh(user_id, partition)

    def query(
        self, vector: Matrix, *, user_id: str, limit: int, filters: Filters = NO_FILTERS
    ) -> list[Match]:
        """The nearest memories, exactly; those of an outgrown user by the index behind."""
        with self.partition(user_id) as partition:
            if partition is not None:
                scores = partition.dense(vector)
                rows = np.flatnonzero(partition.admitted(filters) & partition.columns["embedded"])
                best = rows[top(scores[rows], limit)]
                return [Match(partition.ids[row], float(scores[row])) for row in best]
        return self._behind.query(vector, user_id=user_id, limit=limit, filters=filters)

    def _find(self, user_id: str) -> Partition | None:
        with self._guard:
            if user_id in self._outgrown:
                return None
            worn = self._partitions.get(user_id)
            if worn is not None and not worn.wasteful:
                self._partitions.move_to_end(user_id)
                return worn
        number, size = self._ledger.footprint(user_id)
        with self._guard:
            if number > self._limit or size > self._budget:
                self._outgrow(user_id)
                return None
            if not number:
                return Partition()  # not kept: anybody can make up user ids
            held = self._partitions.get(user_id)
            if held is None or held is worn:  # nobody was faster
                held = self._partitions[user_id] = Partition()
            return held

    def _weigh(self, user_id: str, partition: Partition) -> None:
        """Note the size of a partition that may have grown, and drop what is over the budget."""
        with self._guard:
            if self._partitions.get(user_id) is not partition:
                return
            size = partition.nbytes
            if size > self._budget:
                self._outgrow(user_id)
            elif len(partition) > self._limit:
                self._drop(user_id)  # dead rows count too; loading it anew tells
            else:
                self._sizes[user_id] = size
            while sum(self._sizes.values()) > self._budget:
                self._drop(next(iter(self._partitions)))

    def _outgrow(self, user_id: str) -> None:
        self._outgrown.add(user_id)
        self._drop(user_id)

    def _drop(self, user_id: str) -> None:
        self._partitions.pop(user_id, None)
        self._sizes.pop(user_id, None)
