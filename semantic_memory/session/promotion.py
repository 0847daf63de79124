"""Promotion of a fact into the state of a task, as of a preference that the task is to follow."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.facts import Fact, Status
from semantic_memory.domain.refusals import explain

ModelT = TypeVar("ModelT", bound=BaseModel)


def promoted(state: ModelT, fact: Fact, field: str, value: JsonValue = None) -> ModelT:
    """Return `state` with a fact in one of its fields.

    The field takes `value`, else the fact's content, else the whole fact, as its type allows; a
    collection gets it appended, once. Raises InvalidInputError for an unknown field, a value that
    the field doesn't take, and a fact that isn't active.
    """
    model = type(state)
    if field not in model.model_fields:
        known = ", ".join(model.model_fields)
        raise InvalidInputError(f"promote: {model.__name__} has no field {field!r}; known: {known}")
    if fact.status is not Status.ACTIVE:
        raise InvalidInputError(f"promote: memory {fact.id!r} is {fact.status}, not active")
    data = state.model_dump(mode="json")
    candidates = [fact.content, fact.model_dump(mode="json")] if value is None else [value]
    refusals: list[ValidationError] = []
    for candidate in candidates:
        changed = json.dumps({**data, field: _put(data[field], candidate)})
        try:
            return model.model_validate_json(changed)
        except ValidationError as error:
            refusals.append(error)
    raise InvalidInputError(
        f"promote: {explain(refusals[0], model)}; give a value that the field takes, as in"
        f" promote(fact, {field!r}, value=...)"
    )


def _put(held: JsonValue, value: Any) -> Any:
    if not isinstance(held, list):
        return value
    return held if value in held else [*held, value]
