"""Extract facts through a provider's batch API: half the price, within a day.

    stretches -> note in the ledger -> submitted -> ... -> facts and cursor, stretch by stretch

The note is written before anything is sent, with a token by which the batch is found again, so a
process that is cut off anywhere continues with the batch under way and pays for none twice. So does
another process; the note is replaced only by who has read it as it stands. Answers are committed
like any other extraction; a stretch that was extracted already, or reads differently by now, is
passed over.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import islice

from pydantic import Field

from ingest.extract.openai_batch import (
    NOTHING_SENT,
    BatchGoneError,
    BatchState,
    OpenAIBatch,
)
from semantic_memory.domain.errors import ConcurrentUpdateError, ProviderError
from semantic_memory.domain.events import Event, ExtractionBatched
from semantic_memory.domain.extraction import Conversation, Extraction
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.ports import Ledger
from semantic_memory.domain.values import Value, derived_id, new_id
from semantic_memory.llm.spending import charged_to
from semantic_memory.pipeline.extraction import Committer
from semantic_memory.pipeline.reading import Stretch, StretchReader
from semantic_memory.pipeline.stage import BATCH, EXTRACT, WHOLE, Hint, Outlook, Whole

_NOTE = "extraction batch"  # key in the ledger's meta
_MOST_REQUESTS = 20_000  # the API takes 50,000
_MOST_CHARACTERS = 20_000_000  # the API takes 200 MB


class _Place(Value):
    """A stretch that a batch extracts."""

    user_id: str
    session_id: str
    end: int
    """Position behind its last message."""

    @property
    def key(self) -> SessionKey:
        """The session."""
        return SessionKey(self.user_id, self.session_id)


class _Note(Value):
    """A batch that is under way, or about to be."""

    token: str
    batch_id: str | None = None
    places: dict[str, _Place] = Field(default_factory=dict)
    """By name of the request, the stretches of a session in order."""


class BatchExtracting:
    """Stage that submits waiting messages to a batch API, polls it, and commits its answers.

    Unless `alone`, it submits nothing and only takes the batch that an import has left under way.
    """

    name = BATCH

    def __init__(
        self,
        ledger: Ledger,
        batch: OpenAIBatch,
        stretches: StretchReader,
        committer: Committer,
        observe: Callable[[Event], None],
        hint: Hint,
        *,
        alone: bool,
        poll_seconds: float,
    ) -> None:
        self._ledger = ledger
        self._batch = batch
        self._stretches = stretches
        self._committer = committer
        self._observe = observe
        self._hint = hint
        self._alone = alone
        self._poll_seconds = poll_seconds
        self._done = 0
        self._stored = ""
        self._note: _Note | None = None
        self._read()

    def holds(self, key: SessionKey) -> bool:
        """Tell whether the batch under way extracts a session."""
        note = self._note
        return note is not None and any(place.key == key for place in note.places.values())

    def pending(self) -> Iterator[Whole]:
        """Yield `WHOLE` if a batch is under way, or is to be submitted."""
        self._read()
        if self._note is not None or (self._alone and next(self._stretches.sessions(), None)):
            yield WHOLE

    def run(self, item: Whole) -> float | None:
        """Submit a batch, or look at the one under way. Raises ProviderError."""
        del item
        self._read()
        if self._note is None:
            return 0.0 if self._alone and self._submit() else None
        try:
            state = self._look(self._note)
        except ProviderError as error:
            self._observe(ExtractionBatched(self._batch_id, "failed", 0, str(error)))
            raise
        if state is None:
            return 0.0
        if state.working:
            self._done = state.done
            return self._poll_seconds
        if self._alone and not state.complete:
            raise ProviderError("the batch ended before all of it was read")
        return 0.0

    def outlook(self) -> Outlook:
        """Count the stretches that wait for their answers."""
        places = len(self._note.places) if self._note else 0
        return Outlook("waiting for the batch", places - self._done)

    @property
    def _batch_id(self) -> str:
        return (self._note and self._note.batch_id) or ""

    def _look(self, note: _Note) -> BatchState | None:
        """Return the state of the batch under way, and take it if it has ended.

        Returns None if it turns out that it was never submitted.
        """
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
            number = self._take(note, state)
            self._write(None)
        except BatchGoneError:
            self._write(None)  # so that its sessions are extracted again
            raise
        self._observe(ExtractionBatched(note.batch_id, "taken", number))
        return state

    def _take(self, note: _Note, state: BatchState) -> int:
        """Commit what a batch found; returns in how many stretches."""
        answers = self._batch.answers(state)
        number = 0
        for name, place in note.places.items():
            start = time.perf_counter()
            stretch = self._stretches.until(place.key, place.end)
            if stretch is None or name != _name(stretch):
                continue  # extracted already, or forgotten in part
            if not stretch.conversation.spoken.messages:
                found = Extraction(decided=True)
            elif name in answers or state.complete:
                with charged_to(place.user_id):
                    found = self._batch.read(answers.get(name), stretch.conversation)
            else:
                continue
            number += self._committer.commit(stretch, found, start)
        return number

    def _submit(self) -> bool:
        """Submit what waits, or as much as a batch may hold; tell whether there was anything."""
        places: dict[str, _Place] = {}
        requests: dict[str, Conversation] = {}
        for stretch in islice(self._waiting(), _MOST_REQUESTS):
            name = _name(stretch)
            end = stretch.portion.records[-1].position + 1
            places[name] = _Place(**stretch.key._asdict(), end=end)
            if stretch.conversation.spoken.messages:
                requests[name] = stretch.conversation
        note = _Note(token=new_id(), places=places)
        if not requests:
            self._take(note, NOTHING_SENT)
            return False
        self._write(note)
        batch_id = self._batch.submit(requests, note.token)
        self._write(note.model_copy(update={"batch_id": batch_id}))
        self._observe(ExtractionBatched(batch_id, "submitted", len(requests)))
        return True

    def _waiting(self) -> Iterator[Stretch]:
        """Yield the stretches that wait, as many as a batch takes."""
        characters = 0
        for key in list(self._stretches.sessions()):
            for stretch in self._stretches.all(key):
                characters += sum(len(one.message.content) for one in stretch.portion.records)
                yield stretch
                if characters >= _MOST_CHARACTERS:
                    return

    def _read(self) -> None:
        """Read the note again if another process has written it."""
        stored = self._ledger.meta(_NOTE) or ""
        if stored != self._stored:
            self._stored, self._done = stored, 0
            self._note = _Note.model_validate_json(stored) if stored else None

    def _write(self, note: _Note | None) -> None:
        """Write the note. Raises ConcurrentUpdateError if another process has written it."""
        text = note.model_dump_json() if note else ""
        with self._ledger.exclusive(_NOTE):  # the name of no user, but of what is kept
            if (self._ledger.meta(_NOTE) or "") != self._stored:
                raise ConcurrentUpdateError(
                    "another process went on with the extraction batch: nothing was changed"
                )
            self._ledger.set_meta(_NOTE, text)
        before, self._note, self._stored, self._done = self._note, note, text, 0
        if note is None and before is not None:
            for key in {place.key for place in before.places.values()}:
                self._hint(EXTRACT, key)


def _name(stretch: Stretch) -> str:
    """Name a request after its stretch and what is extracted from it."""
    ids = [record.message.id for record in stretch.portion.records]
    return derived_id(*stretch.key, *ids, *(message.id for message in stretch.messages))
