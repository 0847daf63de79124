"""Redact, configure and shorten single sessions while stages work on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import replace
from itertools import takewhile
from typing import Literal

from semantic_memory.consolidation.fading import Fading, relevance
from semantic_memory.domain.changes import STAGES, Advance, Cursor, Redact, Redacted
from semantic_memory.domain.errors import LogFullError, SessionClosedError
from semantic_memory.domain.events import Event, LogNearlyFull, LogShortened
from semantic_memory.domain.facts import Status
from semantic_memory.domain.filters import FACTS
from semantic_memory.domain.logs import NOTHING_CUT, Record
from semantic_memory.domain.messages import SessionKey, SessionOptions, SessionState
from semantic_memory.domain.ports import Clock, Ledger, SessionLog
from semantic_memory.domain.ports.states import States
from semantic_memory.pipeline.facts import forgotten, verbatim_id
from semantic_memory.pipeline.reading import (
    Portion,
    PortionReader,
    StretchReader,
)
from semantic_memory.pipeline.session_records import (
    read_options,
    read_state,
    reset,
    write_options,
    write_state,
)
from semantic_memory.pipeline.stage import REDACT, SHORTEN, Hint, Outlook
from semantic_memory.settings import LogSettings


class Sessions:
    """Change single sessions. Thread-safe; waits for no model and for no other session.

    A stage that is working on a session meanwhile finds, when it commits, that the log or its
    cursor has changed, and commits nothing.
    """

    def __init__(
        self,
        ledger: Ledger,
        log: SessionLog,
        states: States,
        reader: PortionReader,
        stretches: StretchReader,
        store: Callable[[SessionKey], None],
    ) -> None:
        """Have the messages of a session stored by `store`."""
        self._ledger = ledger
        self._log = log
        self._states = states
        self._reader = reader
        self._stretches = stretches
        self.store = store

    @contextmanager
    def held(self, keys: Iterable[SessionKey]) -> Iterator[None]:
        """Hold the locks of sessions, so that nobody reads their logs meanwhile."""
        with ExitStack() as stack:
            for key in sorted(set(keys)):
                stack.enter_context(self._reader.locks.hold(key))
            yield

    def redact(self, redact: Redact) -> None:
        """Erase from a session's log and window what the ledger has forgotten; hold its lock.

        A log that goes as a whole takes the session's options and checkpoints along.
        """
        key = SessionKey(redact.user_id, redact.session_id)
        with self._alone(key.user_id):
            # Another process may have done it meanwhile, or have left more to do.
            for owed in self.owed(key) if self._log.shared else [redact]:
                self._redact(key, owed)

    def owed(self, key: SessionKey) -> list[Redact]:
        """Return what is to be erased from a session's log."""
        return self._ledger.redactions(key)

    def _redact(self, key: SessionKey, redact: Redact) -> None:
        done = Redacted(*key)
        if not redact.message_ids:
            self._states.drop(*key)
            self._log.remove(*key)
            with self._ledger.exclusive(key.user_id):
                reset(self._ledger, key)
                self._ledger.apply([*(Advance(Cursor(*key, one)) for one in STAGES), done])
            return
        self._states.drop_window(key)
        ids = {verbatim_id(key, one): one for one in redact.message_ids}
        left = {ids[fact.id]: fact.content for fact in self._ledger.get(list(ids))}
        self._rewrite(key, redact.message_ids - left.keys(), left, done)

    def options(self, key: SessionKey) -> SessionOptions:
        """Return the options of a session."""
        return read_options(self._ledger, key)

    def configure(self, key: SessionKey, options: SessionOptions) -> None:
        """Set the options of a session; messages observed while extraction was off stay unread."""
        if not self.options(key).extract:
            self._stretches.pass_over(key)
        with self._ledger.exclusive(key.user_id):
            write_options(self._ledger, key, options)
            self._begin(key)

    def state(self, key: SessionKey) -> SessionState:
        """Return when a session was created and closed, if that has been recorded."""
        return read_state(self._ledger, key)

    def mark(self, key: SessionKey, state: SessionState) -> None:
        """Record when a session was created and closed; it is listed from now on."""
        with self._ledger.exclusive(key.user_id):
            write_state(self._ledger, key, state)
            self._begin(key)

    def exists(self, key: SessionKey) -> bool:
        """Return True for a session that was created or has messages."""
        return (
            self.state(key) != SessionState()
            or self._log.size(*key) > 0
            or self._ledger.cursor(*key, "stored").position > 0
        )

    def check_open(self, key: SessionKey) -> None:
        """Raise SessionClosedError for a closed session."""
        closed_at = self.state(key).closed_at
        if closed_at is not None:
            raise SessionClosedError(
                f"session {key.session_id!r} of user {key.user_id!r} was closed at"
                f" {closed_at:%Y-%m-%d %H:%M} UTC and takes no messages: `sessions.load` opens it"
                " again"
            )

    def _begin(self, key: SessionKey) -> None:
        """Give a session without messages a cursor, by which the ledger lists it."""
        cursor = self._ledger.cursor(*key, "stored")
        if not cursor.position:
            self._ledger.apply([Advance(cursor)])

    def compact(self, key: SessionKey) -> int:
        """Rewrite a session's log without its forgotten messages; returns the bytes freed.

        Its window goes as well, and is filled from the log again.
        """
        self.store(key)
        ids = [record.message.id for record in self._log.read(*key)]
        freed = self.rewrite(key, forgotten(self._ledger, key, ids))
        self._states.drop_window(key)
        return freed

    def rewrite(self, key: SessionKey, gone: Collection[str], *, forgotten: bool = True) -> int:
        """Rewrite a session's log without the texts of some messages; returns the bytes freed."""
        if not gone:
            return 0
        with self._reader.locks.hold(key), self._alone(key.user_id):
            return self._rewrite(key, gone, forgotten=forgotten)

    def _alone(self, user_id: str) -> AbstractContextManager[None]:
        """Keep other processes off a user while a log that they share is rewritten."""
        return self._ledger.exclusive(user_id) if self._log.shared else nullcontext()

    def _rewrite(
        self,
        key: SessionKey,
        gone: Collection[str],
        cut: Mapping[str, str] = NOTHING_CUT,
        *done: Redacted,
        forgotten: bool = True,
    ) -> int:
        """Rewrite a log and move its cursors along, in one transaction with `done`."""
        if not self._log.size(*key):
            self._ledger.apply(done)
            return 0
        freed, offsets = self._log.compact(*key, gone, cut, forgotten=forgotten)
        with self._ledger.exclusive(key.user_id):
            cursors = [self._ledger.cursor(*key, stage) for stage in STAGES]
            # A cursor beyond the log's end is found to be lost when it is read from.
            moved = [
                Advance(replace(one, offset=offsets[one.position]))
                for one in cursors
                if one.position in offsets
            ]
            self._ledger.apply([*moved, *done])
        return freed


class Redacting:
    """Stage that erases from logs that are shared what a process forgot that was killed then."""

    name = REDACT

    def __init__(self, ledger: Ledger, pay: Callable[[SessionKey], None]) -> None:
        """Have `pay` erase what is owed to a session."""
        self._ledger = ledger
        self._pay = pay

    def pending(self) -> Iterator[SessionKey]:
        """Yield the sessions with messages that are yet to be erased."""
        for one in self._ledger.redactions():
            yield SessionKey(one.user_id, one.session_id)

    def run(self, item: SessionKey) -> None:
        """Rewrite or remove the log of a session. Raises StoreUnavailableError."""
        self._pay(item)

    def outlook(self) -> Outlook:
        """Count the sessions."""
        return Outlook("erasing", len(self._ledger.redactions()))


_NEARLY = 0.9
_IRRELEVANT = 0.05
Because = Literal["superseded", "relevance below 0.05", "least relevant"]
"""Why a message was removed from a log."""
_BELOW: Because = "relevance below 0.05"
_GROWN = 0.1  # of its limit, by which a shortened log grows before it is shortened again


class Shortening:
    """Stage that rewrites a log at 90 % of its limit without its least useful messages.

    The log is brought down to half of its limit, as far as it has been extracted. Two thirds of
    what could be freed stays if that is enough to be below 90 %: the longer a session, the more
    room the ids of dropped messages take, and the latest messages mustn't go for that. Dropped
    messages keep their memories.
    """

    name = SHORTEN

    def __init__(
        self,
        ledger: Ledger,
        log: SessionLog,
        sessions: Sessions,
        observe: Callable[[Event], None],
        hint: Hint,
        limits: LogSettings,
        retry_seconds: float,
        clock: Clock,
        fading: Fading,
    ) -> None:
        """Remove by relevance as `fading` has it."""
        self._clock = clock
        self._fading = fading
        self._ledger = ledger
        self._log = log
        self._sessions = sessions
        self._observe = observe
        self._hint = hint
        self._limit = limits.most_bytes
        self._full = int(limits.most_bytes * limits.refuse_at)
        self._shortened_at = int(_NEARLY * limits.most_bytes)
        self._retry_seconds = retry_seconds
        self._sizes: dict[SessionKey, int] = {}  # after the last attempt

    def weigh(self, portion: Portion) -> None:
        """Report a log that nears its limit, and have it shortened."""
        key = portion.key
        before, size = portion.records[0].start, portion.records[-1].end
        if before < self._shortened_at <= size:
            self._observe(LogNearlyFull(*key, size, self._limit))
        # a log that can't be brought far below its limit isn't rewritten at every message
        if size > max(self._shortened_at, self._sizes.get(key, 0) + _GROWN * self._limit):
            self._hint(SHORTEN, key)

    def make_room(self, key: SessionKey, coming: int) -> None:
        """Shorten a log now that `coming` bytes of texts would fill.

        Raises LogFullError, with its figures, if there is still no room for them.
        """
        if (size := self._log.size(*key)) + coming <= self._full:
            return
        if not size:
            raise LogFullError(
                f"{coming:,} bytes of messages come at once, and the log of session"
                f" {key.session_id!r} of user {key.user_id!r} takes {self._full:,} at most"
                " (log.most_bytes x log.refuse_at): divide them into several sessions, or raise"
                " log.most_bytes"
            )
        self._sessions.store(key)
        self.run(key)
        if (size := self._log.size(*key)) + coming <= self._full:
            return
        summary = self._log.summary(*key)
        waiting = size - self._ledger.cursor(*key, "extracted").offset
        raise LogFullError(
            f"the log of session {key.session_id!r} of user {key.user_id!r} takes {size:,} bytes,"
            f" of {self._full:,} at most (log.most_bytes x log.refuse_at), and {coming:,} more were"
            f" to come; it has {summary.messages:,} messages and {summary.corrupt_lines:,} corrupt"
            f" lines;"
            f" {waiting:,} bytes wait for extraction, and of the rest nothing can be removed:"
            " continue in a new session, or"
            + (" try again once extraction has caught up" if waiting else " raise log.most_bytes")
        )

    def pending(self) -> Iterator[SessionKey]:
        """Yield nothing: a log is weighed whenever it grows."""
        yield from ()

    def run(self, item: SessionKey) -> float | None:
        """Shorten a log, or come back once enough of it has been extracted."""
        size, half = self._log.size(*item), self._limit // 2
        if size < self._shortened_at or not self._sessions.options(item).compact:
            self._sizes.pop(item, None)
            return None
        extracted = self._ledger.cursor(*item, "extracted")
        if extracted.offset < half:
            return self._retry_seconds
        records = list(
            takewhile(lambda one: one.position < extracted.position, self._log.read(*item))
        )
        spare = sum(max(0, self._log.freed(record)) for record in records)
        least = max(size - self._shortened_at, min(size - half, spare // 3))
        gone = expendable(records, self._worth(item), least, self._log.freed)
        if gone:
            freed = self._sessions.rewrite(item, gone, forgotten=False)
            because: Counter[str] = Counter(gone.values())
            self._observe(LogShortened(*item, len(gone), size, size - freed, because))
        self._sizes[item] = self._log.size(*item)
        return None

    def outlook(self) -> Outlook:
        """Count nothing: `flush` doesn't wait for it."""
        return Outlook("shortening", 0)

    def _worth(self, key: SessionKey) -> dict[str, float | None]:
        """Return the relevance of the best fact that rests on each message.

        None if all of them are superseded.
        """
        filters = FACTS.model_copy(
            update={
                "session_id": key.session_id,
                "statuses": frozenset({Status.ACTIVE.value, Status.SUPERSEDED.value}),
            }
        )
        now = self._clock.now()
        worth: dict[str, float | None] = {}
        for fact in self._ledger.find(key.user_id, filters):
            stands = fact.status is Status.ACTIVE
            for message_id in fact.message_ids:
                before = worth.setdefault(message_id, None)
                if stands:
                    worth[message_id] = max(relevance(fact, now, self._fading), before or 0.0)
        return worth


def expendable(
    records: Iterable[Record],
    worth: Mapping[str, float | None],
    least: int,
    freed: Callable[[Record], int],
) -> dict[str, Because]:
    """Return the ids of messages that a log can do without first, to free `least` bytes, and why.

    `worth` is the relevance of the facts that rest on a message, None if all are superseded. These
    messages go first, then those with the least relevance, of which messages without facts have
    none; older before newer. `freed` is how many bytes dropping a message frees; those that free
    none stay.
    """
    gone: dict[str, Because] = {}

    def place(record: Record) -> tuple[float, int]:
        found = worth.get(record.message.id, 0.0)
        return -1.0 if found is None else found, record.position

    for record in sorted(records, key=place):
        if least <= 0:
            break
        if (size := freed(record)) > 0:
            found = worth.get(record.message.id, 0.0)
            low: Because = "least relevant" if (found or 0.0) >= _IRRELEVANT else _BELOW
            gone[record.message.id] = "superseded" if found is None else low
            least -= size
    return gone
