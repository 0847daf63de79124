"""From what was said to what can be found: session log, ledger, vectors, facts.

`observe` returns once the session log has the messages on disk. Everything after that is done in
the background, in order, and can be cut off anywhere: each step writes its result and how far it
has come in one transaction, so it is done again or not at all. A step that fails holds up no other:
what can't be embedded is found by words, a session that can't be extracted waits for its next try.

    log -> ledger       each message a memory of category `conversation`, found by words at once
    ledger -> vectors   found by meaning too
    quiet session -> extractor -> gate -> facts -> duplicates merged, conflicts settled
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from pydantic import ValidationError

from ingest.gate import Gate
from ingest.recalled import without_recalled
from ingest.session_log import Record, SessionLog
from semantic_memory.concurrency import Calls, Worker, reason
from semantic_memory.consolidation.resolver import Resolver
from semantic_memory.domain.changes import Add, Advance, Change, Cursor, Stage
from semantic_memory.domain.errors import ProviderError, StoreClosedError, StoreError
from semantic_memory.domain.events import (
    BeliefsResolved,
    EmbeddingFailed,
    Event,
    LogNearlyFull,
    LogShortened,
    MemoriesStored,
    MessagesObserved,
    WorkerFailed,
)
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.messages import Message, Receipt, SessionKey, SessionOptions
from semantic_memory.domain.ports import Clock, Ledger, Progress
from semantic_memory.pipeline.embedding import Backlog
from semantic_memory.pipeline.extraction import Reading
from semantic_memory.pipeline.facts import behind, expendable, forgotten, verbatim
from semantic_memory.profile.rollup import Rollup
from semantic_memory.vectors.sync import IndexKeeper

if TYPE_CHECKING:
    from semantic_memory.pipeline.batch_extraction import (
        Batching,  # with openai, which takes long to import
    )

_STORE_BATCH = 256
_PATIENCE_SECONDS = 5.0
_GATHER_SECONDS = 5.0  # facts that come in within that time lead to one look at a profile
_PROFILING_SECONDS = 0.25  # at a time, and then again after gathering: searches go first
_NEARLY = 0.9
_GROWN = 0.1  # of its limit, by which a shortened log grows before it is shortened again
_FACTS = frozenset(Category) - {Category.CONVERSATION}


class Pipeline:
    """Takes messages in and carries them through. Thread-safe."""

    def __init__(
        self,
        ledger: Ledger,
        log: SessionLog,
        gate: Gate,
        backlog: Backlog,
        reading: Reading,
        batching: Batching | None,
        resolver: Resolver,
        rollup: Rollup,
        keeper: IndexKeeper,
        clock: Clock,
        observe: Callable[[Event], None],
        retry_seconds: float,
        most_log_bytes: int,
    ) -> None:
        self._ledger = ledger
        self._log = log
        self._gate = gate
        self._backlog = backlog
        self._reading = reading
        self._batching = batching
        self._resolver = resolver
        self._rollup = rollup
        self._keeper = keeper
        self._clock = clock
        self._observe = observe
        self._retry_seconds = retry_seconds
        self._most_log_bytes = most_log_bytes
        self._dirty: dict[SessionKey, None] = {}
        self._overlong: set[SessionKey] = set()  # sessions whose log has grown beyond its limit
        self._shortened: dict[SessionKey, int] = {}  # bytes after the last attempt
        self._unsettled: set[str] = set()  # users whose facts changed
        self._unprofiled: dict[str, None] = {}  # users whose facts have settled, first come first
        self._dirty_lock = threading.Lock()
        self._calls = Calls()
        self._working = threading.Lock()  # one carries at a time: the background or a flush
        self._profiling = threading.Lock()  # so that a flush waits for what the background derives
        self._reader: Worker | None = None
        self._ending = threading.Event()
        self._worker: Worker | None = None
        self._profiler: Worker | None = None

    def start(self) -> None:
        """Take up what an earlier process left, and carry on in the background from now on.

        What was said last is in the ledger when this returns, and found by words.
        """
        self._recover()
        self._store_dirty()
        done = {
            (cursor.user_id, cursor.session_id): cursor.position
            for cursor in self._ledger.cursors("extracted")
        }
        for cursor in self._ledger.cursors("stored"):
            key = SessionKey(cursor.user_id, cursor.session_id)
            if done.get(key, 0) < cursor.position:
                self._reading.queue.push(key, time.monotonic())
        self._unsettled.update(user.user_id for user in self._resolver.unsettled())
        self._unprofiled.update(dict.fromkeys(self._rollup.stale()))
        self._worker = Worker("ingest", self._step, self._observe)
        self._profiler = Worker("profiles", self._profile_some, self._observe, _GATHER_SECONDS)
        # Apart, because a model takes its time, and what is said meanwhile must be found.
        if self._batching is None or not self._batching.alone:
            self._reader = Worker("extraction", self._read, self._observe)
            self._reader.wake()
        self._worker.wake()
        self._profiler.wake()

    def observe(self, messages: Sequence[Message], user_id: str, session_id: str) -> Receipt:
        """Write messages to the session's log; they are on disk when this returns."""
        start = time.perf_counter()
        with self._calls.one():
            accepted = self._log.append(user_id, session_id, messages)
            if accepted:
                key = SessionKey(user_id, session_id)
                with self._dirty_lock:
                    self._dirty[key] = None
                due = self._reading.queue.push(key, time.monotonic(), accepted)
                self.wake()
                if due and self._reader is not None:
                    self._reader.wake()
        duplicates = len(messages) - accepted
        seconds = time.perf_counter() - start
        self._observe(MessagesObserved(user_id, session_id, accepted, duplicates, seconds))
        return Receipt(accepted=accepted, duplicates=duplicates, session_id=session_id)

    def wake(self, user_id: str | None = None) -> None:
        """Tell the background that there is something to do, for a user whose facts changed."""
        if user_id is not None:
            with self._dirty_lock:
                self._unsettled.add(user_id)
        if self._worker is not None:
            self._worker.wake()

    def flush(self, progress: Progress | None = None) -> None:
        """Carry everything observed so far all the way, and wait for it.

        Raises ProviderError, after everything else is done, if a model couldn't be reached; nothing
        is lost by it.
        """
        with self._calls.one():
            with self._working:
                self._store_dirty()
            if self._batching is not None and self._batching.alone:
                failures = self._batching.read_all(self.wake, progress)
            else:
                failures = self._reading.read_all(self.wake, progress)
            with self._working:
                failures += self._embed_all(progress)
                self._settle()
            self._profile(math.inf)
        self._keeper.sync(progress)
        self._refuse_if_ending()
        if failures:
            raise ProviderError(
                f"not everything could be done ({'; '.join(dict.fromkeys(failures))}); all messages"
                " are kept and found by their words, and the rest will be tried again"
            )

    def embed(self, progress: Progress | None = None) -> None:
        """Embed and index whatever waits for it. Raises ProviderError."""
        with self._calls.one(), self._working:
            failures = self._embed_all(progress)
        self._keeper.sync(progress)
        self._refuse_if_ending()
        if failures:
            raise ProviderError(failures[0])

    def sessions(self, user_id: str) -> list[str]:
        """Every session of a user, also one that was just begun."""
        self.store()
        return self._ledger.session_ids(user_id)

    def store(self) -> None:
        """Have a memory of every message that was observed so far."""
        with self._calls.one(), self._working:
            self._store_dirty()

    def forget_session(self, key: SessionKey) -> None:
        """Delete a session's log, so that nothing will be made of it any more."""
        with self._calls.one(), self._reading.lock, self._working:
            self._store_dirty()  # so that every message has a memory, which becomes its tombstone
            self._reading.queue.drop(key)
            self._log.remove(*key)
            self._shortened.pop(key, None)
            self._ledger.apply(
                [Advance(Cursor(*key, "stored")), Advance(Cursor(*key, "extracted"))]
            )
            self._reading.reset(key)

    def options(self, key: SessionKey) -> SessionOptions:
        """What is done otherwise with a session."""
        return self._reading.options(key)

    def configure(self, key: SessionKey, options: SessionOptions) -> None:
        """Do otherwise with a session from now on."""
        with self._calls.one():
            self._reading.configure(key, options)

    def compact_session(self, key: SessionKey) -> int:
        """Write a session's log anew without what was forgotten; returns the bytes freed."""
        with self._calls.one(), self._reading.lock, self._working:
            self._store_dirty()
            said = [record.message.id for record in self._log.read(*key)]
            return self._rewrite(key, forgotten(self._ledger, key, said))

    def _shorten(self, key: SessionKey) -> bool:
        """Bring a session's log down to half of what it may take, as far as it has been read.

        Half of what could be freed stays if that is enough to be below the limit: the longer a
        session, the more its forgotten ids take, and what was said last mustn't go for that.
        Returns whether enough of it has been read.
        """
        with self._calls.one(), self._reading.lock, self._working:
            self._store_dirty()
            size, half = self._log.size(*key), self._most_log_bytes // 2
            read = self._ledger.cursor(*key, "extracted")
            if size <= self._most_log_bytes:
                return True
            if read.offset < half:
                return False
            facts = self._ledger.find(
                key.user_id, Filters(categories=_FACTS, session_id=key.session_id)
            )
            worth = {
                message_id: fact.importance * fact.confidence
                for fact in sorted(facts, key=lambda fact: fact.importance * fact.confidence)
                for message_id in fact.message_ids
            }
            records = list(
                takewhile(lambda one: one.position < read.position, self._log.read(*key))
            )
            spare = sum(max(0, self._log.freed(record)) for record in records)
            least = max(size - self._most_log_bytes, min(size - half, spare // 2))
            gone = expendable(records, worth, least, self._log.freed)
            if gone:
                freed = self._rewrite(key, gone)
                self._observe(LogShortened(*key, len(gone), freed))
            self._shortened[key] = self._log.size(*key)
            return True

    def _rewrite(self, key: SessionKey, gone: Collection[str]) -> int:
        if not gone:
            return 0
        stages: tuple[Stage, Stage] = ("stored", "extracted")
        cursors = [self._ledger.cursor(*key, stage) for stage in stages]
        freed, moved = self._log.compact(*key, gone, cursors)
        self._ledger.apply([Advance(cursor) for cursor in moved])
        return freed

    def close(self) -> None:
        """End after the step under way; the next opening goes on from there."""
        self._ending.set()
        self._reading.end()
        if self._batching is not None:
            self._batching.end()
        self._calls.close()
        if self._worker is not None:
            self._worker.close()
        if self._profiler is not None:
            self._profiler.close()
        if self._reader is not None:
            # A model that is still thinking isn't waited for: its session is read again.
            self._reader.close(timeout=_PATIENCE_SECONDS)

    # ---------------------------------------------------------------- steps

    def _step(self) -> float | None:
        with self._working:
            self._store_dirty()
            failures = self._embed_all(None)
            self._settle()
        return self._retry_seconds if failures else None

    def _read(self) -> float | None:
        waits = [self._reading.step(self.wake)]
        with self._dirty_lock:
            overlong, self._overlong = self._overlong, set()
        unread = {key for key in overlong if not self._shorten(key)}
        if unread:
            with self._dirty_lock:
                self._overlong |= unread
            waits.append(self._retry_seconds)
        if self._batching is not None:  # what an import has left under way
            waits.append(self._batching.step(self.wake))
        return min((wait for wait in waits if wait is not None), default=None)

    def _recover(self) -> None:
        """Find the sessions whose log goes further than the ledger."""
        known = {
            self._log.path(cursor.user_id, cursor.session_id): cursor
            for cursor in self._ledger.cursors("stored")
        }
        for path, size in self._log.files():
            cursor = known.get(path)
            if cursor is None:
                key = self._log.identify(path)
            elif size != cursor.offset:
                key = SessionKey(cursor.user_id, cursor.session_id)
            else:
                continue
            if key is not None:
                self._dirty[key] = None

    def _store_dirty(self) -> None:
        """Take every session with something new into the ledger; one that fails keeps none back.

        Several go into one transaction, since each waits for the disk.
        """
        with self._dirty_lock:
            waiting, self._dirty = self._dirty, {}
        try:
            self._store_all(waiting)
        except BaseException:
            with self._dirty_lock:
                self._dirty.update(waiting)  # of what is stored already, nothing is stored again
            raise

    def _store_all(self, waiting: Collection[SessionKey]) -> None:
        failure: StoreError | None = None
        batch: list[tuple[SessionKey, list[Record]]] = []
        for key in waiting:
            try:
                for records in self._unstored(key):
                    batch.append((key, records))
                    if sum(len(records) for _, records in batch) >= _STORE_BATCH:
                        failure = self._store(batch) or failure
                        batch = []
            except StoreError as error:
                failure = error
                with self._dirty_lock:
                    self._dirty[key] = None
        failure = self._store(batch) or failure
        if failure is not None:
            raise failure

    def _unstored(self, key: SessionKey) -> Iterator[list[Record]]:
        records = self._log.read(*key, after=self._ledger.cursor(*key, "stored"))
        while batch := list(islice(records, _STORE_BATCH)):
            yield batch

    def _store(self, batch: Sequence[tuple[SessionKey, Sequence[Record]]]) -> StoreError | None:
        """Make memories of messages, in one transaction; returns why that failed."""
        start = time.perf_counter()
        now = self._clock.now()
        changes: list[Change] = []
        for key, records in batch:
            changes += [
                Add(memory)
                for record in records
                if (memory := self._memory(key, record, now)) is not None
            ]
            changes.append(Advance(behind(key, "stored", records[-1])))
        try:
            self._ledger.apply(changes)
        except StoreError as error:
            with self._dirty_lock:
                self._dirty.update(dict.fromkeys(key for key, _ in batch))
            return error
        if batch:
            number = sum(len(records) for _, records in batch)
            self._observe(MemoriesStored(number, time.perf_counter() - start))
        for key, records in batch:
            self._weigh(key, records[0].start, records[-1].end)
        return None

    def _memory(self, key: SessionKey, record: Record, now: datetime) -> Fact | None:
        """The memory of a message; None if it only held what was recalled, or can't have one."""
        said = without_recalled(record.message)
        if said is None:
            return None
        try:
            return verbatim(key, record, self._gate.screen(said), now)
        except ValidationError as error:  # it stays in the log, and keeps no other back
            step = f"the memory of message {record.message.id}"
            self._observe(WorkerFailed(step, reason(error), retry_seconds=0.0))
            return None

    def _weigh(self, key: SessionKey, before: int, size: int) -> None:
        """Warn of a log that nears its limit, and have one that is over it made shorter."""
        limit = self._most_log_bytes
        if before < _NEARLY * limit <= size:
            self._observe(LogNearlyFull(*key, size, limit))
        # What can't be brought far below its limit isn't written anew at every message.
        enough = self._shortened.get(key, 0) + _GROWN * limit
        if size > max(limit, enough) and self._reader is not None:
            with self._dirty_lock:
                self._overlong.add(key)
            self._reader.wake()

    def _embed_all(self, progress: Progress | None) -> list[str]:
        """Embed whatever waits for it; returns what went wrong."""
        done = 0
        total = self._ledger.count_unembedded() if progress else 0
        try:
            while not self._ending.is_set() and (number := self._backlog.work_off()):
                done += number
                if progress:
                    progress("embedding", done, max(done, total))
                self._store_dirty()  # what is said meanwhile is found by words without waiting
        except ProviderError as error:
            self._observe(EmbeddingFailed(str(error)))
            return [str(error)]
        finally:
            if done:
                self._keeper.wake()  # at the end: the index works best in large portions
        return []

    def _settle(self) -> None:
        """Merge and supersede what the facts of users that changed now make of each other."""
        with self._dirty_lock:
            users, self._unsettled = self._unsettled, set()
        for user_id in users:
            if self._ending.is_set():
                return  # the mark in the ledger says where to go on
            for user in self._resolver.unsettled(user_id):
                start = time.perf_counter()
                counts = self._resolver.settle(user).counts
                if counts:
                    seconds = time.perf_counter() - start
                    self._observe(BeliefsResolved(user_id, dict(counts), seconds))
                    self._keeper.wake()
            with self._dirty_lock:
                self._unprofiled[user_id] = None
        if users and self._profiler is not None:
            self._profiler.wake()

    def _profile_some(self) -> float | None:
        self._profile(time.monotonic() + _PROFILING_SECONDS)
        return 0.0 if self._unprofiled else None

    def _profile(self, until: float) -> None:
        """Derive the profiles and histories of users whose facts have settled, for a while."""
        with self._profiling:
            while time.monotonic() < until and not self._ending.is_set():
                with self._dirty_lock:
                    if not self._unprofiled:
                        return
                    user_id = next(iter(self._unprofiled))
                    del self._unprofiled[user_id]
                self._rollup.follow(user_id)  # if the end comes first, a mark says whose are left

    def _refuse_if_ending(self) -> None:
        if self._ending.is_set():
            raise StoreClosedError(
                "this memory was closed before everything was done; the rest is"
                " taken up when it is opened again"
            )
