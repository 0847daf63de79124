"""Synchronisation of the vector index with the ledger; answers queries even without an index.

The index is derived: each change of a memory marks it in the ledger as one that the index lacks,
until its present state has been written to the index. The number of changes that an index has
reached is noted in the ledger and beside the index, if it has a place for it, so that an older copy
is told. An index that is damaged, or breaks, is set aside and filled again from the vectors in the
ledger, without embedding anything. One that merely can't be reached is kept and tried again.
Meanwhile queries are answered by scanning the ledger.
"""

from __future__ import annotations

import heapq
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar, runtime_checkable

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.conditions import in_columns
from semantic_memory.domain.errors import (
    IndexBrokenError,
    IndexBusyError,
    IndexUnavailableError,
    StoreClosedError,
)
from semantic_memory.domain.events import Event, IndexSetAside, IndexSynced, WorkerFailed
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.ports import (
    Census,
    IndexEntry,
    KeyValues,
    Match,
    Outbox,
    Progress,
    SyncFeed,
    VectorIndex,
)
from semantic_memory.vectors.home import STATE, IndexHome, RetentiveHome, state
from semantic_memory.vectors.keeper import scan

_BATCH = 256
_FILLED_AT_ONCE = 1_000
_ATTEMPTS = 3
_MOST_LACKED = 1_000  # of a user's memories, that a query looks up besides asking the index

T = TypeVar("T")


class SyncLedger(SyncFeed, Census, KeyValues, Protocol):
    """The roles of the ledger that an `IndexKeeper` uses."""


@runtime_checkable
class SeparatingIndex(VectorIndex, Protocol):
    """A `VectorIndex` that can hold a large user apart from the others."""

    copies: bool
    """True if what it holds of the user is written again, False if it is only indexed."""

    def owns(self, user_id: str) -> bool:
        """Return True if a user is held apart."""
        ...

    def own(self, user_id: str) -> None:
        """Hold a user apart from now on."""
        ...


@runtime_checkable
class FillingIndex(VectorIndex, Protocol):
    """A `VectorIndex` that writes faster if it needn't answer queries meanwhile."""

    def fill(self, entries: Sequence[IndexEntry]) -> None:
        """Insert or replace memories, as `upsert` does, while nobody queries."""
        ...


class IndexKeeper:
    """Follows the ledger with an index that it opens when there is something to do. Thread-safe.

    A user who is searched, or has more than `own_at` memories, is held apart by an index that can.
    """

    def __init__(
        self,
        home: IndexHome,
        ledger: SyncLedger,
        observe: Callable[[Event], None],
        own_at: int,
        lags: Callable[[], None],
    ) -> None:
        """Call `lags` whenever a query finds that `sync` has something to do."""
        self._home = home
        self._ledger = ledger
        self._observe = observe
        self._own_at = own_at
        self._lags = lags
        self._lock = threading.Lock()  # of all that opens, writes to, or closes the index
        self._closed = False
        # Replaced under the lock and read by queries, which never wait for it:
        self._index: VectorIndex | None = None
        self._level = False  # whether it has been level with the ledger since it was opened
        # Without a generation there is no index to continue with.
        kept = ledger.meta(STATE)
        self._generation, self._position = _read(kept, home.name)
        self._is_given_up = kept is not None and not self._generation
        # Left by queries for the next sync:
        self._asked_about: set[str] = set()
        self._failed: tuple[VectorIndex | None, IndexBrokenError | IndexUnavailableError] | None
        self._failed = None
        self._apart: set[str] = set()

    def inspect(self) -> None:
        """Look for plain damage without opening the index; the next `sync` sets it aside."""
        if self._position and (why := self._home.damage(self._generation)):
            self._failed = None, IndexBrokenError(why)

    @property
    def name(self) -> str:
        """The index in one word: its home's name."""
        return self._home.name

    @property
    def behind(self) -> int:
        """Number of memories that `sync` has to bring in; 1 if it has something else to do."""
        missing = self._ledger.count_unindexed() if self._generation else self._ledger.count()
        waits = self._failed is not None or (self._index is None and bool(self._asked_about))
        given_up = self._is_given_up or (not self._generation and bool(self._home.position()))
        return max(missing, int(waits or given_up))

    def sync(self, progress: Progress | None = None) -> None:
        """Bring the index level with the ledger, setting it aside and refilling it if it is broken.

        Raises IndexBrokenError when it breaks again and again, IndexUnavailableError if it can't be
        reached at present.
        """
        self._mending(lambda: self._drain(progress))

    def reset(self) -> None:
        """Give the index up; the next `sync` empties and fills it. Raises StoreClosedError."""
        with self._lock:
            self._refuse_if_closed()
            self._begin_anew()

    def purge(self) -> None:
        """Delete an index that keeps the text of deleted memories; the next `sync` fills it.

        Raises StoreClosedError, and IndexUnavailableError if it can't be deleted at present.
        """
        if isinstance(self._home, RetentiveHome):
            with self._lock:
                self._refuse_if_closed()
                self._begin_anew()
                self._home.erase()
            self._lags()

    def rebuild(self, progress: Progress | None = None) -> int:
        """Empty the index and fill it again; return how many memories it then holds.

        Raises StoreClosedError, and what `sync` raises.
        """
        self.reset()

        def fill() -> int:
            self._drain(progress)
            return self._opened().count()

        return self._mending(fill)

    def differences(self) -> tuple[set[str], set[str]]:
        """Sync, then return the ids that the index lacks, and those that only it has.

        Memories that change meanwhile are left out.
        """

        def compare() -> tuple[set[str], set[str]]:
            self._drain(None)
            held = self._opened().ids()
            wanted = self._ledger.embedded_ids()
            if held == wanted:
                return set(), set()
            changed = self._ledger.unindexed(_MOST_LACKED)
            return wanted - held - changed, held - wanted - changed

        return self._mending(compare)

    def query(
        self, vector: Matrix, *, user_id: str, limit: int, filters: Filters = NO_FILTERS
    ) -> list[Match]:
        """Return the nearest memories, those just written included.

        Asks the index if it is open, level and free, else scans the ledger; filters that the index
        has no columns for are the ledger's too.
        """
        if user_id not in self._asked_about:
            self._asked_about.add(user_id)
            self._lags()
        generation, index = self._generation, self._index
        indexed = all(map(in_columns, filters.conditions()))
        if index is not None and self._level and indexed:
            try:
                found = self._ask(index, vector, user_id, limit, filters)
            except IndexBusyError:
                pass
            except (IndexBrokenError, IndexUnavailableError) as error:
                self._failed = index, error
                self._lags()
            else:
                if found is not None and self._generation == generation:  # not emptied meanwhile
                    return found
        return scan(self._ledger, vector, user_id, limit, filters)

    def close(self) -> None:
        """Close the index, after the operation under way."""
        self._closed = True
        with self._lock:
            index, error = self._failed or (None, None)
            broken = isinstance(error, IndexBrokenError) and index is self._index
            if broken and not self._follow():
                self._begin_anew()  # at the next opening
                self._observe(IndexSetAside(str(error), kept_at=None))
            self._let_go()
            self._home.close()

    # ---------------------------------------------------------------- asking

    def _ask(
        self,
        index: VectorIndex,
        vector: Matrix,
        user_id: str,
        limit: int,
        filters: Filters,
    ) -> list[Match] | None:
        """Return the matches of an index and of what it is missing; None if that is too much."""
        lacked = self._ledger.unindexed(_MOST_LACKED, user_id)
        if len(lacked) == _MOST_LACKED:
            return None
        found = index.query(vector, user_id=user_id, limit=limit + len(lacked), filters=filters)
        best = {match.id: match for match in found if match.id not in lacked}
        if lacked:
            fresh = scan(self._ledger, vector, user_id, limit, filters, lacked)
            best.update((match.id, match) for match in fresh)
        return heapq.nlargest(limit, best.values(), key=lambda match: match.similarity)

    # ---------------------------------------------------------------- under the lock

    def _mending(self, action: Callable[[], T]) -> T:
        """Run `action` on the index, again with a new one each time the index breaks."""
        attempt = 0
        with self._lock:
            while True:
                attempt += 1
                try:
                    return action()
                except IndexBrokenError as error:
                    if not self._follow():
                        self._set_aside(str(error))
                    if attempt == _ATTEMPTS:
                        raise
                except IndexUnavailableError as error:
                    opened = self._index is not None
                    self._let_go()
                    if not opened or attempt == _ATTEMPTS:
                        raise
                    self._observe(WorkerFailed("index", str(error), retry_seconds=0.0))

    def _drain(self, progress: Progress | None) -> None:
        start = time.perf_counter()
        upserted = deleted = 0
        self._refuse_if_closed()
        self._follow()
        failed, self._failed = self._failed, None
        if failed is not None and failed[0] is self._index:
            raise failed[1]
        if self._asked_about or self.behind:
            self._opened()
        target = self._ledger.count_unindexed()  # who writes on, holds up nobody
        done = 0
        late: set[str] = set()
        while done < target and not self._closed:
            index = self._opened()
            batch = self._ledger.outbox(_BATCH if self._level else _FILLED_AT_ONCE)
            if not batch.taken:
                break
            users = {entry.fact.user_id for entry in batch.entries}
            if isinstance(index, SeparatingIndex) and not index.copies:
                late |= users
            else:  # before anything is written, as what is moved is written twice
                self._hold_apart(users, self._own_at)
                self._hold_apart(users & self._asked_about.copy(), 0)
            if batch.entries:
                self._write(index, batch.entries)
            if batch.removed:
                index.delete(batch.removed)
            self._reach(batch)
            done += len(batch.taken)
            upserted += len(batch.entries)
            deleted += len(batch.removed)
            if progress:
                progress("indexing", min(done, target), target)
        self._hold_apart(late, self._own_at)
        self._hold_apart(self._asked_about.copy(), 0)
        self._level = self._index is not None
        if upserted or deleted:
            self._observe(IndexSynced(upserted, deleted, time.perf_counter() - start))

    def _write(self, index: VectorIndex, entries: Sequence[IndexEntry]) -> None:
        if isinstance(index, FillingIndex) and not self._level:  # the ledger answers until then
            index.fill(entries)
        else:
            index.upsert(entries)

    def _hold_apart(self, users: set[str], above: int) -> None:
        if not isinstance(self._index, SeparatingIndex):
            return
        for user_id in users - self._apart:
            if self._ledger.count(user_id) > above:
                if not self._index.owns(user_id):
                    self._index.own(user_id)
                self._apart.add(user_id)

    def _opened(self) -> VectorIndex:
        self._refuse_if_closed()
        if self._index is None:
            if self._is_older_copy():
                self._observe(IndexSetAside("it is an older copy", kept_at=None))
                self._generation = ""
            if not self._generation:
                self._home.empty()
                self._generation, self._position = uuid.uuid4().hex, 0
                self._is_given_up = False
                self._ledger.unindex(STATE, self._state())
            self._index = self._home.open(self._generation)
            self._resume(self._index)
        return self._index

    def _follow(self) -> bool:
        """Continue the filling that another process began; return False if there is none."""
        kept = self._ledger.meta(STATE)
        generation, self._position = _read(kept, self._home.name)
        if generation == self._generation:
            return False
        self._let_go()
        self._generation = generation
        self._is_given_up = kept is not None and not generation
        return True

    def _is_older_copy(self) -> bool:
        noted = self._home.position()
        return noted is not None and noted < self._position

    def _resume(self, index: VectorIndex) -> None:
        """Continue with an index as it is. Raises IndexBrokenError if it is impossible."""
        for _ in range(_ATTEMPTS):  # others may write meanwhile
            least, most = self._ledger.held()
            if least <= (held := index.count()) <= most:
                return
        raise IndexBrokenError(f"it holds {held} memories instead of {least}")

    def _let_go(self) -> None:
        """Let go of the index; its home closes it."""
        self._level = False
        self._index = None
        self._apart.clear()

    def _set_aside(self, reason: str) -> None:
        self._let_go()
        kept = self._home.set_aside()
        self._begin_anew()
        self._observe(IndexSetAside(reason, kept_at=None if kept is None else str(kept)))

    def _begin_anew(self) -> None:
        self._let_go()
        self._generation, self._position = "", 0
        self._is_given_up = True
        self._ledger.set_meta(STATE, self._state())

    def _reach(self, batch: Outbox) -> None:
        # The index first: one that notes less than the ledger is sure to be an older copy.
        self._home.note(batch.changes)
        was = self._state()
        self._position = batch.changes
        if not self._ledger.note_indexed(batch.taken, STATE, was, self._state()):
            self._follow()

    def _state(self) -> str:
        return state(self._home.name, self._generation, self._position)

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise StoreClosedError("this memory has been closed")


def _read(kept: str | None, name: str) -> tuple[str, int]:
    """Return generation and position of the index that followed last, if it has this name."""
    last, generation, position = (kept or state(name)).split(" ")
    return (generation, int(position)) if last == name else ("", 0)
