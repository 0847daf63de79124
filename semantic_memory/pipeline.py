"""From what was said to what can be found: session log, ledger, vectors, facts.

`observe` returns once the session log has the messages on disk. Everything after that is done in
the background, in order, and can be cut off anywhere: each step writes its result and how far it
has come in one transaction, so it is done again or not at all.

    log -> ledger       each message a memory of category `conversation`, found by words at once
    ledger -> vectors   found by meaning too
    quiet session -> extractor -> gate -> facts
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import islice

from ingest.gate import Gate
from ingest.queue import DebounceQueue
from ingest.recalled import extractable, without_recalled
from ingest.session_log import Record, SessionLog
from semantic_memory.background import Calls, Worker
from semantic_memory.beliefs import confirmed
from semantic_memory.changes import Add, Advance, Change, Cursor, Embed, Stage, Update
from semantic_memory.embedding.passages import embed_facts
from semantic_memory.errors import ProviderError
from semantic_memory.events import (
    Event,
    ExtractionFailed,
    FactsExtracted,
    MemoriesEmbedded,
    MemoriesStored,
    MessagesObserved,
)
from semantic_memory.index.keeper import IndexKeeper
from semantic_memory.models import (
    Candidate,
    Category,
    Fact,
    Filters,
    Message,
    Receipt,
    SessionKey,
    Source,
    derived_id,
    normalised,
)
from semantic_memory.ports import Clock, Embedder, Extractor, Ledger, Progress
from semantic_memory.text import stems

_STORE_BATCH = 256
_EMBED_BATCH = 64
_EXTRACT_BATCH = 50
_KNOWN_FACTS = 20  # shown to the extractor
_KNOWN_TERMS = 200  # by which they are found; about 10 ms
_FACTS = Filters(categories=frozenset(Category) - {Category.CONVERSATION})
_STATE = "pipeline"  # key in the ledger's meta: "clean" after a close with nothing left to store


class Pipeline:
    """Takes messages in and carries them through. Thread-safe."""

    def __init__(
        self,
        ledger: Ledger,
        log: SessionLog,
        embedder: Embedder,
        extractor: Extractor,
        gate: Gate,
        queue: DebounceQueue,
        keeper: IndexKeeper,
        clock: Clock,
        observe: Callable[[Event], None],
    ) -> None:
        self._ledger = ledger
        self._log = log
        self._embedder = embedder
        self._extractor = extractor
        self._gate = gate
        self._queue = queue
        self._keeper = keeper
        self._clock = clock
        self._observe = observe
        self._dirty: dict[SessionKey, None] = {}
        self._dirty_lock = threading.Lock()
        self._calls = Calls()
        self._working = threading.Lock()  # one carries at a time: the background or a flush
        self._worker: Worker | None = None

    def start(self) -> None:
        """Take up what an earlier process left, and carry on in the background from now on."""
        if self._ledger.meta(_STATE) != "clean":
            self._recover()
            self._store_dirty()
        self._ledger.set_meta(_STATE, "open")
        extracted = {
            (cursor.user_id, cursor.session_id): cursor.position
            for cursor in self._ledger.cursors("extracted")
        }
        for cursor in self._ledger.cursors("stored"):
            key = SessionKey(cursor.user_id, cursor.session_id)
            if extracted.get(key, 0) < cursor.position:
                self._queue.push(key, time.monotonic())
        self._worker = Worker("ingest", self._step, self._observe)
        self._worker.wake()

    def observe(self, messages: Sequence[Message], user_id: str, session_id: str) -> Receipt:
        """Write messages to the session's log; they are on disk when this returns."""
        start = time.perf_counter()
        with self._calls.one():
            accepted = self._log.append(user_id, session_id, messages)
            if accepted:
                key = SessionKey(user_id, session_id)
                with self._dirty_lock:
                    self._dirty[key] = None
                self._queue.push(key, time.monotonic(), accepted)
                self.wake()
        duplicates = len(messages) - accepted
        seconds = time.perf_counter() - start
        self._observe(MessagesObserved(user_id, session_id, accepted, duplicates, seconds))
        return Receipt(accepted=accepted, duplicates=duplicates, session_id=session_id)

    def wake(self) -> None:
        """Tell the background that there is something to do."""
        if self._worker is not None:
            self._worker.wake()

    def flush(self, progress: Progress | None = None) -> None:
        """Carry everything observed so far all the way, and wait for it.

        Raises what a step raises; nothing is lost by it.
        """
        with self._calls.one(), self._working:
            self._store_dirty()
            sessions = self._queue.take_all()
            for number, key in enumerate(sessions, start=1):
                self._extract(key)
                if progress:
                    progress("extracting", number, len(sessions))
            self._embed_pending(progress)
        self._keeper.sync(progress)

    def close(self) -> None:
        """End the background after the step under way, leaving nothing that isn't in the ledger."""
        self._calls.close()
        if self._worker is not None:
            self._worker.close()
        with self._working:
            self._store_dirty()
            self._ledger.set_meta(_STATE, "clean")

    # ---------------------------------------------------------------- steps

    def _step(self) -> float | None:
        with self._working:
            self._store_dirty()
            self._embed_pending(None)
            for key in self._queue.take(time.monotonic()):
                self._extract(key)
            self._embed_pending(None)
        return self._queue.wait(time.monotonic())

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
            elif size > cursor.offset:
                key = SessionKey(cursor.user_id, cursor.session_id)
            else:
                continue
            if key is not None:
                self._dirty[key] = None

    def _store_dirty(self) -> None:
        while True:
            with self._dirty_lock:
                if not self._dirty:
                    return
                key = next(iter(self._dirty))
                del self._dirty[key]
            try:
                self._store(key)
            except BaseException:
                with self._dirty_lock:
                    self._dirty[key] = None
                raise

    def _store(self, key: SessionKey) -> None:
        start = time.perf_counter()
        cursor = self._ledger.cursor(*key, "stored")
        records = self._log.read(*key, position=cursor.position, offset=cursor.offset)
        while batch := list(islice(records, _STORE_BATCH)):
            now = self._clock.now()
            adds = [
                Add(_verbatim(key, record._replace(message=said), now))
                for record in batch
                if (said := without_recalled(record.message)) is not None
            ]
            self._ledger.apply([*adds, Advance(_behind(key, "stored", batch[-1]))])
            self._observe(MemoriesStored(len(batch), time.perf_counter() - start))

    def _embed_pending(self, progress: Progress | None) -> None:
        done = 0
        total = self._ledger.count_unembedded() if progress else 0
        while facts := self._ledger.unembedded(_EMBED_BATCH):
            start = time.perf_counter()
            vectors = embed_facts(self._embedder, facts)
            self._ledger.apply(
                [Embed(fact.id, fact.content, v) for fact, v in zip(facts, vectors, strict=True)]
            )
            self._keeper.wake()
            self._observe(MemoriesEmbedded(len(facts), time.perf_counter() - start))
            done += len(facts)
            if progress:
                progress("embedding", done, max(done, total))
            self._store_dirty()  # what is said meanwhile is found by words without waiting

    def _extract(self, key: SessionKey) -> None:
        cursor = self._ledger.cursor(*key, "extracted")
        records = self._log.read(*key, position=cursor.position, offset=cursor.offset)
        while batch := list(islice(records, _EXTRACT_BATCH)):
            start = time.perf_counter()
            messages = extractable([record.message for record in batch])
            try:
                found = self._extractor.extract(messages, self._known(key.user_id, messages))
            except ProviderError as error:
                self._queue.push(key, time.monotonic())
                self._observe(ExtractionFailed(*key, str(error)))
                return
            admitted, refused = self._gate.admit(found.candidates)
            refused.update(found.refused)
            with self._ledger.exclusive():
                changes = self._believed(key, batch, admitted)
                self._ledger.apply([*changes, Advance(_behind(key, "extracted", batch[-1]))])
            seconds = time.perf_counter() - start
            self._observe(FactsExtracted(*key, len(batch), len(admitted), refused, seconds))

    def _known(self, user_id: str, messages: Sequence[Message]) -> list[Fact]:
        """The user's facts that share most with the words that were said most."""
        said = Counter(stem for message in messages for stem in stems(message.content))
        terms = [term for term, _ in said.most_common(_KNOWN_TERMS)]
        matches = self._ledger.words(user_id, terms, limit=_KNOWN_FACTS, filters=_FACTS)
        return self._ledger.get([match.id for match in matches])

    def _believed(
        self, key: SessionKey, batch: Sequence[Record], candidates: Iterable[Candidate]
    ) -> list[Change]:
        """The changes that believing the candidates makes; what is known already is confirmed."""
        records = {record.message.id: record for record in batch}
        changes: dict[str, Change] = {}
        for candidate in candidates:
            fact = self._fact(key, candidate, records)
            same = normalised(fact.content)
            pending = changes.get(same)
            if isinstance(pending, Add):
                changes[same] = Add(confirmed(pending.fact, fact))
                continue
            known = (
                pending.fact
                if isinstance(pending, Update)
                else self._ledger.same_content(key.user_id, fact.content)
            )
            if known is None:
                changes[same] = Add(fact)
            elif (again := confirmed(known, fact)) != known:
                changes[same] = Update(again, "confirmed", fact.recorded_at)
        return list(changes.values())

    def _fact(self, key: SessionKey, candidate: Candidate, records: dict[str, Record]) -> Fact:
        first = records[candidate.message_ids[0]]
        said = first.message.created_at or self._clock.now()
        return Fact(
            id=derived_id(
                key.user_id, key.session_id, *candidate.message_ids, normalised(candidate.content)
            ),
            user_id=key.user_id,
            content=candidate.content,
            category=candidate.category,
            confidence=candidate.confidence,
            created_at=said,
            recorded_at=self._clock.now(),
            valid_from=said,
            tags=candidate.tags,
            source=Source(
                extractor=candidate.extractor or self._extractor.name,
                session_id=key.session_id,
                message_ids=candidate.message_ids,
                position=first.position,
                role=first.message.role,
                speaker=first.message.name,
            ),
        )


def _verbatim(key: SessionKey, record: Record, now: datetime) -> Fact:
    """The memory of a message as it was said."""
    message = record.message
    said = message.created_at or now
    return Fact(
        id=derived_id(key.user_id, key.session_id, message.id),
        user_id=key.user_id,
        content=message.content,
        category=Category.CONVERSATION,
        created_at=said,
        recorded_at=now,
        valid_from=said,
        source=Source(
            extractor="verbatim",
            session_id=key.session_id,
            message_ids=(message.id,),
            position=record.position,
            role=message.role,
            speaker=message.name,
        ),
        metadata=message.metadata,
    )


def _behind(key: SessionKey, stage: Stage, record: Record) -> Cursor:
    return Cursor(*key, stage, record.position + 1, record.end, record.message.id)
