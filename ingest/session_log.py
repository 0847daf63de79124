"""The session log, the truth of conversations: one append-only JSONL file for each session.

Appending returns once the messages are on disk. The first line of a file names its user and
session; file names are digests, so that no identifier becomes part of a path. Lines have checksums
and may be encrypted (`ingest.log_line`). A last line torn by a crash was never acknowledged and is
cut off; a corrupt line elsewhere is skipped and counted. Readers get only what the disk has
confirmed, so that nothing is derived from a message that a crash may still lose. Somewhat long:
what a log promises rests on all its operations holding the same locks in the same order.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ingest.log_file import LogFiles, line_start
from ingest.log_line import Chain, LineFormat
from semantic_memory.domain import log_lines
from semantic_memory.domain.changes import Cursor
from semantic_memory.domain.errors import StoreUnavailableError
from semantic_memory.domain.events import CursorLost, Event, LogRepaired, WriteDelayed
from semantic_memory.domain.files import digest_of
from semantic_memory.domain.logs import (
    NOTHING_CUT,
    Entry,
    LogTally,
    Record,
    Rewritten,
    SessionSummary,
)
from semantic_memory.domain.messages import Message, SessionKey
from semantic_memory.domain.ports.disk import Disk
from semantic_memory.domain.ports.encryption import Encryption

_OPEN_SESSIONS = 4_096
_STRIPES = 64


class Patience(NamedTuple):
    """Bounds for holding messages in RAM, unacknowledged, while the disk fails."""

    seconds: float = 0.0
    """Time after which an append gives up; it tries three times even if this is 0."""
    most_bytes: int = 0
    """Size of all held messages above which an append doesn't wait."""


_NO_PATIENCE = Patience()


@dataclass
class _Tail:
    """State of a session's file, for appending."""

    size: int = 0
    """Number of bytes confirmed by the disk."""
    digests: dict[str, bytes] = field(default_factory=dict)
    last: bytes = b""
    """The checksum of the last line, which the next one names."""
    named: bool = True
    """Its first line names the session, or will."""


class _Counted(NamedTuple):
    """Corrupt lines of a file up to an offset."""

    generation: int = 0
    offset: int = 0
    corrupt: int = 0
    last: bytes = b""


class FileSessionLog:
    """The `SessionLog` in files, below one directory."""

    shared = False
    """One process at a time has the directory."""

    def __init__(
        self,
        root: Path,
        emit: Callable[[Event], None],
        disk: Disk,
        encryption: Encryption | None = None,
        patience: Patience = _NO_PATIENCE,
        *,
        reading: bool = False,
    ) -> None:
        """Find the logs below `root`; with `reading`, an unfinished last line is left as it is."""
        self._reading = reading
        self._root = root
        self._on_disk = LogFiles(disk)
        self._patience = patience
        self._held = 0  # bytes in RAM that a failing disk hasn't taken yet
        self._emit = emit
        self._format = LineFormat(encryption)
        self._any = self._format.checksum(self._format.write("gone", {}, before=b""))
        self._tails: OrderedDict[Path, _Tail] = OrderedDict()
        self._generations: dict[Path, int] = {}
        self._counted: dict[Path, _Counted] = {}
        self._guard = threading.Lock()
        self._stripes = [threading.Lock() for _ in range(_STRIPES)]
        self._on_disk.make_directory(root)
        if first := next(self.files(), None):
            self.identify(first[0])  # raises at once if the key of encrypted logs is missing

    def append(self, user_id: str, session_id: str, messages: Sequence[Message]) -> int:
        """Append `messages` and wait for the disk; return the number of new ones.

        Skips a message whose id is in the session with the same content. Raises InvalidInputError
        if the content differs, StoreUnavailableError if the write fails; in both cases none of the
        messages is kept.
        """
        path = self.path(user_id, session_id)
        with self._stripes[hash(path) % _STRIPES]:
            tail = self._tail(path, user_id, session_id)
            if tail.size and not tail.named:
                self._name_session(path, user_id, session_id)
                tail = self._tail(path, user_id, session_id)
            fresh = log_lines.fresh(messages, tail.digests, session_id)
            if not fresh:
                return 0
            entries = [log_lines.logged(message) for message in fresh.values()]
            if tail.size == 0:
                owner = {"user_id": user_id, "session_id": session_id}
                entries.insert(0, ("session", owner))
            last, lines = tail.last, []
            for kind, content in entries:
                lines.append(self._format.write(kind, content, last))
                last = self._format.checksum(lines[-1])
            data = b"".join(lines)
            try:
                with self._held_in_ram(len(data)) as seconds:
                    start = time.monotonic()
                    tail.size, attempts = self._on_disk.append(path, data, tail.size, seconds)
            except StoreUnavailableError:
                self._forget(path)  # the next call finds out what the disk has
                raise
            if attempts > 1:
                waited = time.monotonic() - start
                self._emit(WriteDelayed(user_id, session_id, len(data), attempts, waited))
            tail.last = last
            tail.digests.update(
                (message.id, log_lines.digest(message)) for message in fresh.values()
            )
            return len(fresh)

    @contextmanager
    def _held_in_ram(self, size: int) -> Iterator[float]:
        """Count `size` bytes as held in RAM; yield the seconds for which the disk may fail."""
        with self._guard:
            self._held += size
            full = self._held > self._patience.most_bytes
        try:
            yield 0.0 if full else self._patience.seconds
        finally:
            with self._guard:
                self._held -= size

    def read(self, user_id: str, session_id: str, after: Cursor | None = None) -> Iterator[Record]:
        """Yield the messages on disk after a cursor, in order.

        A cursor that doesn't follow the message it names belongs to another file. Then CursorLost
        is emitted and all messages are read again, which is harmless, as derived ids repeat.
        """
        path = self.path(user_id, session_id)
        with self._stripes[hash(path) % _STRIPES]:
            size = self._tail(path, user_id, session_id).size
        position = offset = 0
        if after is not None and after.offset:
            if self._stands(path, after, size):
                position, offset = after.position, after.offset
            else:
                self._emit(CursorLost(user_id, session_id, after.stage))
        yield from self._records(path, user_id, session_id, position, offset, size)

    def _stands(self, path: Path, cursor: Cursor, size: int) -> bool:
        """Return True if the line that ends at `cursor` has the message it names."""
        if cursor.offset > size:
            return False
        with self._on_disk.opened(path) as file:
            start = line_start(file, cursor.offset)
            file.seek(start)
            entry = self._format.read(file.read(cursor.offset - start))
        return log_lines.names(entry, cursor.message_id)

    def _records(
        self, path: Path, user_id: str, session_id: str, position: int, offset: int, size: int
    ) -> Iterator[Record]:
        if offset >= size:
            return
        corrupt, chain = 0, Chain(self._format)
        with self._on_disk.opened(path) as file:
            file.seek(offset)
            while offset < size and (line := file.readline()):  # it may be rewritten meanwhile
                offset += len(line)
                corrupt += chain.breaks(line)
                entry = self._format.read(line)
                if entry.kind == "session":
                    continue
                message = log_lines.said(entry)
                if message is None:
                    corrupt += entry.kind != "gone"
                else:
                    yield Record(position, offset - len(line), offset, message)
                position += 1
        if corrupt:
            self._emit(LogRepaired(user_id, session_id, torn_bytes=0, corrupt_lines=corrupt))

    def remove(self, user_id: str, session_id: str) -> int:
        """Delete a session's log; return its size in bytes."""
        path = self.path(user_id, session_id)
        with self._stripes[hash(path) % _STRIPES]:
            self._outdate(path)
            size = self.size(user_id, session_id)
            self._on_disk.remove(path)
            return size

    def size(self, user_id: str, session_id: str) -> int:
        """Return the size of a session's log in bytes; 0 if there is none."""
        try:
            return self.path(user_id, session_id).stat().st_size
        except FileNotFoundError:
            return 0

    def freed(self, record: Record) -> int:
        """Return the bytes freed by removing a message from the log; negative if the log grows."""
        entry = log_lines.erasure(record.message.id, forgotten=False)
        return record.end - record.start - len(self._format.write(*entry, self._any))

    def generation(self, user_id: str, session_id: str) -> int:
        """Return a number that changes when a session's log is rewritten or removed.

        Byte offsets read before are void then.
        """
        with self._guard:
            return self._generations.get(self.path(user_id, session_id), 0)

    def compact(
        self,
        user_id: str,
        session_id: str,
        gone: Collection[str],
        cut: Mapping[str, str] = NOTHING_CUT,
        *,
        forgotten: bool = True,
    ) -> Rewritten:
        """Rewrite a session's log without the contents of the messages `gone`.

        Messages of `cut`, by id, get the contents given there. Ids and positions stay, so that no
        message can be added again and no position shifts. `erased` tells those that were
        `forgotten` from those that merely had to make room. The file is replaced atomically.
        """
        path = self.path(user_id, session_id)
        with self._stripes[hash(path) % _STRIPES]:
            before = self._tail(path, user_id, session_id).size
            last, ends, position, end = b"", {0: 0}, 0, 0
            lines = []
            with self._on_disk.opened(path) as file:
                for line in file:
                    kind, data = self._format.read(line)
                    if kind is not None:  # is sealed with the first key
                        content = log_lines.rewritten((kind, data), gone, cut, forgotten=forgotten)
                        line = self._format.write(*content, last)
                    last = self._format.checksum(line)
                    lines.append(line)
                    end += len(line)
                    position += kind != "session"
                    ends[position] = end
            self._on_disk.replace(path, b"".join(lines))
            self._outdate(path)
        return Rewritten(before - end, ends)

    def entries(self, user_id: str, session_id: str) -> Iterator[Entry]:
        """Yield the content of each complete line but the first, which names the session."""
        path = self.path(user_id, session_id)
        with self._on_disk.opened(path) as file:
            for line in file:
                entry = self._format.read(line)
                if line.endswith(b"\n") and entry.kind != "session":
                    yield log_lines.copied(entry, line)

    def restore(self, user_id: str, session_id: str, entries: Iterable[Entry]) -> Mapping[int, int]:
        """Write a session's file again, atomically, from the entries of another log."""
        path = self.path(user_id, session_id)
        owner = {"user_id": user_id, "session_id": session_id}
        lines = [self._format.write("session", owner, b"")]
        ends = {0: len(lines[0])}
        for position, (kind, data) in enumerate(entries, start=1):
            last = self._format.checksum(lines[-1])
            lines.append(self._format.write(str(kind), data, last))
            ends[position] = ends[position - 1] + len(lines[-1])
        with self._stripes[hash(path) % _STRIPES]:
            self._on_disk.make_directory(path.parent)
            self._on_disk.replace(path, b"".join(lines))
            self._outdate(path)
        return ends

    @property
    def is_new(self) -> bool:
        """True if no session has ever had a log: users keep their directories."""
        return not any(self._root.iterdir())

    def files(self) -> Iterator[tuple[Path, int]]:
        """Yield the path and size of every session's file."""
        for path in sorted(self._root.glob("*/*.jsonl")):
            with suppress(FileNotFoundError):  # deleted meanwhile
                yield path, path.stat().st_size

    def identify(self, path: Path) -> SessionKey | None:
        """Return the session of a file by its first line; None if that is unreadable."""
        with self._on_disk.opened(path) as file:
            kind, data = self._format.read(file.readline())
        return SessionKey(data["user_id"], data["session_id"]) if kind == "session" else None

    def sessions(self) -> Iterator[SessionKey]:
        """Yield the session of every file whose first line can be read."""
        for path, _ in self.files():
            if (key := self.identify(path)) is not None:
                yield key

    def behind(self, stored: Callable[[], Iterable[Cursor]]) -> Iterator[SessionKey]:
        """Yield the sessions whose file is of another size than the ledger has stored."""
        known = {self.path(cursor.user_id, cursor.session_id): cursor for cursor in stored()}
        for path, size in self.files():
            cursor = known.get(path)
            if cursor is None:
                key = self.identify(path)
            else:
                key = SessionKey(cursor.user_id, cursor.session_id)
            if key is not None and (cursor is None or size != cursor.offset):
                yield key

    def summary(self, user_id: str, session_id: str) -> SessionSummary:
        """Read a session's file, and count its messages and damage."""
        return self._summary(self.path(user_id, session_id))

    def summaries(self) -> Iterator[SessionSummary]:
        """Read every file, and count its messages and damage."""
        for path, _ in self.files():
            yield self._summary(path)

    def _summary(self, path: Path) -> SessionSummary:
        messages = corrupt = torn = 0
        chain = Chain(self._format)
        with self._on_disk.opened(path) as file:
            for line in file:
                entry = self._format.read(line)
                corrupt += chain.breaks(line)
                if not line.endswith(b"\n"):
                    torn = len(line)
                elif log_lines.said(entry) is not None:
                    messages += 1
                elif entry.kind not in ("session", "gone"):
                    corrupt += 1
        return SessionSummary(self.identify(path), messages, corrupt, torn)

    def tally(self) -> LogTally:
        """Count all files."""
        files = list(self.files())
        corrupt = sum(self._corrupt_lines(path) for path, _ in files)
        return LogTally(len(files), sum(size for _, size in files), corrupt)

    def corrupt_lines(self, user_id: str, session_id: str) -> int:
        """Count the lines of a file that can't be read, and the places where lines are missing.

        Lines counted before aren't read again.
        """
        return self._corrupt_lines(self.path(user_id, session_id))

    def _corrupt_lines(self, path: Path) -> int:
        with self._guard:
            generation = self._generations.get(path, 0)
            known = self._counted.get(path, _Counted())
        if known.generation != generation:
            known = _Counted(generation)
        _, offset, corrupt, last = known
        chain = Chain(self._format, last)
        try:
            with self._on_disk.opened(path) as file:
                file.seek(offset)
                for line in file:
                    if not line.endswith(b"\n"):
                        break  # being appended, or cut off at the next opening
                    corrupt += chain.breaks(line)
                    corrupt += not chain.last
                    offset += len(line)
        except StoreUnavailableError:
            if path.exists():  # else deleted meanwhile
                raise
        with self._guard:
            self._counted[path] = _Counted(generation, offset, corrupt, chain.last)
        return corrupt

    def path(self, user_id: str, session_id: str) -> Path:
        """Return the path of a session's log."""
        return self._root / digest_of(user_id) / f"{digest_of(session_id)}.jsonl"

    def _tail(self, path: Path, user_id: str, session_id: str) -> _Tail:
        with self._guard:
            tail = self._tails.get(path)
            if tail is not None:
                self._tails.move_to_end(path)
                return tail
        tail = self._load(path, user_id, session_id)
        with self._guard:
            self._tails[path] = tail
            if len(self._tails) > _OPEN_SESSIONS:
                self._tails.popitem(last=False)
        return tail

    def _forget(self, path: Path) -> None:
        with self._guard:
            self._tails.pop(path, None)

    def _outdate(self, path: Path) -> None:
        self._forget(path)
        with self._guard:
            self._generations[path] = self._generations.get(path, 0) + 1

    def _load(self, path: Path, user_id: str, session_id: str) -> _Tail:
        """Load the message ids of a session, and cut off an unfinished last line."""
        if not path.exists():
            return _Tail()
        tail = _Tail(size=self._on_disk.complete_bytes(path))
        torn = path.stat().st_size - tail.size
        if not self._reading:
            self._on_disk.settle(path, tail.size)
            if torn:
                self._emit(LogRepaired(user_id, session_id, torn_bytes=torn, corrupt_lines=0))
        tail.named = self.identify(path) is not None
        tail.last = self._format.checksum(self._on_disk.last_line(path, tail.size))
        for record in self._records(path, user_id, session_id, 0, 0, tail.size):
            tail.digests[record.message.id] = log_lines.digest(record.message)
        tail.digests.update(dict.fromkeys(self._ids_erased(path), log_lines.ERASED))
        return tail

    def _name_session(self, path: Path, user_id: str, session_id: str) -> None:
        """Write the first line of a log again, so that its messages are taken in.

        A loss of power during the first append may leave its end without its beginning.
        """
        owner = {"user_id": user_id, "session_id": session_id}
        with self._on_disk.opened(path) as file:
            file.readline()
            data = self._format.write("session", owner, b"") + file.read()
        self._on_disk.replace(path, data)
        self._outdate(path)
        self._emit(LogRepaired(user_id, session_id, torn_bytes=0, corrupt_lines=1))

    def ids(self, user_id: str, session_id: str) -> frozenset[str]:
        """Return the ids of all messages of a session, those that were erased included."""
        path = self.path(user_id, session_id)
        with self._stripes[hash(path) % _STRIPES]:
            return frozenset(self._tail(path, user_id, session_id).digests)

    def erased(self, user_id: str, session_id: str) -> dict[str, str | None]:
        """Return the remaining texts of messages that were forgotten or cut, by id.

        None is left of a forgotten one.
        """
        with self._on_disk.opened(self.path(user_id, session_id)) as file:
            return log_lines.erased(map(self._format.read, file))

    def _ids_erased(self, path: Path) -> Iterator[str]:
        """Yield the ids of messages whose text, or part of it, was erased."""
        with self._on_disk.opened(path) as file:
            for line in file:
                kind, data = self._format.read(line)
                if kind in ("gone", "cut"):
                    yield data["id"]
