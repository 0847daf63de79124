"""Keeps the vector index level with the ledger, and the service alive whatever becomes of it.

The index is derived: how far it has come is one revision number, kept in the ledger. An index that
is damaged, or breaks, is set aside and filled again from the vectors in the ledger, which embeds
nothing; meanwhile queries are answered by scanning the ledger.
"""

from __future__ import annotations

import heapq
import shutil
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, runtime_checkable

from semantic_memory.background import Worker
from semantic_memory.changes import Matrix
from semantic_memory.errors import IndexBrokenError
from semantic_memory.events import Event, IndexSetAside, IndexSynced
from semantic_memory.index import seal
from semantic_memory.models import NO_FILTERS, Filters
from semantic_memory.ports import Ledger, Match, Progress, VectorIndex

_BATCH = 256
_ATTEMPTS = 3
_GATHER_SECONDS = 0.5  # what is written within it reaches the index together
_STATE = "index"  # key in the ledger's meta: "<generation> <revision>"


@runtime_checkable
class SeparatingIndex(VectorIndex, Protocol):
    """A `VectorIndex` that can hold a large user apart from the others."""

    def owns(self, user_id: str) -> bool:
        """Whether a user is held apart."""
        ...

    def own(self, user_id: str) -> None:
        """Hold a user apart from now on."""
        ...


class IndexKeeper:
    """Follows the ledger with an index that it opens when there is something to do. Thread-safe.

    `open_index` is given the name of the filling and raises IndexBrokenError if the index can't be
    used; its files lie in `directory`. A user with more than `own_at` memories is held apart, by an
    index that can.
    """

    def __init__(
        self,
        open_index: Callable[[str], VectorIndex],
        directory: Path,
        ledger: Ledger,
        observe: Callable[[Event], None],
        own_at: int,
    ) -> None:
        self._open_index = open_index
        self._directory = directory
        self._ledger = ledger
        self._observe = observe
        self._own_at = own_at
        self._lock = threading.Lock()  # of opening, syncing and closing; queries don't take it
        self._worker: Worker | None = None
        self._index: VectorIndex | None = None
        self._level = False  # whether it has been level with the ledger since it was opened
        self._wanted = False  # whether a query has asked for it
        self._closed = False
        generation, _, revision = (ledger.meta(_STATE) or "").partition(" ")
        self._generation, self._revision = generation, int(revision or 0)

    def follow(self) -> None:
        """Keep level from now on, in the background, whenever `wake` says that something changed.

        What is plainly damaged (files missing or of the wrong size) is set aside before this
        returns; digests are compared when the index is opened.
        """
        if self._revision:
            with self._lock:
                if seal.is_empty(self._directory):
                    self._set_aside("its directory is gone")
                elif reason := seal.damage(self._directory, self._generation, quick=True):
                    self._set_aside(reason)
        self._worker = Worker("index", self.sync, self._observe, gather_seconds=_GATHER_SECONDS)
        if self._revision < self._ledger.revision():
            self._worker.wake()

    def wake(self) -> None:
        """Tell the background that there is something to do."""
        if self._worker is not None:
            self._worker.wake()

    def sync(self, progress: Progress | None = None) -> None:
        """Bring the index level with the ledger, setting it aside and refilling it if it is broken.

        Raises IndexBrokenError when it breaks again and again.
        """
        with self._lock:
            for attempt in range(1, _ATTEMPTS + 1):
                try:
                    self._drain(progress)
                    return
                except IndexBrokenError as error:
                    self._set_aside(str(error))
                    if attempt == _ATTEMPTS:
                        raise

    def reset(self) -> None:
        """Throw the index away; the next `sync` fills it again."""
        with self._lock:
            self._discard()

    def rebuild(self, progress: Progress | None = None) -> int:
        """Throw the index away and fill it again; returns how many memories it then holds."""
        self.reset()
        self.sync(progress)
        with self._lock:
            return self._opened().count()

    def differences(self) -> tuple[set[str], set[str]]:
        """Ids that the index lacks, and ids it has too many; both empty once level."""
        self.sync()
        with self._lock:
            held = self._opened().ids()
        wanted = self._ledger.embedded_ids()
        return wanted - held, held - wanted

    def query(
        self, vector: Matrix, *, user_id: str, limit: int, filters: Filters = NO_FILTERS
    ) -> list[Match]:
        """The nearest memories: by the index if it is up and level, else by scanning the ledger."""
        index = self._index
        if index is not None and self._level:
            try:
                return index.query(vector, user_id=user_id, limit=limit, filters=filters)
            except IndexBrokenError as error:
                with self._lock:
                    if self._index is index:
                        self._set_aside(str(error))
        self._wanted = True
        self.wake()
        best: list[Match] = []
        for matches in self._ledger.similarities(vector, user_id, filters):
            best = heapq.nlargest(limit, [*best, *matches], key=lambda match: match.similarity)
        return best

    def close(self) -> None:
        """End the background and close the index, after what they are doing."""
        self._closed = True
        if self._worker is not None:
            self._worker.close()
        with self._lock:
            self._stop()

    # ---------------------------------------------------------------- under the lock

    def _drain(self, progress: Progress | None) -> None:
        start = time.perf_counter()
        first = self._revision
        upserted = deleted = 0
        if self._wanted and not self._closed:
            self._opened()
        while self._revision < self._ledger.revision() and not self._closed:
            index = self._opened()
            batch = self._ledger.outbox(self._revision, _BATCH)
            if batch.entries:
                index.upsert(batch.entries)
            if batch.removed:
                index.delete(batch.removed)
            self._reach(batch.revision)
            self._hold_apart({entry.fact.user_id for entry in batch.entries})
            upserted += len(batch.entries)
            deleted += len(batch.removed)
            if progress:
                progress("indexing", self._revision - first, self._ledger.revision() - first)
        self._level = self._index is not None
        if upserted or deleted:
            self._observe(IndexSynced(upserted, deleted, time.perf_counter() - start))

    def _hold_apart(self, users: set[str]) -> None:
        index = self._opened()
        if isinstance(index, SeparatingIndex):
            for user_id in users:
                if self._ledger.count(user_id) > self._own_at and not index.owns(user_id):
                    index.own(user_id)

    def _opened(self) -> VectorIndex:
        if self._index is None:
            if not self._generation:
                self._discard()
            self._index = self._open_index(self._generation)
            if self._revision and not self._index.count():
                self._observe(IndexSetAside("it has lost everything", kept_at=None))
                self._reach(0)
        return self._index

    def _stop(self) -> None:
        self._level = False
        index, self._index = self._index, None
        if index is not None:
            index.close()

    def _set_aside(self, reason: str) -> None:
        kept = self._directory.with_name(f"{self._directory.name}.broken")
        self._stop()
        shutil.rmtree(kept, ignore_errors=True)  # of several, the last is the one to look at
        if self._directory.exists():
            self._directory.rename(kept)
        self._discard()
        self._observe(IndexSetAside(reason, kept_at=str(kept) if kept.exists() else None))

    def _discard(self) -> None:
        self._stop()
        shutil.rmtree(self._directory, ignore_errors=True)
        self._generation = uuid.uuid4().hex
        self._reach(0)

    def _reach(self, revision: int) -> None:
        self._revision = revision
        self._ledger.set_meta(_STATE, f"{self._generation} {revision}")
