"""Checkpoints: the state of a task, saved durably, with the version of its model."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from semantic_memory.domain.errors import InvalidInputError, SchemaTooNewError, StoreCorruptError
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.ports.states import Saved, StatePlace
from semantic_memory.domain.refusals import explain
from semantic_memory.session.promotion import promoted

ModelT = TypeVar("ModelT", bound=BaseModel)
Migration = Callable[[dict[str, Any]], dict[str, Any]]
"""Converts the data of one version of a model to the next."""


class Checkpoint(Generic[ModelT]):
    """State of a pydantic model, kept at a place.

    `version` is the model's version; `migrations[n]` converts data of version n to version n + 1,
    and data of an older version passes through all from its own on. A state is saved in `version`.
    Raises InvalidInputError for a migration that leads beyond `version`.
    """

    def __init__(
        self,
        place: StatePlace,
        model: type[ModelT],
        *,
        version: int = 1,
        migrations: Mapping[int, Migration] | None = None,
        user_id: str | None = None,
    ) -> None:
        if surplus := sorted(number for number in migrations or {} if not 0 < number < version):
            raise InvalidInputError(
                f"checkpoint: migrations {surplus} lead beyond version {version} of"
                f" {model.__name__}; their keys are versions from 1 to {version - 1}"
            )
        self._place = place
        self._model = model
        self._version = version
        self._migrations = migrations or {}
        self._user_id = user_id

    def load(self) -> ModelT | None:
        """Return the last state saved, or None if there is none.

        A damaged file is set aside as `NAME.damaged.json`, the previous state is used, and a
        CheckpointRestored event is emitted. Raises StoreCorruptError if the previous state is
        damaged or missing too, a migration is missing, or sound data isn't a state of the model;
        SchemaTooNewError if a newer version of the program wrote the state; StoreUnavailableError
        if it can't be read. A state that can't be loaded stays as it is.
        """
        saved = self._place.load()
        return None if saved is None else self._parsed(saved)

    def save(self, state: ModelT) -> None:
        """Save `state`; it is on disk when this returns.

        Raises StoreUnavailableError if it can't be written, SchemaTooNewError if a newer version of
        the program wrote the present state; that is kept then.
        """
        self._place.save(Saved(self._version, state.model_dump(mode="json")))

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
        self._place.clear()

    def _fresh(self) -> ModelT:
        try:
            return self._model()
        except ValidationError:
            raise InvalidInputError(
                f"promote: no state is saved, and {self._model.__name__} needs values: save one"
                " first"
            ) from None

    def _parsed(self, saved: Saved) -> ModelT:
        version, data = saved.version, dict(saved.data)
        name = self._model.__name__
        if version > self._version:
            raise SchemaTooNewError(
                f"the checkpoint {self._place.name} has version {version} of {name}, but this"
                f" program knows {self._version} at most: upgrade the program, or `clear` the"
                " checkpoint to start the task again"
            )
        for number in range(version, self._version):
            if number not in self._migrations:
                raise StoreCorruptError(
                    f"the checkpoint {self._place.name} has version {version} of {name}, and no"
                    f" migration leads to {number + 1}: pass migrations={{{number}: ...}}, or"
                    " `clear` it"
                )
            data = self._migrations[number](data)
        try:
            return self._model.model_validate_json(json.dumps(data))
        except ValidationError as error:
            raise StoreCorruptError(
                f"the checkpoint {self._place.name}, of version {version}, is no {name} of version"
                f" {self._version}: {explain(error, self._model)}; raise the version and pass a"
                " migration, or `clear` it"
            ) from None
