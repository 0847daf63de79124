"""Files of windows and checkpoints: a directory for each user, and in it one for each session.

A file is `{"schema": 1, "version": ..., "crc": ..., "data": {...}}`, encrypted if the store is. A
new state is written beside the old one, as `NAME.new`, and forced to disk. The old one is renamed
to `NAME.previous.json`, in case the newer file gets damaged, and then the new one takes its place.
Where that was cut off, the previous state is the last one saved.
"""

from __future__ import annotations

import contextlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from semantic_memory.domain.errors import (
    SchemaTooNewError,
    StoreCorruptError,
    StoreUnavailableError,
)
from semantic_memory.domain.events import CheckpointRestored
from semantic_memory.domain.files import (
    delete_directory,
    delete_files,
    digest_of,
    draft_of,
    make_directories,
    write_file,
)
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.ports import Observer
from semantic_memory.domain.ports.disk import Disk
from semantic_memory.domain.ports.encryption import Encryption
from semantic_memory.domain.ports.states import Saved
from semantic_memory.domain.sealing import sealed, unsealed

_WINDOW = "window"  # beginning of the names of a window's files: states, damaged ones, drafts
_TASKS = "tasks"
_SCHEMA = 1


class _DamagedError(ValueError):
    """A file is damaged."""


class StateFile:
    """The place of a state in a file. Reading one sets a damaged file aside."""

    def __init__(
        self, path: Path, emit: Observer, disk: Disk, encryption: Encryption | None = None
    ) -> None:
        self._path = path
        self._previous = path.with_name(f"{path.stem}.previous.json")
        self._emit = emit
        self._disk = disk
        self._encryption = encryption

    @property
    def name(self) -> str:
        """The path."""
        return str(self._path)

    def load(self) -> Saved | None:
        """Return the state saved last, or the one before if that is damaged."""
        try:
            saved = self._read(self._path)
        except _DamagedError as damage:
            return self._restored(damage)
        if saved is not None:
            return saved
        try:
            return self._read(self._previous)
        except _DamagedError as damage:
            raise StoreCorruptError(
                f"the checkpoint {self._path} is missing, and the previous one is damaged"
                f" ({damage}): delete it to start afresh"
            ) from None

    def save(self, state: Saved) -> None:
        """Write the file again, and keep the previous one."""
        body = _body(state.data)
        document = {
            "schema": _SCHEMA,
            "version": state.version,
            "crc": f"{zlib.crc32(body):08x}",
            "data": state.data,
        }
        plain = json.dumps(document, ensure_ascii=False).encode()
        draft = draft_of(self._path)
        sound = self._is_sound(state.version)
        with self._failing("write", "the state saved before is kept: check free space and"):
            make_directories(self._disk, self._path.parent)
            try:
                write_file(self._disk, draft, sealed(plain, self._encryption))
            except OSError:
                with contextlib.suppress(OSError):
                    self._disk.remove(draft)
                raise
            if sound:
                self._disk.replace(self._path, self._previous)
            self._disk.replace(draft, self._path)
            self._disk.sync_directory(self._path.parent)

    def clear(self) -> None:
        """Delete the file and the previous one."""
        if self._path.parent.exists():
            with self._failing("delete", "clear it again: check"):
                # The previous one first and durably, since without the other it is the state.
                delete_files(self._disk, self._path.parent, [self._previous])
                delete_files(self._disk, self._path.parent, [self._path, draft_of(self._path)])

    def _is_sound(self, newest: int) -> bool:
        """Return True if there is a present state that isn't damaged, of version `newest` at most.

        Raises SchemaTooNewError.
        """
        try:
            present = self._read(self._path)
        except _DamagedError:
            return False
        if present is not None and present.version > newest:
            raise SchemaTooNewError(
                f"the checkpoint {self._path} has version {present.version}, but this program"
                f" writes {newest}: upgrade the program, or `clear` the checkpoint to start again"
            )
        return present is not None

    @contextlib.contextmanager
    def _failing(self, verb: str, remedy: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreUnavailableError(
                f"can't {verb} the checkpoint {self._path}: {error.strerror or error}; {remedy}"
                " permissions"
            ) from error

    def _restored(self, damage: _DamagedError) -> Saved:
        try:
            saved = self._read(self._previous)
        except _DamagedError as again:
            raise StoreCorruptError(
                f"the checkpoint {self._path} is damaged ({damage}), and so is the previous one"
                f" ({again}): delete both to start afresh"
            ) from None
        if saved is None:
            raise StoreCorruptError(
                f"the checkpoint {self._path} is damaged ({damage}) and there is no previous one:"
                " delete it to start afresh"
            ) from None
        aside = self._path.with_name(f"{self._path.stem}.damaged.json")
        with self._failing("restore", "check"):
            self._disk.replace(self._path, aside)
            self._disk.sync_directory(self._path.parent)
        self._emit(CheckpointRestored(str(self._path), str(damage), str(aside)))
        return saved

    def _read(self, path: Path) -> Saved | None:
        try:
            with self._disk.reader(path) as file:
                content = file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreUnavailableError(
                f"can't read the checkpoint {path}: {error.strerror or error}; check its"
                " permissions"
            ) from error
        try:
            document = json.loads(unsealed(content, self._encryption))
        except ValueError as error:
            raise _DamagedError(f"not JSON: {error}") from None
        match document:
            case {"schema": int(schema), "version": int(version), "crc": crc, "data": dict(data)}:
                pass
            case _:
                raise _DamagedError("not a checkpoint")
        if schema > _SCHEMA:
            raise SchemaTooNewError(
                f"the checkpoint {path} is of form {schema}, but this program knows {_SCHEMA} at"
                " most: upgrade the program, or `clear` the checkpoint to start the task again"
            )
        if crc != f"{zlib.crc32(_body(data)):08x}":
            raise _DamagedError("the checksum doesn't match")
        return Saved(version, data)


class StateFiles:
    """The windows and checkpoints of a store, below one directory. Thread-safe."""

    def __init__(
        self, root: Path, emit: Observer, disk: Disk, encryption: Encryption | None = None
    ) -> None:
        self._root = root
        self._emit = emit
        self._disk = disk
        self._encryption = encryption

    def window(self, key: SessionKey) -> StateFile:
        """Return the file of a session's window."""
        return self._file(self._directory(*key) / f"{_WINDOW}.json")

    def task(self, key: SessionKey, name: str) -> StateFile:
        """Return the file of a task's checkpoint."""
        return self._file(self._directory(*key) / _TASKS / f"{digest_of(name)}.json")

    def sessions(self) -> tuple[SessionKey, ...]:
        """Return none: directories have hashed names."""
        return ()

    def unnamed(self, known: Iterable[SessionKey]) -> int:
        """Count the directories of sessions with a file that are not those of `known` ones."""
        named = {self._directory(*key) for key in known}
        return sum(
            directory not in named and any(directory.rglob("*.json"))
            for directory in self._root.glob("*/*")
        )

    def saved(self, key: SessionKey) -> Iterator[tuple[str, Saved]]:
        """Yield the states of a session, each with its file's path without the ending."""
        directory = self._directory(*key)
        # Beside a state may stand a damaged one and the one before, which may also stand alone.
        tasks = {path.name.partition(".")[0] for path in directory.glob(f"{_TASKS}/*.json")}
        for name in (_WINDOW, *(f"{_TASKS}/{task}" for task in sorted(tasks))):
            if (state := self._file(directory / f"{name}.json").load()) is not None:
                yield name, state

    def restore(self, key: SessionKey, name: str, state: Saved) -> None:
        """Save a state under a name that `saved` gave."""
        self._file(self._directory(*key) / f"{name}.json").save(state)

    def drop_window(self, key: SessionKey) -> None:
        """Delete the window of a session, which is filled from its log again."""
        directory = self._directory(*key)
        with _deleting(directory):
            delete_files(self._disk, directory, sorted(directory.glob(f"{_WINDOW}*")))

    def drop(self, user_id: str, session_id: str | None = None) -> None:
        """Delete the windows and checkpoints of a user or of one session."""
        names = (user_id,) if session_id is None else (user_id, session_id)
        directory = self._directory(*names)
        with _deleting(directory):
            delete_directory(self._disk, directory)

    def _directory(self, *names: str) -> Path:
        """Return the directory of a user (one name) or a session (two).

        Names are hashed, so that they never become part of a path.
        """
        return self._root.joinpath(*map(digest_of, names))

    def _file(self, path: Path) -> StateFile:
        return StateFile(path, self._emit, self._disk, self._encryption)


def _body(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data, ensure_ascii=False, sort_keys=True).encode()


@contextlib.contextmanager
def _deleting(directory: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreUnavailableError(
            f"can't delete windows and checkpoints in {directory}: {error.strerror or error};"
            " check its permissions, then forget again"
        ) from error
