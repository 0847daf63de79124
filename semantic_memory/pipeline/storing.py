"""Make a memory of every message in the session logs, found by its words at once."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from itertools import islice

from pydantic import ValidationError

from ingest.gate import Gate
from ingest.recalled import without_recalled
from semantic_memory.concurrency import reason
from semantic_memory.domain.changes import Add, Advance, Change
from semantic_memory.domain.errors import StoreError
from semantic_memory.domain.events import Event, ForgetRequested, MemoriesStored, WorkerFailed
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.logs import Record
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.ports import Clock, Ledger, SessionLog
from semantic_memory.pipeline.facts import verbatim, verbatim_id
from semantic_memory.pipeline.faults import FAULTS
from semantic_memory.pipeline.forget_requests import (
    Said,
    note_requests,
    read_requests,
    said_in,
)
from semantic_memory.pipeline.reading import Portion, PortionReader
from semantic_memory.pipeline.stage import STORE, WHOLE, Outlook, Whole

_BATCH = 256  # messages in a transaction; each transaction waits for the disk


class Storing:
    """Stage that takes messages from the logs into the ledger, several sessions a transaction.

    One session that can't be read, or whose messages can't be stored, holds up no other.
    """

    name = STORE

    def __init__(
        self,
        ledger: Ledger,
        log: SessionLog,
        reader: PortionReader,
        gate: Gate,
        clock: Clock,
        observe: Callable[[Event], None],
        stored: Callable[[Portion], None],
        *,
        reading: bool = False,
    ) -> None:
        """Report to `stored` every portion that has been committed.

        In a store that is opened for `reading`, what the logs have besides waits for another one.
        """
        self._reading = reading
        self._ledger = ledger
        self._log = log
        self._reader = reader
        self._gate = gate
        self._clock = clock
        self._observe = observe
        self._stored = stored
        self._guard = threading.Lock()
        self._waiting: dict[SessionKey, None] = {}
        self._under_way: dict[SessionKey, None] = {}
        self._looked_through = False

    def add(self, *keys: SessionKey) -> None:
        """Note that the logs of sessions have grown."""
        with self._guard:
            self._waiting.update(dict.fromkeys(keys))

    def pending(self) -> Iterator[Whole]:
        """Yield `WHOLE` if a log goes further than the ledger."""
        self._look()
        if self._waiting:
            yield WHOLE

    def run(self, item: Whole) -> None:
        """Store what waits. Raises StoreError once all that can be stored is."""
        del item
        with self._guard:
            waiting, self._waiting = self._waiting, {}
            self._under_way = waiting
        try:
            self.store(waiting)
        except BaseException:
            self.add(*waiting)  # of what is stored already, nothing is stored again
            raise
        finally:
            self._under_way = {}

    def store_user(self, user_id: str) -> None:
        """Store the waiting messages of one user, without waiting for others. Raises StoreError."""
        self._look()
        with self._guard:
            keys = [key for key in {**self._under_way, **self._waiting} if key.user_id == user_id]
        self.store(keys)  # what is stored twice at once is committed once

    def outlook(self) -> Outlook:
        """Count the sessions that wait."""
        return Outlook("storing", len(self._waiting))

    def store(self, keys: Iterable[SessionKey]) -> None:
        """Store the unstored messages of these sessions. Raises StoreError."""
        failure: StoreError | None = None
        waiting = deque(() if self._reading else keys)
        while waiting:
            portions: list[Portion] = []
            while waiting and sum(len(portion.records) for portion in portions) < _BATCH:
                key = waiting.popleft()
                try:
                    portion = self._reader.read(key, "stored", _first)
                except StoreError as error:
                    failure = error
                    self.add(key)
                    continue
                if portion is not None:
                    portions.append(portion)
            try:
                committed = self._commit(portions)
            except StoreError as error:
                failure = error
                self.add(*(portion.key for portion in portions))
                continue
            waiting.extend(
                portion.key
                for portion in portions
                if portion not in committed or len(portion.records) == _BATCH
            )
        if failure is not None:
            raise failure

    def _commit(self, portions: Sequence[Portion]) -> list[Portion]:
        """Make memories of messages in one transaction; returns the portions that still stood."""
        if not portions:
            return []
        start, now = time.perf_counter(), self._clock.now()
        memories = [self._memories(portion, now) for portion in portions]
        said = {one.key: _requests(one, self._said_before(one)) for one in portions}
        committed: list[Portion] = []
        changes: list[Change] = []
        with self._ledger.exclusive(*{portion.key.user_id for portion in portions}):
            for portion, made in zip(portions, memories, strict=True):
                if self._reader.stands(portion):
                    committed.append(portion)
                    changes += map(Add, made)
                    changes.append(Advance(portion.end))
                    before = partial(self._before, portion.key)
                    note_requests(self._ledger, portion.key, said[portion.key], before, now)
            self._ledger.apply(changes)
        if committed:
            number = sum(len(portion.records) for portion in committed)
            self._observe(MemoriesStored(number, time.perf_counter() - start))
        for portion in committed:
            for message_id, asked in said[portion.key].items():
                if not isinstance(asked, str):
                    scope, subject = asked.scope, asked.subject
                    self._observe(ForgetRequested(*portion.key, message_id, scope, subject))
            self._stored(portion)
        return committed

    def _before(self, key: SessionKey, message_id: str) -> str | None:
        """Return the user's message before another one."""
        before: str | None = None
        for record in self._log.read(*key):
            if record.message.id == message_id:
                return before
            if record.message.role == "user":
                before = record.message.id
        return None

    def _said_before(self, portion: Portion) -> str | None:
        """Return the message before a portion; None if no request waits for an answer."""
        key, last = portion.key, portion.start.message_id
        known = read_requests(self._ledger, key.user_id)
        if not any(one.state == "pending" and one.session_id == key.session_id for one in known):
            return None
        told = self._ledger.get([verbatim_id(key, last)]) if last else []
        return next((fact.content for fact in told), "")

    def _memories(self, portion: Portion, now: datetime) -> list[Fact]:
        made = (self._memory(portion.key, record, now) for record in portion.records)
        return [memory for memory in made if memory is not None]

    def _memory(self, key: SessionKey, record: Record, now: datetime) -> Fact | None:
        """Return the memory of a message; None if it only held recalled text, or can't have one."""
        try:
            message = without_recalled(record.message)
            if message is None:
                return None
            return verbatim(key, record, self._gate.screen(message), now)
        except FAULTS as error:  # it stays in the log, and keeps no other back
            step = f"the memory of message {record.message.id}"
            said = reason(error) if isinstance(error, ValidationError) else type(error).__name__
            self._observe(WorkerFailed(step, said, retry_seconds=0.0))
            return None

    def _look(self) -> None:
        """Look for sessions that an earlier process left, or another one of a shared log.

        Other logs are looked through once: only this process appends to them, and says so by `add`.
        """
        if self._reading or (self._looked_through and not self._log.shared):
            return
        self.add(*self._log.behind(lambda: self._ledger.cursors("stored")))
        self._looked_through = True


def _first(records: Iterator[Record]) -> list[Record]:
    return list(islice(records, _BATCH))


def _requests(portion: Portion, before: str | None) -> dict[str, Said]:
    """Return what the owner's messages of a portion say about forgetting, by message.

    Where several people speak, only who has no name, or that of the user, is the owner. `before` is
    the message before, if a request waits for an answer.
    """
    messages = [record.message for record in portion.records]
    names = {one.name for one in messages if one.role == "user"}
    owner = {None, portion.key.user_id} if len(names) > 1 else names
    found: dict[str, Said] = {}
    for message in messages:
        said = said_in(message, before or "") if message.name in owner else None
        if said is not None:
            found[message.id] = said
        if before is not None or said is not None:
            before = message.content
    return found
