"""The session log, the truth of conversations, and the format of its lines."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from semantic_memory.domain.changes import Cursor
from semantic_memory.domain.logs import (
    NOTHING_CUT,
    Entry,
    LogTally,
    Record,
    Rewritten,
    SessionSummary,
)
from semantic_memory.domain.messages import Message, SessionKey


class LineFormat(Protocol):
    """Writer and reader of the lines of logs, which have checksums and may be encrypted."""

    def write(self, kind: str, data: dict[str, Any], before: bytes) -> bytes:
        """Return the line, with its line end, that follows the one whose checksum is `before`.

        The first line, and one behind a damaged one, follows b"".
        """
        ...

    def read(self, line: bytes) -> Entry:
        """Parse a line.

        Raises SchemaTooNewError for a line of a newer version, ConfigurationError for an encrypted
        line without its key.
        """
        ...


class SessionLog(Protocol):
    """Logs of all sessions, each a sequence of lines with checksums. Thread-safe.

    Every method raises StoreUnavailableError where the log can't be read or written.
    """

    @property
    def shared(self) -> bool:
        """True if other processes append to the logs as well."""
        ...

    @property
    def is_new(self) -> bool:
        """True if the store has never had a log, as far as it can tell."""
        ...

    def append(self, user_id: str, session_id: str, messages: Sequence[Message]) -> int:
        """Append `messages`, durably; return the number of new ones.

        Skips a message whose id is in the session with the same content. Raises InvalidInputError
        if the content differs; then none of the messages is kept, nor where the write fails.
        """
        ...

    def read(self, user_id: str, session_id: str, after: Cursor | None = None) -> Iterator[Record]:
        """Yield the durable messages after a cursor, in order.

        A cursor that doesn't follow the message it names belongs to another log. Then CursorLost
        is emitted and all messages are read again. Lines that can't be read are skipped, and
        emitted as LogRepaired.
        """
        ...

    def size(self, user_id: str, session_id: str) -> int:
        """Return the size of a session's log in bytes; 0 if there is none."""
        ...

    def generation(self, user_id: str, session_id: str) -> int:
        """Return a number that changes when a session's log is rewritten or removed.

        Byte offsets read before are void then. While the ledger is held exclusively for the user,
        no other process rewrites or removes the log.
        """
        ...

    def freed(self, record: Record) -> int:
        """Return the bytes freed by removing a message from the log; negative if the log grows."""
        ...

    def compact(
        self,
        user_id: str,
        session_id: str,
        gone: Collection[str],
        cut: Mapping[str, str] = NOTHING_CUT,
        *,
        forgotten: bool = True,
    ) -> Rewritten:
        """Rewrite a session's log, atomically, without the contents of the messages `gone`.

        Messages of `cut`, by id, get the contents given there. Ids and positions stay, so that no
        message can be added again and no position shifts. `erased` tells those that were
        `forgotten` from those that merely had to make room.
        """
        ...

    def remove(self, user_id: str, session_id: str) -> int:
        """Delete a session's log; return its size in bytes."""
        ...

    def ids(self, user_id: str, session_id: str) -> frozenset[str]:
        """Return the ids of all messages of a session, those that were erased included."""
        ...

    def erased(self, user_id: str, session_id: str) -> dict[str, str | None]:
        """Return the remaining texts of messages that were forgotten or cut, by id.

        None is left of a forgotten one.
        """
        ...

    def sessions(self) -> Iterator[SessionKey]:
        """Yield every session with a log that tells whose it is."""
        ...

    def behind(self, stored: Callable[[], Iterable[Cursor]]) -> Iterator[SessionKey]:
        """Yield the sessions with messages that aren't stored.

        `stored` returns the ledger's cursors; a log in the ledger's own database needn't ask.
        """
        ...

    def summary(self, user_id: str, session_id: str) -> SessionSummary:
        """Read a session's log, and count its messages and damage."""
        ...

    def summaries(self) -> Iterator[SessionSummary]:
        """Read every log, including those without a readable owner, and count as `summary`."""
        ...

    def corrupt_lines(self, user_id: str, session_id: str) -> int:
        """Return the number of lines that can't be read, and of places where lines are missing.

        A log outside this machine isn't read for it: the number is that of its latest `summary`.
        """
        ...

    def tally(self) -> LogTally:
        """Count all logs, including those without a readable owner."""
        ...


class CopiedLog(SessionLog, Protocol):
    """A `SessionLog` whose lines can be copied to another one."""

    def entries(self, user_id: str, session_id: str) -> Iterator[Entry]:
        """Yield the content of each line, in the order of positions.

        What can be read of a damaged one is an entry of a kind of its own.
        """
        ...

    def restore(self, user_id: str, session_id: str, entries: Iterable[Entry]) -> Mapping[int, int]:
        """Write a session's log again from the entries of another one.

        Returns the byte offset of each position, and of the end.
        """
        ...
