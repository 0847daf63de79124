"""Values of an application's own types, which a model gives beside a fact's statement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError

from semantic_memory.domain.values import Metadata

MOST_CHARACTERS = 10_000
"""Characters of a typed value, as JSON."""
_VALUES: TypeAdapter[Mapping[str, JsonValue]] = TypeAdapter(Metadata)


def typed_schema(types: Mapping[str, type[BaseModel]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the JSON schema of a typed value of a fact, and the definitions that it refers to."""
    alternatives: list[dict[str, Any]] = [{"type": "null"}]
    definitions: dict[str, Any] = {}
    for name, kind in types.items():
        # a definition of each type by itself: two may have members of one name
        values = kind.model_json_schema(ref_template=f"#/$defs/{name}.{{model}}")
        own = values.pop("$defs", {})
        definitions |= {f"{name}.{one}": schema for one, schema in own.items()}
        alternatives.append(
            {
                "type": "object",
                "properties": {"type": {"type": "string", "enum": [name]}, "values": values},
                "additionalProperties": False,
            }
        )
    return {"anyOf": alternatives}, definitions


def read_typed(given: Any, types: Mapping[str, type[BaseModel]]) -> dict[str, JsonValue]:
    """Return a fact's typed value as JSON, by the name of its type; empty for none.

    A null in place of a default is left out. Raises ValueError for a value that isn't of the type.
    """
    if not given:
        return {}
    if not isinstance(given, Mapping):
        raise ValueError(f"a typed value has a type and values, not {given!r}")
    name, values = given.get("type"), given.get("values")
    if name is None and not values:
        return {}
    if not isinstance(name, str) or name not in types or not isinstance(values, Mapping):
        raise ValueError(f"there is no type {name!r} with such values")
    try:
        found = types[name].model_validate(values)
    except ValidationError:
        told = {key: value for key, value in values.items() if value is not None}
        found = types[name].model_validate(told)
    if (characters := len(found.model_dump_json())) > MOST_CHARACTERS:
        raise ValueError(f"the value has {characters:,} characters, at most {MOST_CHARACTERS:,}")
    return {name: dict(_VALUES.validate_python(found.model_dump(mode="json")))}
