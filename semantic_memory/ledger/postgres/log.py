"""The session logs in the ledger's database, for any number of processes.

A log is a row, which who appends or rewrites locks, and a row for each line. Lines don't name the
one before, as those of a file do: a gap in their positions shows what is missing. Offsets are
those of a file of these lines. What erases texts holds the lock of the user as well, as `exclusive`
of the ledger does, so that nobody commits what was read of a log before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import NamedTuple

from semantic_memory.concurrency import KeyedLocks
from semantic_memory.domain import log_lines
from semantic_memory.domain.changes import Cursor
from semantic_memory.domain.events import CursorLost, Event, LogRepaired
from semantic_memory.domain.logs import (
    NOTHING_CUT,
    Entry,
    LogTally,
    Record,
    Rewritten,
    SessionSummary,
)
from semantic_memory.domain.messages import Message, SessionKey
from semantic_memory.domain.ports.log import LineFormat
from semantic_memory.ledger.postgres.connections import Connections, Session
from semantic_memory.ledger.postgres.locks import UserLocks
from semantic_memory.ledger.postgres.part import Part

_LINES_AT_ONCE = 128
_SESSIONS_AT_ONCE = 1_000
_OF_SESSION = "user_id = ? AND session_id = ?"


class _Line(NamedTuple):
    position: int
    ends: int
    line: bytes


class _Tail(NamedTuple):
    """The end of a log."""

    lines: int
    size: int


class PostgresLog(Part):
    """The `SessionLog` in a schema of a PostgreSQL database. Thread-safe, for many processes."""

    shared = True

    def __init__(
        self,
        connections: Connections,
        locks: UserLocks,
        form: LineFormat,
        emit: Callable[[Event], None],
    ) -> None:
        """Find the logs in the schema of `connections`, whose writers take these `locks`.

        Raises ConfigurationError if they are encrypted and `form` has no key that fits.
        """
        super().__init__(connections)
        self._locks = locks
        self._format = form
        self._emit = emit
        self._appending: KeyedLocks[SessionKey] = KeyedLocks("session log", connections.observe)
        """Has the threads of this process wait for each other without a connection each."""
        with connections.snapshot() as db:
            found = db.execute("SELECT line FROM log_lines LIMIT 1").fetchone()
        if found is not None:
            form.read(found[0])

    @property
    def is_new(self) -> bool:
        """True if no session has ever had a log."""
        return self._number("SELECT (NOT is_called)::int FROM log_generations") == 1

    def append(self, user_id: str, session_id: str, messages: Sequence[Message]) -> int:
        """Append `messages` in one durable transaction; return the number of new ones.

        Skips a message whose id is in the session with the same content. Raises InvalidInputError
        if the content differs, StoreUnavailableError if the write fails; in both cases none of the
        messages is kept, unless the connection was lost in the moment of the commit.
        """
        if not messages:
            return 0
        key = SessionKey(user_id, session_id)
        with self._appending.hold(key), self._connections.transaction() as db:
            tail = _begun(db, key)
            known = self._known(db, key, [message.id for message in messages])
            fresh = log_lines.fresh(messages, known, session_id)
            if fresh:
                lines = [self._line(log_lines.logged(message)) for message in fresh.values()]
                _add(db, key, tail, list(fresh), lines)
        return len(fresh)

    def read(self, user_id: str, session_id: str, after: Cursor | None = None) -> Iterator[Record]:
        """Yield the committed messages after a cursor, in order.

        A cursor that doesn't follow the message it names belongs to another log. Then CursorLost
        is emitted and all messages are read again, which is harmless, as derived ids repeat.
        """
        key, corrupt = SessionKey(user_id, session_id), 0
        with self._connections.snapshot() as db:
            place = self._place(db, after) if after is not None and after.offset else 0
            page = _lines(db, key, place, _LINES_AT_ONCE)
        while page:
            for position, ends, line in page:
                corrupt += position != place  # lines are missing
                place = position + 1
                entry = self._format.read(line)
                message = log_lines.said(entry)
                if message is None:
                    corrupt += entry.kind != "gone"
                else:
                    yield Record(position, ends - len(line), ends, message)
            page = self._page(key, place) if len(page) == _LINES_AT_ONCE else []
        if corrupt:
            self._emit(LogRepaired(user_id, session_id, torn_bytes=0, corrupt_lines=corrupt))

    def size(self, user_id: str, session_id: str) -> int:
        """Return the size of a session's log in bytes; 0 if there is none."""
        return self._of_log("size", user_id, session_id)

    def generation(self, user_id: str, session_id: str) -> int:
        """Return a number that changes when a session's log is rewritten or removed."""
        return self._of_log("generation", user_id, session_id)

    def corrupt_lines(self, user_id: str, session_id: str) -> int:
        """Return the number of corrupt lines that the latest `summary` counted."""
        return self._of_log("corrupt", user_id, session_id)

    def freed(self, record: Record) -> int:
        """Return the bytes freed by removing a message from the log; negative if the log grows."""
        content = log_lines.erasure(record.message.id, forgotten=False)
        return record.end - record.start - len(self._line(content))

    def compact(
        self,
        user_id: str,
        session_id: str,
        gone: Collection[str],
        cut: Mapping[str, str] = NOTHING_CUT,
        *,
        forgotten: bool = True,
    ) -> Rewritten:
        """Rewrite a session's log, in one transaction, without the contents of messages `gone`.

        Messages of `cut`, by id, get the contents given there. Ids and positions stay.
        """
        key, offsets = SessionKey(user_id, session_id), {0: 0}
        with self._erasing(user_id) as db:
            tail = _tail(db, key)
            if tail is None:
                return Rewritten(0, offsets)
            lines: list[_Line] = []
            ends = 0
            for position, _, line in _lines(db, key):
                kind, data = self._format.read(line)
                if kind is not None:  # is sealed with the first key
                    content = log_lines.rewritten((kind, data), gone, cut, forgotten=forgotten)
                    line = self._line(content)
                ends += len(line)
                offsets[position + 1] = ends
                lines.append(_Line(position, ends, line))
            _replace(db, key, lines, ends)
        return Rewritten(tail.size - ends, offsets)

    def remove(self, user_id: str, session_id: str) -> int:
        """Delete a session's log; return its size in bytes."""
        key = SessionKey(user_id, session_id)
        with self._erasing(user_id) as db:
            query = f"DELETE FROM logs WHERE {_OF_SESSION} RETURNING size"
            removed = db.execute(query, key).fetchone()
            db.execute(f"DELETE FROM log_lines WHERE {_OF_SESSION}", key)
        return 0 if removed is None else int(removed[0])

    def entries(self, user_id: str, session_id: str) -> Iterator[Entry]:
        """Yield the content of each line."""
        key, place = SessionKey(user_id, session_id), 0
        while page := self._page(key, place):
            for position, _, line in page:
                yield log_lines.copied(self._format.read(line), line)
                place = position + 1

    def restore(self, user_id: str, session_id: str, entries: Iterable[Entry]) -> Mapping[int, int]:
        """Write a session's log again, in one transaction, from the entries of another one."""
        key = SessionKey(user_id, session_id)
        copied = list(entries)
        lines = [self._line((str(kind), data)) for kind, data in copied]
        self.remove(*key)
        with self._connections.transaction() as db:
            tail = _begun(db, key)
            if lines:
                _add(db, key, tail, [log_lines.named(one) for one in copied], lines)
        return dict(enumerate(accumulate(map(len, lines), initial=0)))

    def ids(self, user_id: str, session_id: str) -> frozenset[str]:
        """Return the ids of all messages of a session, those that were erased included."""
        query = f"SELECT message_id FROM log_lines WHERE {_OF_SESSION} AND message_id IS NOT NULL"
        with self._connections.snapshot() as db:
            return frozenset(one for (one,) in db.execute(query, (user_id, session_id)))

    def erased(self, user_id: str, session_id: str) -> dict[str, str | None]:
        """Return the remaining texts of messages that were forgotten or cut, by id."""
        with self._connections.snapshot() as db:
            lines = _lines(db, SessionKey(user_id, session_id))
        return log_lines.erased(self._format.read(line.line) for line in lines)

    def sessions(self) -> Iterator[SessionKey]:
        """Yield every session with a log, in order."""
        query = (
            "SELECT user_id, session_id FROM logs WHERE (user_id, session_id) > (?, ?)"
            " ORDER BY user_id, session_id LIMIT ?"
        )
        last = SessionKey("", "")
        while True:
            with self._connections.snapshot() as db:
                rows = db.execute(query, (*last, _SESSIONS_AT_ONCE)).fetchall()
            if not rows:
                return
            for row in rows:
                last = SessionKey(*row)
                yield last

    def behind(self, stored: Callable[[], Iterable[Cursor]]) -> Iterator[SessionKey]:
        """Yield the sessions whose log goes beyond the ledger's cursor, which its row has too."""
        del stored
        with self._connections.snapshot() as db:
            rows = db.execute("SELECT user_id, session_id FROM logs WHERE stored < lines")
            found = rows.fetchall()
        yield from (SessionKey(*row) for row in found)

    def summary(self, user_id: str, session_id: str) -> SessionSummary:
        """Read a session's log, and count its messages and damage; keep what `corrupt_lines` is."""
        key = SessionKey(user_id, session_id)
        messages = corrupt = place = 0
        with self._connections.snapshot() as db:
            tail = _tail(db, key, locked=False) or _Tail(0, 0)
            lines = _lines(db, key)
        for position, _, line in lines:
            corrupt += position != place  # lines are missing
            place = position + 1
            entry = self._format.read(line)
            if log_lines.said(entry) is not None:
                messages += 1
            else:
                corrupt += entry.kind != "gone"
        corrupt += place != tail.lines
        if corrupt != self.corrupt_lines(*key):
            with self._connections.transaction() as db:
                db.execute(f"UPDATE logs SET corrupt = ? WHERE {_OF_SESSION}", (corrupt, *key))
        return SessionSummary(key, messages, corrupt, torn_bytes=0)

    def summaries(self) -> Iterator[SessionSummary]:
        """Read every log, and count its messages and damage."""
        for key in self.sessions():
            yield self.summary(*key)

    def tally(self) -> LogTally:
        """Count all logs."""
        query = "SELECT count(*), sum(size)::bigint, sum(corrupt)::bigint FROM logs"
        with self._connections.snapshot() as db:
            sessions, size, corrupt = db.execute(query).fetchall()[0]
        return LogTally(sessions, size or 0, corrupt or 0)

    @contextmanager
    def _erasing(self, user_id: str) -> Iterator[Session]:
        """Begin a transaction that waits for concurrent writers of the same user."""
        with self._locks.near([user_id]), self._connections.transaction() as db:
            self._locks.take(db, [user_id])
            yield db
            self._locks.check([user_id])

    def _known(self, db: Session, key: SessionKey, ids: Sequence[str]) -> dict[str, bytes]:
        """Return the digests of messages of a log; drop the ids of damaged ones."""
        named = f"{_OF_SESSION} AND message_id = ANY(?)"
        rows = db.execute(f"SELECT message_id, line FROM log_lines WHERE {named}", (*key, ids))
        found = {one: log_lines.known_by(self._format.read(line)) for one, line in rows}
        if damaged := [message_id for message_id, digest in found.items() if digest is None]:
            query = f"UPDATE log_lines SET message_id = NULL WHERE {named}"
            db.execute(query, (*key, damaged))
        return {one: digest for one, digest in found.items() if digest is not None}

    def _line(self, content: log_lines.Content) -> bytes:
        return self._format.write(*content, before=b"")

    def _page(self, key: SessionKey, start: int) -> list[_Line]:
        """Return the next lines, so many that no connection is lent while they are read."""
        with self._connections.snapshot() as db:
            return _lines(db, key, start, _LINES_AT_ONCE)

    def _place(self, db: Session, cursor: Cursor) -> int:
        """Return the position of a cursor, or 0 if the line before isn't the one that it names."""
        query = (
            f"SELECT 1 FROM log_lines WHERE {_OF_SESSION}"
            " AND position = ? AND ends = ? AND message_id = ?"
        )
        key = SessionKey(cursor.user_id, cursor.session_id)
        before = (*key, cursor.position - 1, cursor.offset, cursor.message_id)
        if db.execute(query, before).fetchone() is not None:
            return cursor.position
        self._emit(CursorLost(*key, cursor.stage))
        return 0

    def _of_log(self, column: str, user_id: str, session_id: str) -> int:
        query = f"SELECT coalesce(max({column}), 0) FROM logs WHERE {_OF_SESSION}"
        return self._number(query, (user_id, session_id))


def _tail(db: Session, key: SessionKey, *, locked: bool = True) -> _Tail | None:
    """Return the end of a log, and lock its row; None if there is none."""
    locking = " FOR UPDATE" if locked else ""
    query = f"SELECT lines, size FROM logs WHERE {_OF_SESSION}{locking}"
    row = db.execute(query, key).fetchone()
    return None if row is None else _Tail(*row)


def _begun(db: Session, key: SessionKey) -> _Tail:
    """Lock the row of a log, which is begun if necessary; another may remove it in between."""
    while (tail := _tail(db, key)) is None:
        db.execute(
            "INSERT INTO logs (user_id, session_id) VALUES (?, ?) ON CONFLICT DO NOTHING", key
        )
    return tail


def _add(
    db: Session,
    key: SessionKey,
    tail: _Tail,
    ids: Sequence[str | None],
    lines: Sequence[bytes],
) -> None:
    """Append the lines of messages to a log whose row is locked."""
    positions = range(tail.lines, tail.lines + len(lines))
    ends = list(accumulate(map(len, lines), initial=tail.size))[1:]
    db.execute(
        "INSERT INTO log_lines (user_id, session_id, position, ends, message_id, line)"
        " SELECT ?, ?, * FROM unnest(?::bigint[], ?::bigint[], ?::text[], ?::bytea[])",
        (*key, [*positions], ends, ids, lines),
    )
    db.execute(
        f"UPDATE logs SET lines = ?, size = ? WHERE {_OF_SESSION}", (positions.stop, ends[-1], *key)
    )


def _replace(db: Session, key: SessionKey, lines: Sequence[_Line], size: int) -> None:
    """Replace the lines of a log whose row is locked; its generation is another one then."""
    db.execute(
        "UPDATE log_lines SET ends = new.ends, line = new.line"
        " FROM unnest(?::bigint[], ?::bigint[], ?::bytea[]) new (position, ends, line)"
        f" WHERE {_OF_SESSION} AND log_lines.position = new.position",
        (
            [one.position for one in lines],
            [one.ends for one in lines],
            [one.line for one in lines],
            *key,
        ),
    )
    db.execute(f"UPDATE logs SET size = ?, generation = DEFAULT WHERE {_OF_SESSION}", (size, *key))


def _lines(db: Session, key: SessionKey, start: int = 0, most: int | None = None) -> list[_Line]:
    """Return the lines of a log from a position on."""
    query = (
        f"SELECT position, ends, line FROM log_lines WHERE {_OF_SESSION} AND position >= ?"
        " ORDER BY position LIMIT ?"
    )
    return [_Line(*row) for row in db.execute(query, (*key, start, most))]
