"""Checkpoints: the state of a task in a file, written atomically and durably, with a version.

A file is `{"schema": 1, "version": ..., "crc": ..., "data": {...}}`. A new state is written beside
the old one, forced to disk, and renamed into its place; the previous state stays as
`NAME.previous.json`, in case the newer file gets damaged.
"""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from semantic_memory.domain.errors import (
    SchemaTooNewError,
    StoreCorruptError,
    StoreUnavailableError,
)
from semantic_memory.domain.events import CheckpointRestored
from semantic_memory.domain.ports import Observer

ModelT = TypeVar("ModelT", bound=BaseModel)
Migration = Callable[[dict[str, Any]], dict[str, Any]]

_SCHEMA = 1


class _DamagedError(ValueError):
    """A file is damaged."""


class Checkpoint(Generic[ModelT]):
    """File that holds the state of a pydantic model.

    `version` is the model's version; `migrations[n]` converts data of version n to version n + 1.
    """

    def __init__(
        self,
        path: Path,
        model: type[ModelT],
        emit: Observer,
        *,
        version: int = 1,
        migrations: Mapping[int, Migration] | None = None,
    ) -> None:
        self._path = path
        self._previous = path.with_name(f"{path.stem}.previous.json")
        self._model = model
        self._emit = emit
        self._version = version
        self._migrations = migrations or {}

    def load(self) -> ModelT | None:
        """Return the last state saved, or None if there is none.

        A damaged file is set aside as `NAME.damaged.json`, the previous state is used, and a
        CheckpointRestored event is emitted. Raises StoreCorruptError if the previous state is
        damaged or missing too, or a migration is missing; SchemaTooNewError if a newer version of
        the program wrote the state.
        """
        try:
            return self._read(self._path)
        except _DamagedError as damage:
            return self._restored(damage)

    def save(self, state: ModelT) -> None:
        """Save `state`; it is on disk when this returns.

        Raises StoreUnavailableError if it can't be written; the previous state is kept then.
        """
        data = state.model_dump(mode="json")
        body = _body(data)
        document = {
            "schema": _SCHEMA,
            "version": self._version,
            "crc": f"{zlib.crc32(body):08x}",
            "data": data,
        }
        scratch = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _write(scratch, json.dumps(document, ensure_ascii=False).encode())
            self._keep_previous()
            scratch.replace(self._path)
            _sync_directory(self._path.parent)
        except OSError as error:
            scratch.unlink(missing_ok=True)
            raise StoreUnavailableError(
                f"can't write the checkpoint {self._path}: {error.strerror or error}; the previous"
                " state is kept: check free space and permissions"
            ) from error

    def clear(self) -> None:
        """Delete the state and the previous one."""
        self._path.unlink(missing_ok=True)
        self._previous.unlink(missing_ok=True)
        if self._path.parent.exists():
            _sync_directory(self._path.parent)

    def _keep_previous(self) -> None:
        """Link the present state as the previous one, unless it is damaged."""
        with contextlib.suppress(_DamagedError):
            if self._read(self._path) is not None:
                scratch = self._path.with_name(f".{self._previous.name}.{os.getpid()}")
                scratch.unlink(missing_ok=True)
                scratch.hardlink_to(self._path)
                scratch.replace(self._previous)

    def _restored(self, damage: _DamagedError) -> ModelT:
        try:
            state = self._read(self._previous)
        except _DamagedError as again:
            raise StoreCorruptError(
                f"the checkpoint {self._path} is damaged ({damage}), and so is the previous one"
                f" ({again}): delete both to start afresh"
            ) from None
        if state is None:
            raise StoreCorruptError(
                f"the checkpoint {self._path} is damaged ({damage}) and there is no previous one:"
                " delete it to start afresh"
            ) from None
        aside = self._path.with_name(f"{self._path.stem}.damaged.json")
        self._path.replace(aside)
        self._path.hardlink_to(self._previous)
        _sync_directory(self._path.parent)
        self._emit(CheckpointRestored(str(self._path), str(damage), str(aside)))
        return state

    def _read(self, path: Path) -> ModelT | None:
        try:
            document = json.loads(path.read_bytes())
        except FileNotFoundError:
            return None
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
                f" this program knows {self._version} at most: upgrade the program"
            )
        if crc != f"{zlib.crc32(_body(data)):08x}":
            raise _DamagedError("the checksum doesn't match")
        return self._parsed(path, version, data)

    def _parsed(self, path: Path, version: int, data: dict[str, Any]) -> ModelT:
        for number in range(version, self._version):
            if number not in self._migrations:
                raise StoreCorruptError(
                    f"the checkpoint {path} has version {number} of {self._model.__name__}, and no"
                    f" migration leads to {number + 1}: pass one, or delete the file"
                )
            data = self._migrations[number](data)
        try:
            return self._model.model_validate_json(json.dumps(data))
        except ValidationError as error:
            raise _DamagedError(
                f"not a {self._model.__name__}: {error.error_count()} errors"
            ) from None


def _body(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data, ensure_ascii=False, sort_keys=True).encode()


def _write(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor, not a path
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
