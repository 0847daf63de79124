"""Read session logs from where each stage has come to.

Nothing is locked between reading and committing. What was read stands as long as its stage has gone
no further in that session and the log has been neither rewritten nor removed, so forgetting wins
over whatever was being made of the messages meanwhile.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from ingest.recalled import extractable
from semantic_memory.concurrency import KeyedLocks
from semantic_memory.domain.changes import Advance, Cursor, CursorStage
from semantic_memory.domain.extraction import Conversation
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.logs import Record
from semantic_memory.domain.messages import Message, SessionKey
from semantic_memory.domain.ports import Clock, Ledger, SessionLog
from semantic_memory.pipeline.facts import behind, forgotten
from semantic_memory.pipeline.forget_requests import without_requests
from semantic_memory.pipeline.known import Surroundings
from semantic_memory.pipeline.session_records import read_options


@dataclass(frozen=True, slots=True)
class Portion:
    """Consecutive records of a session that a stage hasn't done."""

    key: SessionKey
    start: Cursor
    generation: int
    """Of the log that was read."""
    records: Sequence[Record]

    @property
    def end(self) -> Cursor:
        """The cursor once the portion is done."""
        return behind(self.key, self.start.stage, self.records[-1])


class PortionReader:
    """Read the logs of sessions from their cursors on. Thread-safe."""

    def __init__(self, ledger: Ledger, log: SessionLog) -> None:
        self._ledger = ledger
        self._log = log
        self.locks: KeyedLocks[SessionKey] = KeyedLocks()
        """Lock of each session, held while its log is read or rewritten."""

    def read(
        self,
        key: SessionKey,
        stage: CursorStage,
        take: Callable[[Iterator[Record]], Sequence[Record]],
    ) -> Portion | None:
        """Return what `take` takes of the records that a stage hasn't done; None for nothing."""
        with self.locks.hold(key):
            start = self._ledger.cursor(*key, stage)
            generation = self._log.generation(*key)
            records = take(self._log.read(*key, after=start))
        return Portion(key, start, generation, records) if records else None

    def extracted_to(self, key: SessionKey, position: int) -> Cursor:
        """Return the cursor of the extraction that has done the messages before a position."""
        done: Record | None = None
        with self.locks.hold(key):
            for record in self._log.read(*key):
                if record.position >= position:
                    break
                done = record
        return Cursor(*key, "extracted") if done is None else behind(key, "extracted", done)

    def stands(self, portion: Portion) -> bool:
        """Tell whether a portion may be committed. Ask with the ledger held exclusively."""
        return (
            self._log.generation(*portion.key) == portion.generation
            and self._ledger.cursor(*portion.key, portion.start.stage) == portion.start
        )


_LEAST = 50
_MOST = 100


@dataclass(frozen=True, slots=True)
class Stretch:
    """Messages of a session, of one scope, that are extracted together."""

    portion: Portion
    conversation: Conversation
    """Its messages are those to extract from: none forgotten, expired or not to be recalled, no
    recalled block, no turn that wrote memories."""
    more: bool = False
    """Further messages of the session waited when it was read."""

    @property
    def messages(self) -> Sequence[Message]:
        """The messages to extract from."""
        return self.conversation.messages

    @property
    def known(self) -> Sequence[Fact]:
        """The facts that they may touch."""
        return self.conversation.known

    @property
    def key(self) -> SessionKey:
        """The session."""
        return self.portion.key


class StretchReader:
    """Read sessions from where extraction has come to, stretch by stretch. Thread-safe."""

    def __init__(
        self,
        ledger: Ledger,
        reader: PortionReader,
        clock: Clock,
        masked: Callable[[str], str],
        surroundings: Surroundings | None = None,
        least: int = _LEAST,
    ) -> None:
        """Show an extractor the `surroundings` of each stretch; by default its known facts.

        It sees messages as `masked` returns them. A stretch has `least` messages, if there are as
        many, or a little more.
        """
        self._ledger = ledger
        self._reader = reader
        self._clock = clock
        self._masked = masked
        self._surroundings = surroundings or Surroundings(ledger)
        self._least = least

    def sessions(self) -> Iterator[SessionKey]:
        """Yield the sessions with messages that extraction hasn't come to."""
        yield from self._ledger.unextracted()

    def first(self, key: SessionKey) -> Stretch | None:
        """Return the next stretch of a session; None if there is none.

        Messages of a session that isn't to be extracted are passed over permanently.
        """
        if not read_options(self._ledger, key).extract:
            self.pass_over(key)
            return None
        more = False

        def take(records: Iterator[Record]) -> Sequence[Record]:
            nonlocal more
            stretches = in_turns(records, self._least)
            found = next(stretches, [])
            more = next(stretches, None) is not None
            return found

        portion = self._reader.read(key, "extracted", take)
        return None if portion is None else replace(self.stretch(portion), more=more)

    def all(self, key: SessionKey) -> Iterator[Stretch]:
        """Yield every stretch of a session, each to be committed after the one before it."""
        if not read_options(self._ledger, key).extract:
            self.pass_over(key)
            return
        whole = self._reader.read(key, "extracted", list)
        if whole is None:
            return
        start = whole.start
        for records in in_turns(whole.records, self._least):
            portion = Portion(key, start, whole.generation, records)
            yield self.stretch(portion)
            start = portion.end

    def until(self, key: SessionKey, position: int) -> Stretch | None:
        """Return the next messages of a session up to a position, as one stretch."""
        if not read_options(self._ledger, key).extract:
            return None
        portion = self._reader.read(
            key,
            "extracted",
            lambda records: list(takewhile(lambda record: record.position < position, records)),
        )
        return None if portion is None else self.stretch(portion)

    def pass_over(self, key: SessionKey) -> None:
        """Move a session's cursor behind its last message."""
        rest = self._reader.read(key, "extracted", lambda records: deque(records, maxlen=1))
        if rest is not None:
            with self._ledger.exclusive(key.user_id):
                if self._reader.stands(rest):
                    self._ledger.apply([Advance(rest.end)])

    def stretch(self, portion: Portion) -> Stretch:
        """Return what is to be extracted of a portion."""
        said = extractable([record.message for record in portion.records])
        gone = forgotten(self._ledger, portion.key, [message.id for message in said])
        now = self._clock.now()
        read = [
            one for one in said if one.recall and one.id not in gone and not one.has_expired(now)
        ]
        messages = [
            one.model_copy(update={"content": self._masked(one.content)})
            for one in map(without_requests, read)
            if one is not None
        ]
        return Stretch(portion, self._surroundings.of(portion.key, portion.records[0], messages))


def in_turns(records: Iterable[Record], least: int = _LEAST) -> Iterator[list[Record]]:
    """Cut records into stretches of `least`, or a little more, so that no turn is parted.

    Whether a turn is extracted depends on what the agent did in it. A turn of 100 is parted, and
    messages of different scopes are, as what is extracted from a stretch has its scope.
    """
    stretch: list[Record] = []
    for record in records:
        begins = record.message.role == "user"
        other = bool(stretch) and record.message.scope != stretch[-1].message.scope
        if other or (begins and len(stretch) >= least) or len(stretch) >= _MOST:
            yield stretch
            stretch = []
        stretch.append(record)
    if stretch:
        yield stretch
