"""Reads what waits through a provider's batch API: half the price, within a day.

    what waits -> noted in the ledger -> submitted -> ... -> facts and cursor, stretch by stretch

The note is written before anything is sent, with a token by which the batch is found again, so that
whoever is cut off anywhere goes on with the batch that is under way and pays for none twice. What
comes back is kept like any other extraction, in one transaction with the cursor: a stretch that was
kept already, or reads differently by now, is passed over.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice, takewhile

from pydantic import Field

from ingest.extract.openai_batch import (
    NOTHING_SENT,
    BatchGoneError,
    BatchState,
    OpenAIBatch,
    Stretch,
)
from ingest.extract.prompt import spoken
from ingest.session_log import Record
from semantic_memory.domain.errors import ProviderError
from semantic_memory.domain.events import Event, ExtractionBatched
from semantic_memory.domain.extraction import Extraction
from semantic_memory.domain.messages import Message, SessionKey
from semantic_memory.domain.ports import Ledger, Progress
from semantic_memory.domain.values import Value, derived_id, new_id
from semantic_memory.pipeline.extraction import Reading

_NOTE = "extraction batch"  # key in the ledger's meta
_MOST_REQUESTS = 20_000  # the API takes 50,000
_MOST_CHARACTERS = 20_000_000  # the API takes 200 MB
_STEP = "waiting for the batch"


class _Place(Value):
    """A stretch of a session that is being read."""

    user_id: str
    session_id: str
    end: int
    """The position behind its last message."""

    @property
    def key(self) -> SessionKey:
        """The session's key."""
        return SessionKey(self.user_id, self.session_id)


class _Note(Value):
    """A batch that is under way, or about to be."""

    token: str
    batch_id: str | None = None
    places: dict[str, _Place] = Field(default_factory=dict)
    """By the name of the request, sessions in order."""


class Batching:
    """Submits stretches, waits, and takes what comes back. Thread-safe."""

    def __init__(
        self,
        reading: Reading,
        ledger: Ledger,
        batch: OpenAIBatch,
        observe: Callable[[Event], None],
        *,
        alone: bool,
        poll_seconds: float,
    ) -> None:
        self._reading = reading
        self._ledger = ledger
        self._batch = batch
        self._observe = observe
        self.alone = alone
        """Nothing is read but by batch."""
        self._poll_seconds = poll_seconds
        self._next_look = time.monotonic()
        self._lock = threading.Lock()
        self._ending = threading.Event()
        stored = ledger.meta(_NOTE)
        self._note = _Note.model_validate_json(stored) if stored else None
        self._hold()

    def read_all(self, changed: Callable[[str], None], progress: Progress | None) -> list[str]:
        """Read everything that waits; returns what went wrong.

        It may take a day. What an earlier process has submitted is waited for first.
        """
        try:
            while (complete := self._collected(changed, progress)) and self._submit(changed):
                pass
        except ProviderError as error:
            return [str(error)]
        if complete or self._ending.is_set():
            return []
        return ["the batch ended before all of it was read"]

    def step(self, changed: Callable[[str], None]) -> float | None:
        """Take what a batch under way has brought; returns the seconds until the next look."""
        if self._note is None:
            return None
        if (wait := self._next_look - time.monotonic()) > 0:
            return wait
        self._next_look = time.monotonic() + self._poll_seconds
        try:
            with self._lock:
                self._look(changed)
        except ProviderError as error:
            batch_id = self._note and self._note.batch_id
            self._observe(ExtractionBatched(batch_id or "", "failed", 0, str(error)))
        return None if self._note is None else self._poll_seconds

    def end(self) -> None:
        """Wait no longer; the batch goes on without."""
        self._ending.set()

    def _collected(self, changed: Callable[[str], None], progress: Progress | None) -> bool:
        """Wait for the batch under way, if any, and take it; whether all of it was tried."""
        while not self._ending.is_set():
            with self._lock:
                state = self._look(changed)
            if state is None or not state.working:
                return state is None or state.complete
            if progress:
                progress(_STEP, state.done, state.total)
            self._ending.wait(self._poll_seconds)
        return False

    def _look(self, changed: Callable[[str], None]) -> BatchState | None:
        """How far the batch under way has come; takes it if it has ended."""
        if self._note is None:
            return None
        note = self._note
        if note.batch_id is None:  # cut off while it was being submitted
            note = note.model_copy(update={"batch_id": self._batch.find(note.token)})
            self._write(note if note.batch_id else None)
        if note.batch_id is None:
            return None
        try:
            state = self._batch.state(note.batch_id)
            if state.working:
                return state
            if state.error is not None:
                self._write(None)
                raise ProviderError(f"batch {note.batch_id} failed: {state.error}")
            with self._reading.lock:
                number = self._take(note, state, changed)
                self._write(None)
        except BatchGoneError:
            self._write(None)  # so that its sessions are read anew
            raise
        self._observe(ExtractionBatched(note.batch_id, "taken", number))
        return state

    def _take(self, note: _Note, state: BatchState, changed: Callable[[str], None]) -> int:
        """Keep what a batch found; returns in how many stretches."""
        waiting = {due.key: due for due in self._reading.queue.all()}
        answers = self._batch.answers(state)
        number = 0
        for name, place in note.places.items():
            start = time.perf_counter()
            records = self._unread(place)
            said = self._reading.readable(place.key, records)
            if name != _name(place.key, records, said):
                continue  # kept already, or forgotten in part
            known = self._reading.known(place.user_id, said)
            if not spoken(said):
                found = Extraction()
            elif name in answers or state.complete:
                found = self._batch.read(answers.get(name), Stretch(said, known))
            else:
                continue
            self._reading.take(place.key, records, said, known, found, changed, start)
            number += 1
        for key in {place.key for place in note.places.values()} & waiting.keys():
            if next(self._reading.stretches(key), None) is None:
                self._reading.queue.done(waiting[key])
        return number

    def _unread(self, place: _Place) -> list[Record]:
        unread = chain.from_iterable(self._reading.stretches(place.key))
        return list(takewhile(lambda record: record.position < place.end, unread))

    def _submit(self, changed: Callable[[str], None]) -> bool:
        """Submit what waits, or as much as a batch may hold; whether there was anything."""
        with self._lock, self._reading.lock:
            places: dict[str, _Place] = {}
            requests: dict[str, Stretch] = {}
            for key, records in islice(self._waiting(), _MOST_REQUESTS):
                said = self._reading.readable(key, records)
                name = _name(key, records, said)
                places[name] = _Place(**key._asdict(), end=records[-1].position + 1)
                if spoken(said):
                    known = self._reading.known(key.user_id, said)
                    requests[name] = Stretch(said, known)
            note = _Note(token=new_id(), places=places)
            if not requests:
                self._take(note, NOTHING_SENT, changed)
                return False
            self._write(note)
            batch_id = self._batch.submit(requests, note.token)
            self._write(note.model_copy(update={"batch_id": batch_id}))
        self._observe(ExtractionBatched(batch_id, "submitted", len(requests)))
        return True

    def _waiting(self) -> Iterator[tuple[SessionKey, list[Record]]]:
        """The stretches that wait, as many as a batch takes."""
        characters = 0
        for due in self._reading.queue.all():
            read = True
            for records in self._reading.stretches(due.key):
                read = False
                characters += sum(len(record.message.content) for record in records)
                yield due.key, records
                if characters >= _MOST_CHARACTERS:
                    return
            if read:
                self._reading.queue.done(due)

    def _write(self, note: _Note | None) -> None:
        self._ledger.set_meta(_NOTE, note.model_dump_json() if note else "")
        self._note = note
        self._hold()

    def _hold(self) -> None:
        """Keep the sessions that a batch reads from being read otherwise."""
        places = self._note.places.values() if self._note else ()
        self._reading.held = frozenset(place.key for place in places)


def _name(key: SessionKey, records: Sequence[Record], said: Sequence[Message]) -> str:
    """What a request is called: it follows from its stretch, and from what is read of it."""
    ids = [record.message.id for record in records]
    return derived_id(*key, *ids, *(message.id for message in said))
