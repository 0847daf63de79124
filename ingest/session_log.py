"""The truth of conversations: one append-only JSONL file a session, durable on return.

A line is `{"crc":"<8 hex digits>","v":1,"kind":...,"data":{...}}` where `crc` is the CRC-32 of the
rest of the line. The first line of a file names its user and session; file names are digests, so no
identifier ever reaches a path. A last line torn by a crash was never acknowledged and is cut off; a
corrupt line elsewhere is skipped and counted.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from semantic_memory.errors import InvalidInputError, SchemaTooNewError, StoreUnavailableError
from semantic_memory.events import Event, LogRepaired
from semantic_memory.models import SCHEMA_VERSION, Message, SessionKey

_PREFIX = b'{"crc":"'
_BODY = len(_PREFIX) + 8 + len(b'",')
_OPEN_SESSIONS = 4_096
_STRIPES = 64


class Record(NamedTuple):
    """A message read back from the log."""

    position: int
    """Place in the session, from 0; corrupt lines count, so places never shift."""
    end: int
    """Byte offset just behind its line: where reading goes on."""
    message: Message


class SessionSummary(NamedTuple):
    """What a session's file holds; `session` is None if its first line can't be read."""

    session: SessionKey | None
    messages: int
    corrupt_lines: int
    torn_bytes: int


@dataclass
class _Tail:
    """What appending to a session needs to know of it."""

    size: int = 0
    digests: dict[str, bytes] = field(default_factory=dict)


class SessionLog:
    """Every session's log below one directory."""

    def __init__(self, root: Path, observe: Callable[[Event], None]) -> None:
        self._root = root
        self._observe = observe
        self._tails: OrderedDict[Path, _Tail] = OrderedDict()
        self._guard = threading.Lock()
        self._stripes = [threading.Lock() for _ in range(_STRIPES)]

    def append(self, user_id: str, session_id: str, messages: Sequence[Message]) -> int:
        """Write `messages` and wait for the disk; returns how many were new.

        A message whose id is in the session already is skipped if it says the same.
        Raises InvalidInputError if it says something else, StoreUnavailableError if the disk
        refuses; either way nothing of the call was written.
        """
        path = self.path(user_id, session_id)
        with self._stripes[hash(path) % _STRIPES]:
            tail = self._tail(path, user_id, session_id)
            fresh = self._fresh(messages, tail, session_id)
            if not fresh:
                return 0
            lines = [
                _line("message", message.model_dump(mode="json")) for message in fresh.values()
            ]
            if tail.size == 0:
                lines.insert(0, _line("session", {"user_id": user_id, "session_id": session_id}))
            data = b"".join(lines)
            _append(path, data, tail.size)
            tail.size += len(data)
            tail.digests.update((message.id, _digest(message)) for message in fresh.values())
            return len(fresh)

    def read(
        self, user_id: str, session_id: str, position: int = 0, offset: int = 0
    ) -> Iterator[Record]:
        """The messages from a place on, in order; ends before a line still being written."""
        path = self.path(user_id, session_id)
        corrupt = 0
        if not path.exists():
            return
        with path.open("rb") as file:
            file.seek(offset)
            end = offset
            for line in file:
                if not line.endswith(b"\n"):
                    break
                end += len(line)
                kind, data = _parse(line)
                if kind == "session":
                    continue
                message = _message(data) if kind == "message" else None
                if message is None:
                    corrupt += 1
                else:
                    yield Record(position, end, message)
                position += 1
        if corrupt:
            self._observe(LogRepaired(user_id, session_id, torn_bytes=0, corrupt_lines=corrupt))

    def files(self) -> Iterator[tuple[Path, int]]:
        """Path and size of every session's file."""
        for directory in os.scandir(self._root) if self._root.exists() else ():
            if directory.is_dir():
                for entry in os.scandir(directory.path):
                    if entry.name.endswith(".jsonl"):
                        yield Path(entry.path), entry.stat().st_size

    def identify(self, path: Path) -> SessionKey | None:
        """Whose file this is, by its first line; None if that can't be read."""
        with path.open("rb") as file:
            kind, data = _parse(file.readline())
        return SessionKey(data["user_id"], data["session_id"]) if kind == "session" else None

    def summary(self, path: Path) -> SessionSummary:
        """Read a whole file and count."""
        messages = corrupt = torn = 0
        with path.open("rb") as file:
            for line in file:
                kind, data = _parse(line)
                if not line.endswith(b"\n"):
                    torn = len(line)
                elif kind == "message" and _message(data) is not None:
                    messages += 1
                elif kind != "session":
                    corrupt += 1
        return SessionSummary(self.identify(path), messages, corrupt, torn)

    def path(self, user_id: str, session_id: str) -> Path:
        """Where a session's log lies."""
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

    def _load(self, path: Path, user_id: str, session_id: str) -> _Tail:
        """Learn a session's ids, and cut off a last line that a crash left unfinished."""
        if not path.exists():
            return _Tail()
        tail = _Tail(size=_complete_bytes(path))
        torn = path.stat().st_size - tail.size
        if torn:
            os.truncate(path, tail.size)
            self._observe(LogRepaired(user_id, session_id, torn_bytes=torn, corrupt_lines=0))
        for record in self.read(user_id, session_id):
            tail.digests[record.message.id] = _digest(record.message)
        return tail

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
            elif known != _digest(message):
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


def _line(kind: str, data: dict[str, Any]) -> bytes:
    record = {"v": SCHEMA_VERSION, "kind": kind, "data": data}
    body = json.dumps(record, ensure_ascii=False, separators=(",", ":"))[1:].encode()
    return b'%b%08x",%b\n' % (_PREFIX, zlib.crc32(body), body)


def _parse(line: bytes) -> tuple[str | None, dict[str, Any]]:
    """Kind and data of a line; kind None if it is damaged."""
    body = line[_BODY:].rstrip(b"\n")
    if not line.startswith(_PREFIX) or line[len(_PREFIX) : _BODY - 2] != b"%08x" % zlib.crc32(body):
        return None, {}
    record = json.loads(b"{" + body)
    if record["v"] > SCHEMA_VERSION:
        raise SchemaTooNewError(
            f"a session log has schema {record['v']}, this version of semantic-memory knows"
            f" {SCHEMA_VERSION}: upgrade the package (pip install -U semantic-memory)"
        )
    return record["kind"], record["data"]


def _message(data: dict[str, Any]) -> Message | None:
    try:
        return Message.model_validate(data)
    except ValidationError:
        return None


def _complete_bytes(path: Path) -> int:
    """Size of the file up to its last line end."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        while size:
            start = max(0, size - 65_536)
            file.seek(start)
            found = file.read(size - start).rfind(b"\n")
            if found >= 0:
                return start + found + 1
            size = start
    return 0


def _append(path: Path, data: bytes, size: int) -> None:
    """Write behind `size` bytes and wait for the disk; on failure leave the file as it was."""
    created = size == 0
    try:
        if created:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(descriptor, rest) :]
                os.fsync(descriptor)
            except OSError:
                os.ftruncate(descriptor, size)
                raise
        finally:
            os.close(descriptor)
        if created:
            for directory in (path.parent, path.parent.parent):
                _sync_directory(directory)
    except OSError as error:
        raise StoreUnavailableError(
            f"can't write the session log {path}: {error.strerror or error}; nothing of this call"
            " was kept: check free space and permissions, then send it again"
        ) from error


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
