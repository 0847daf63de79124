"""Checkpoints: the state of a task in a file, written atomically and durably, with a version.

A file is `{"schema": 1, "version": ..., "crc": ..., "data": {...}}`, encrypted if the store is. A
new state is written beside the old one, as `NAME.new`, and forced to disk. The old one is renamed
to `NAME.previous.json`, in case the newer file gets damaged, and then the new one takes its place.
Where that was cut off, the previous state is the last one saved.
"""

from __future__ import annotations

import contextlib
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from semantic_memory.domain.errors import (
    InvalidInputError,
    SchemaTooNewError,
    StoreCorruptError,
    StoreUnavailableError,
)
from semantic_memory.domain.events import CheckpointRestored
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.files import delete_files, draft_of, make_directories, write_file
from semantic_memory.domain.ports import Observer
from semantic_memory.domain.ports.disk import Disk
from semantic_memory.domain.ports.encryption import Encryption
from semantic_memory.domain.sealing import sealed, unsealed
from semantic_memory.domain.values import explain
from semantic_memory.session.promotion import promoted

ModelT = TypeVar("ModelT", bound=BaseModel)
Migration = Callable[[dict[str, Any]], dict[str, Any]]
"""Converts the data of one version of a model to the next."""

_SCHEMA = 1


class _DamagedError(ValueError):
    """A file is damaged."""


class _Stored(NamedTuple):
    """Content of a file that is sound: the data of a version of the model."""

    version: int
    data: dict[str, Any]


class Checkpoint(Generic[ModelT]):
    """File that holds the state of a pydantic model.

    `version` is the model's version; `migrations[n]` converts data of version n to version n + 1,
    and data of an older version passes through all from its own on. A state is saved in `version`.
    Raises InvalidInputError for a migration that leads beyond `version`.
    """

    def __init__(
        self,
        path: Path,
        model: type[ModelT],
        emit: Observer,
        disk: Disk,
        *,
        version: int = 1,
        migrations: Mapping[int, Migration] | None = None,
        user_id: str | None = None,
        encryption: Encryption | None = None,
    ) -> None:
        if surplus := sorted(number for number in migrations or {} if not 0 < number < version):
            raise InvalidInputError(
                f"checkpoint: migrations {surplus} lead beyond version {version} of"
                f" {model.__name__}; their keys are versions from 1 to {version - 1}"
            )
        self._path = path
        self._previous = path.with_name(f"{path.stem}.previous.json")
        self._model = model
        self._emit = emit
        self._disk = disk
        self._version = version
        self._migrations = migrations or {}
        self._user_id = user_id
        self._encryption = encryption

    def load(self) -> ModelT | None:
        """Return the last state saved, or None if there is none.

        A damaged file is set aside as `NAME.damaged.json`, the previous state is used, and a
        CheckpointRestored event is emitted. Raises StoreCorruptError if the previous state is
        damaged or missing too, a migration is missing, or sound data isn't a state of the model;
        SchemaTooNewError if a newer version of the program wrote the state; StoreUnavailableError
        if it can't be read. A state that can't be loaded stays as it is.
        """
        stored = self._loaded()
        return None if stored is None else self._parsed(stored)

    def _loaded(self) -> _Stored | None:
        try:
            stored = self._read(self._path)
        except _DamagedError as damage:
            return self._restored(damage)
        if stored is not None:
            return stored
        try:
            return self._read(self._previous)
        except _DamagedError as damage:
            raise StoreCorruptError(
                f"the checkpoint {self._path} is missing, and the previous one is damaged"
                f" ({damage}): delete it to start afresh"
            ) from None

    def save(self, state: ModelT) -> None:
        """Save `state`; it is on disk when this returns.

        Raises StoreUnavailableError if it can't be written, SchemaTooNewError if a newer version of
        the program wrote the present state; that is kept then.
        """
        data = state.model_dump(mode="json")
        body = _body(data)
        document = {
            "schema": _SCHEMA,
            "version": self._version,
            "crc": f"{zlib.crc32(body):08x}",
            "data": data,
        }
        plain = json.dumps(document, ensure_ascii=False).encode()
        draft = draft_of(self._path)
        sound = self._is_sound()
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

    def promote(self, fact: Fact, field: str, *, value: JsonValue = None) -> ModelT:
        """Put a fact into a field of the saved state, and save it; return the state.

        The field takes `value`, else the fact's content, else the whole fact, as its type allows; a
        collection gets it appended, once. Without a saved state the model's defaults are used.
        Raises InvalidInputError for an unknown field, a value that it doesn't take, a fact of
        another user or one that isn't active.
        """
        if self._user_id not in (None, fact.user_id):
            raise InvalidInputError(f"promote: memory {fact.id!r} belongs to another user")
        state = promoted(self.load() or self._fresh(), fact, field, value)
        self.save(state)
        return state

    def clear(self) -> None:
        """Delete the state and the previous one. Raises StoreUnavailableError."""
        if self._path.parent.exists():
            with self._failing("delete", "clear it again: check"):
                # The previous one first and durably, since without the other it is the state.
                delete_files(self._disk, self._path.parent, [self._previous])
                delete_files(self._disk, self._path.parent, [self._path, draft_of(self._path)])

    def _is_sound(self) -> bool:
        """Return True if there is a present state that isn't damaged."""
        try:
            return self._read(self._path) is not None
        except _DamagedError:
            return False

    @contextlib.contextmanager
    def _failing(self, verb: str, remedy: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreUnavailableError(
                f"can't {verb} the checkpoint {self._path}: {error.strerror or error}; {remedy}"
                " permissions"
            ) from error

    def _fresh(self) -> ModelT:
        try:
            return self._model()
        except ValidationError:
            raise InvalidInputError(
                f"promote: no state is saved, and {self._model.__name__} needs values: save one"
                " first"
            ) from None

    def _restored(self, damage: _DamagedError) -> _Stored:
        try:
            stored = self._read(self._previous)
        except _DamagedError as again:
            raise StoreCorruptError(
                f"the checkpoint {self._path} is damaged ({damage}), and so is the previous one"
                f" ({again}): delete both to start afresh"
            ) from None
        if stored is None:
            raise StoreCorruptError(
                f"the checkpoint {self._path} is damaged ({damage}) and there is no previous one:"
                " delete it to start afresh"
            ) from None
        aside = self._path.with_name(f"{self._path.stem}.damaged.json")
        with self._failing("restore", "check"):
            self._disk.replace(self._path, aside)
            self._disk.sync_directory(self._path.parent)
        self._emit(CheckpointRestored(str(self._path), str(damage), str(aside)))
        return stored

    def _read(self, path: Path) -> _Stored | None:
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
        if schema > _SCHEMA or version > self._version:
            raise SchemaTooNewError(
                f"the checkpoint {path} has version {version} of {self._model.__name__}, but"
                f" this program knows {self._version} at most: upgrade the program, or `clear` the"
                " checkpoint to begin the task anew"
            )
        if crc != f"{zlib.crc32(_body(data)):08x}":
            raise _DamagedError("the checksum doesn't match")
        return _Stored(version, data)

    def _parsed(self, stored: _Stored) -> ModelT:
        version, data = stored
        name = self._model.__name__
        for number in range(version, self._version):
            if number not in self._migrations:
                raise StoreCorruptError(
                    f"the checkpoint {self._path} has version {version} of {name}, and no migration"
                    f" leads to {number + 1}: pass migrations={{{number}: ...}}, or `clear` it"
                )
            data = self._migrations[number](data)
        try:
            return self._model.model_validate_json(json.dumps(data))
        except ValidationError as error:
            raise StoreCorruptError(
                f"the checkpoint {self._path}, of version {version}, is no {name} of version"
                f" {self._version}: {explain(error)}; raise the version and pass a migration, or"
                " `clear` it"
            ) from None


def _body(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data, ensure_ascii=False, sort_keys=True).encode()
