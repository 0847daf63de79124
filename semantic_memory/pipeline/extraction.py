"""Reads quiet sessions for facts: extractor, gate, and what the ledger makes of the outcome.

A session's facts and how far it was read are written in one transaction, so it is read again or not
at all. A session that can't be read waits for its next try and holds up no other.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Set

from ingest.gate import Gate
from ingest.queue import DebounceQueue, Due
from ingest.recalled import extractable
from ingest.session_log import Record, SessionLog
from semantic_memory.consolidation.beliefs import believed
from semantic_memory.domain.changes import Add, Advance, Change, Update, Write
from semantic_memory.domain.decay import PINNED
from semantic_memory.domain.errors import StoreClosedError, StoreError
from semantic_memory.domain.events import Event, ExtractionFailed, FactsExtracted
from semantic_memory.domain.extraction import Candidate, Extraction
from semantic_memory.domain.facts import Category, Fact, Status
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.messages import Message, SessionKey, SessionOptions
from semantic_memory.domain.ports import Clock, Extractor, Ledger, Progress
from semantic_memory.domain.profile import Layer
from semantic_memory.domain.text import stems
from semantic_memory.pipeline.facts import behind, extracted, forgotten, grounded, written

_DEFAULT = SessionOptions()
_STRETCH = 50
_LONGEST_TURN = 100
_KNOWN_FACTS = 20  # shown to the extractor
_KNOWN_TERMS = 200  # by which they are found; about 10 ms
_FACTS = Filters(categories=frozenset(Category) - {Category.CONVERSATION})


class Reading:
    """Takes sessions from the queue when they are due. One is read at a time."""

    def __init__(
        self,
        ledger: Ledger,
        log: SessionLog,
        extractor: Extractor,
        gate: Gate,
        queue: DebounceQueue,
        clock: Clock,
        observe: Callable[[Event], None],
        retry_seconds: float,
    ) -> None:
        self._ledger = ledger
        self._log = log
        self._extractor = extractor
        self._gate = gate
        self._clock = clock
        self._observe = observe
        self._retry_seconds = retry_seconds
        self._ending = threading.Event()
        self.queue = queue
        self.held: frozenset[SessionKey] = frozenset()
        """Sessions that are being read otherwise, and left alone here."""
        self.lock = threading.Lock()
        """Held while a session is read; hold it to keep one from being read."""

    def step(self, changed: Callable[[str], None]) -> float | None:
        """Read what is due; returns the seconds until something is.

        `changed` is told of every user whose facts changed, here and below.
        """
        with self.lock:
            for due in self.queue.due(time.monotonic()):
                if self._ending.is_set():
                    break
                if due.key in self.held:
                    self.queue.retry(due.key, time.monotonic() + self._retry_seconds)
                else:
                    self._read(due, changed)
        return self.queue.wait(time.monotonic())

    def read_all(self, changed: Callable[[str], None], progress: Progress | None) -> list[str]:
        """Read everything that waits, due or not; returns what went wrong."""
        failures = []
        with self.lock:
            sessions = [due for due in self.queue.all() if due.key not in self.held]
            for number, due in enumerate(sessions, start=1):
                if self._ending.is_set():
                    raise StoreClosedError("this memory has been closed")
                if (failure := self._read(due, changed)) is not None:
                    failures.append(failure)
                if progress:
                    progress("extracting", number, len(sessions))
        return failures

    def end(self) -> None:
        """Begin no other session, and nothing more of the one under way."""
        self._ending.set()

    def _read(self, due: Due, changed: Callable[[str], None]) -> str | None:
        """Read a session; returns what went wrong, if anything did."""
        try:
            self._extract(due.key, changed)
        except StoreError:
            raise
        except Exception as error:
            # An extractor may be the caller's own, and one session's failure concerns no other.
            self.queue.retry(due.key, time.monotonic() + self._retry_seconds)
            reason = f"{type(error).__name__}: {error}"
            self._observe(ExtractionFailed(*due.key, reason))
            return reason
        self.queue.done(due)
        return None

    def _extract(self, key: SessionKey, changed: Callable[[str], None]) -> None:
        for stretch in self.stretches(key):
            if self._ending.is_set():
                return
            start = time.perf_counter()
            messages = self.readable(key, stretch)
            known = self.known(key.user_id, messages)
            found = self._extractor.extract(messages, known) if messages else Extraction()
            self.take(key, stretch, messages, known, found, changed, start)

    def stretches(self, key: SessionKey) -> Iterator[list[Record]]:
        """What wasn't read of a session yet, in stretches that are read together."""
        if self.options(key).extract:
            yield from in_turns(self._unread(key))
        else:
            self._pass_over(key)

    def options(self, key: SessionKey) -> SessionOptions:
        """What is done otherwise with a session."""
        stored = self._ledger.meta(_options_key(key))
        return SessionOptions.model_validate_json(stored) if stored else _DEFAULT

    def configure(self, key: SessionKey, options: SessionOptions) -> None:
        """Do otherwise from now on; what was said while nothing was to be read is never read."""
        with self.lock:
            if not self.options(key).extract:
                self._pass_over(key)
            self._ledger.set_meta(_options_key(key), options.model_dump_json())

    def reset(self, key: SessionKey) -> None:
        """Do with a session as with others."""
        if self.options(key) != _DEFAULT:
            self._ledger.set_meta(_options_key(key), "")

    def _pass_over(self, key: SessionKey) -> None:
        for last in deque(self._unread(key), maxlen=1):
            self._ledger.apply([Advance(behind(key, "extracted", last))])

    def _unread(self, key: SessionKey) -> Iterator[Record]:
        return self._log.read(*key, after=self._ledger.cursor(*key, "extracted"))

    def take(
        self,
        key: SessionKey,
        stretch: Sequence[Record],
        read: Sequence[Message],
        known: Sequence[Fact],
        found: Extraction,
        changed: Callable[[str], None],
        start: float,
    ) -> None:
        """Keep what was found in a stretch, and that it has been read, in one transaction.

        `read` are the messages that were read of it, `known` the facts that were known before,
        `start` is when reading it began. What rests on a message that has been forgotten meanwhile
        isn't kept.
        """
        said = [record.message for record in stretch]
        candidates = grounded(found.candidates, {message.id for message in said})
        admitted, quarantined, refused = self._gate.admit(candidates, said)
        refused.update(found.refused)
        if len(candidates) < len(found.candidates):
            refused["unknown message"] += len(found.candidates) - len(candidates)
        lines = self._told(found, read, refused)
        with self._ledger.exclusive():
            gone = self._forgotten(key, stretch)
            admitted = _without(admitted, gone, refused)
            quarantined = _without(quarantined, gone, refused)
            changes = self._believed(key, stretch, admitted)
            changes += self._quarantined(key, stretch, quarantined)
            changes += self._written(key, stretch, lines, gone, [*known, *_facts_of(changes)])
            advance = Advance(behind(key, "extracted", stretch[-1]))
            self._ledger.apply([*changes, advance])
        if changes:
            changed(key.user_id)
        seconds = time.perf_counter() - start
        self._observe(
            FactsExtracted(*key, len(stretch), len(admitted), len(quarantined), refused, seconds)
        )

    def readable(self, key: SessionKey, stretch: Sequence[Record]) -> list[Message]:
        """The messages of a stretch to read for facts; nothing that is forgotten."""
        gone = self._forgotten(key, stretch)
        said = extractable([record.message for record in stretch])
        return [message for message in said if message.id not in gone]

    def _forgotten(self, key: SessionKey, stretch: Sequence[Record]) -> Set[str]:
        return forgotten(self._ledger, key, [record.message.id for record in stretch])

    def known(self, user_id: str, messages: Sequence[Message]) -> list[Fact]:
        """The user's facts that share most with the words that were said most."""
        said = Counter(stem for message in messages for stem in stems(message.content))
        terms = [term for term, _ in said.most_common(_KNOWN_TERMS)]
        matches = self._ledger.words(user_id, terms, limit=_KNOWN_FACTS, filters=_FACTS)
        return self._ledger.get([match.id for match in matches])

    def _believed(
        self, key: SessionKey, batch: Sequence[Record], candidates: Iterable[Candidate]
    ) -> list[Change]:
        """The changes that believing the candidates makes; what is known already is confirmed."""
        return believed(self._facts(key, batch, candidates), self._same, self._clock.now()).changes

    def _told(
        self, found: Extraction, messages: Sequence[Message], refused: Counter[str]
    ) -> list[tuple[Layer, Candidate]]:
        """What was written of profile and history, as far as the gate lets it through.

        A field of the profile may rest on every message that was read.
        """
        ids = tuple(message.id for message in messages if message.role != "system")
        told: list[tuple[Layer, Candidate]] = [
            (layer, _line(text, ids)) for layer, text in found.profile.items() if ids
        ]
        told += [
            ("recent_months", one)
            for one in grounded(
                [_line(line.content, line.message_ids) for line in found.history], set(ids)
            )
        ]
        passed = []
        for layer, candidate in told:
            ruling = self._gate.admit([candidate], messages)
            passed += [(layer, one) for one in ruling.admitted]
            refused.update(ruling.refused)
        return passed

    def _written(
        self,
        key: SessionKey,
        batch: Sequence[Record],
        lines: Sequence[tuple[Layer, Candidate]],
        gone: Set[str],
        facts: Sequence[Fact],
    ) -> list[Change]:
        """The lines of profile and history, save those that rest on a message that is forgotten."""
        records = {record.message.id: record for record in batch}
        now = self._clock.now()
        return [
            Write(written(key, layer, candidate, records, facts, now))
            for layer, candidate in lines
            if gone.isdisjoint(candidate.message_ids)
        ]

    def _quarantined(
        self, key: SessionKey, batch: Sequence[Record], candidates: Iterable[Candidate]
    ) -> list[Change]:
        """Kept with their source, to be looked into; never believed, never recalled."""
        return [
            Add(fact.model_copy(update={"status": Status.QUARANTINED}))
            for fact in self._facts(key, batch, candidates)
        ]

    def _facts(
        self, key: SessionKey, batch: Sequence[Record], candidates: Iterable[Candidate]
    ) -> list[Fact]:
        records = {record.message.id: record for record in batch}
        now = self._clock.now()
        found = [
            extracted(key, one, records, one.extractor or self._extractor.name, now)
            for one in candidates
        ]
        if self.options(key).fades:
            return found
        return [fact.model_copy(update={"tags": (*fact.tags, PINNED)}) for fact in found]

    def _same(self, fact: Fact) -> Fact | None:
        return self._ledger.same_content(fact.user_id, fact.content)


def _line(text: str, message_ids: tuple[str, ...]) -> Candidate:
    """A line of profile or history, as the gate looks at it."""
    return Candidate(
        content=text, category=Category.PERSONAL, confidence=1.0, message_ids=message_ids
    )


def _without(
    candidates: Sequence[Candidate], gone: Set[str], refused: Counter[str]
) -> list[Candidate]:
    """The candidates that rest on nothing forgotten; counts the others."""
    kept = [one for one in candidates if gone.isdisjoint(one.message_ids)]
    if len(kept) < len(candidates):
        refused["forgotten message"] += len(candidates) - len(kept)
    return kept


def _facts_of(changes: Iterable[Change]) -> list[Fact]:
    return [change.fact for change in changes if isinstance(change, Add | Update)]


def _options_key(key: SessionKey) -> str:
    return f"options {key.user_id} {key.session_id}"  # no id holds a space


def in_turns(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Stretches of 50 messages or a little more: a turn isn't parted unless it is very long.

    What an agent did in a turn decides whether the turn is read at all.
    """
    stretch: list[Record] = []
    for record in records:
        begins = record.message.role == "user"
        if (begins and len(stretch) >= _STRETCH) or len(stretch) >= _LONGEST_TURN:
            yield stretch
            stretch = []
        stretch.append(record)
    if stretch:
        yield stretch
