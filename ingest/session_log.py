"""The session log, the truth of conversations: one append-only JSONL file for each session.

Appending returns once the messages are on disk. The first line of a file names its user and
session; file names are digests, so that no identifier becomes part of a path. Lines have checksums
and may be encrypted (`ingest.log_line`). A last line torn by a crash was never acknowledged and is
cut off; a corrupt line elsewhere is skipped and counted. Readers get only what the disk has
confirmed, so that nothing is derived from a message that a crash may still lose. Somewhat long:
what a log promises rests on all its operations holding the same locks in the same order.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from pydantic import ValidationError

from ingest import log_file
from ingest.encryption import Cipher
from ingest.log_line import LineFormat
from semantic_memory.domain.changes import Cursor
from semantic_memory.domain.errors import InvalidInputError, StoreUnavailableError
from semantic_memory.domain.events import CursorLost, Event, LogRepaired, WriteDelayed
from semantic_memory.domain.messages import Message, SessionKey

_OPEN_SESSIONS = 4_096
_STRIPES = 64
_GONE = b""  # in place of the digest of a forgotten message, which must not be added again
_SAID = ("message", "cut")  # kinds of lines; of a message that was cut, a part of its text is left
_KNOWN = (*_SAID, "gone")


NOTHING_CUT: Mapping[str, str] = MappingProxyType({})


class Record(NamedTuple):
    """A message read back from the log."""

    position: int
    """Position in the session, from 0; corrupt lines count, so that positions never shift."""
    start: int
    """Byte offset of the line."""
    end: int
    """Byte offset of the end of the line, where reading continues."""
    message: Message


class SessionSummary(NamedTuple):
    """Contents of a session's file; `session` is None if the first line is unreadable."""

    session: SessionKey | None
    messages: int
    corrupt_lines: int
    torn_bytes: int


class Rewritten(NamedTuple):
    """Outcome of rewriting a session's log."""

    freed: int
    """Number of bytes freed."""
    offsets: Mapping[int, int]
    """Byte offset of each position in the new file."""


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


class _Counted(NamedTuple):
    """Corrupt lines of a file up to an offset."""

    generation: int = 0
    offset: int = 0
    corrupt: int = 0


class SessionLog:
    """Logs of all sessions, below one directory."""

    def __init__(
        self,
        root: Path,
        emit: Callable[[Event], None],
        cipher: Cipher | None = None,
        patience: Patience = _NO_PATIENCE,
    ) -> None:
        self._root = root
        self._patience = patience
        self._held = 0  # bytes in RAM that a failing disk hasn't taken yet
        self._emit = emit
        self._format = LineFormat(cipher)
        self._tails: OrderedDict[Path, _Tail] = OrderedDict()
        self._generations: dict[Path, int] = {}
        self._counted: dict[Path, _Counted] = {}
        self._guard = threading.Lock()
        self._stripes = [threading.Lock() for _ in range(_STRIPES)]
        log_file.make_directory(root)
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
            fresh = self._fresh(messages, tail, session_id)
            if not fresh:
                return 0
            lines = [
                self._format.write("message", message.model_dump(mode="json"))
                for message in fresh.values()
            ]
            if tail.size == 0:
                lines.insert(
                    0, self._format.write("session", {"user_id": user_id, "session_id": session_id})
                )
            data = b"".join(lines)
            try:
                with self._held_in_ram(len(data)) as seconds:
                    start = time.monotonic()
                    tail.size, attempts = log_file.append(path, data, tail.size, seconds)
            except StoreUnavailableError:
                self._forget(path)  # the next call finds out what the disk has
                raise
            if attempts > 1:
                waited = time.monotonic() - start
                self._emit(WriteDelayed(user_id, session_id, len(data), attempts, waited))
            tail.digests.update((message.id, _digest(message)) for message in fresh.values())
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
        with log_file.opened(path) as file:
            start = log_file.line_start(file, cursor.offset)
            file.seek(start)
            kind, data = self._format.read(file.read(cursor.offset - start))
        return kind in _KNOWN and data.get("id") == cursor.message_id

    def _records(
        self, path: Path, user_id: str, session_id: str, position: int, offset: int, size: int
    ) -> Iterator[Record]:
        if offset >= size:
            return
        corrupt = 0
        with log_file.opened(path) as file:
            file.seek(offset)
            while offset < size:
                line = file.readline()
                offset += len(line)
                kind, data = self._format.read(line)
                if kind == "session":
                    continue
                message = _message(data) if kind in _SAID else None
                if message is None:
                    corrupt += kind != "gone"
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
            try:
                size = path.stat().st_size
                path.unlink()
                log_file.sync_directory(path.parent)
            except FileNotFoundError:
                return 0
            except OSError as error:
                raise StoreUnavailableError(
                    f"can't delete the session log {path}: {error.strerror or error}"
                ) from error
            return size

    def size(self, user_id: str, session_id: str) -> int:
        """Return the size of a session's log in bytes; 0 if there is none."""
        try:
            return self.path(user_id, session_id).stat().st_size
        except FileNotFoundError:
            return 0

    def freed(self, record: Record) -> int:
        """Return the bytes freed by removing a message from the log; negative if the log grows."""
        return record.end - record.start - len(self._gone_line(record.message.id))

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
    ) -> Rewritten:
        """Rewrite a session's log without the contents of the messages `gone`.

        Messages of `cut`, by id, get the contents given there. Ids and positions stay, so that no
        message can be added again and no position shifts. The file is replaced atomically.
        """
        path = self.path(user_id, session_id)
        with self._stripes[hash(path) % _STRIPES]:
            before = self._tail(path, user_id, session_id).size
            lines, ends, position, end = [], {0: 0}, 0, 0
            with log_file.opened(path) as file:
                for line in file:
                    kind, data = self._format.read(line)
                    if kind in _SAID and data["id"] in gone:
                        line = self._gone_line(data["id"])
                    elif kind in _SAID and data["id"] in cut:
                        line = self._format.write("cut", {**data, "content": cut[data["id"]]})
                    elif kind is not None:
                        line = self._format.write(kind, data)  # re-encrypts with the first key
                    lines.append(line)
                    end += len(line)
                    position += kind != "session"
                    ends[position] = end
            log_file.replace(path, b"".join(lines))
            self._outdate(path)
        return Rewritten(before - end, ends)

    def files(self) -> Iterator[tuple[Path, int]]:
        """Yield the path and size of every session's file."""
        for path in sorted(self._root.glob("*/*.jsonl")):
            with suppress(FileNotFoundError):  # deleted meanwhile
                yield path, path.stat().st_size

    def identify(self, path: Path) -> SessionKey | None:
        """Return the session of a file by its first line; None if that is unreadable."""
        with log_file.opened(path) as file:
            kind, data = self._format.read(file.readline())
        return SessionKey(data["user_id"], data["session_id"]) if kind == "session" else None

    def summary(self, path: Path) -> SessionSummary:
        """Read a file and count its messages and damage."""
        messages = corrupt = torn = 0
        with log_file.opened(path) as file:
            for line in file:
                kind, data = self._format.read(line)
                if not line.endswith(b"\n"):
                    torn = len(line)
                elif kind in _SAID and _message(data) is not None:
                    messages += 1
                elif kind not in ("session", "gone"):
                    corrupt += 1
        return SessionSummary(self.identify(path), messages, corrupt, torn)

    def corrupt_lines(self, path: Path) -> int:
        """Count the lines of a file that can't be read; lines counted before aren't read again."""
        with self._guard:
            generation = self._generations.get(path, 0)
            known = self._counted.get(path, _Counted())
        if known.generation != generation:
            known = _Counted(generation)
        corrupt, offset = known.corrupt, known.offset
        with suppress(FileNotFoundError), path.open("rb") as file:
            file.seek(offset)
            for line in file:
                if not line.endswith(b"\n"):
                    break  # being appended, or cut off at the next opening
                corrupt += not self._format.is_sound(line)
                offset += len(line)
        with self._guard:
            self._counted[path] = _Counted(generation, offset, corrupt)
        return corrupt

    def path(self, user_id: str, session_id: str) -> Path:
        """Return the path of a session's log."""
        return self._root / _name(user_id) / f"{_name(session_id)}.jsonl"

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
        tail = _Tail(size=log_file.complete_bytes(path))
        torn = path.stat().st_size - tail.size
        log_file.settle(path, tail.size)
        if torn:
            self._emit(LogRepaired(user_id, session_id, torn_bytes=torn, corrupt_lines=0))
        for record in self._records(path, user_id, session_id, 0, 0, tail.size):
            tail.digests[record.message.id] = _digest(record.message)
        tail.digests.update(dict.fromkeys(self._gone(path), _GONE))
        return tail

    def _gone_line(self, message_id: str) -> bytes:
        return self._format.write("gone", {"id": message_id})

    def _gone(self, path: Path) -> Iterator[str]:
        """Yield the ids of messages whose text, or part of it, was erased."""
        with log_file.opened(path) as file:
            for line in file:
                kind, data = self._format.read(line)
                if kind in ("gone", "cut"):
                    yield data["id"]

    def _fresh(
        self, messages: Sequence[Message], tail: _Tail, session_id: str
    ) -> dict[str, Message]:
        fresh: dict[str, Message] = {}
        for message in messages:
            known = tail.digests.get(message.id)
            if known is None and message.id in fresh:
                known = _digest(fresh[message.id])
            if known is None:
                fresh[message.id] = message
            elif known != _GONE and known != _digest(message):
                raise InvalidInputError(
                    f"message id {message.id!r} already names another message of session"
                    f" {session_id!r}: ids must be unique within a session"
                )
        return fresh


def _name(identifier: str) -> str:
    return hashlib.blake2b(identifier.encode(), digest_size=16).hexdigest()


def _digest(message: Message) -> bytes:
    said = "\x1f".join((message.role, message.name or "", message.content))
    return hashlib.blake2b(said.encode(), digest_size=8).digest()


def _message(data: dict[str, Any]) -> Message | None:
    try:
        return Message.model_validate(data)
    except ValidationError:
        return None
