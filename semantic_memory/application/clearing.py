"""Pass the texts of callers through the gate, as extraction does with its candidates.

Secrets and personal data are refused or redacted by one policy, whichever way they come.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from ingest.gate import Gate
from semantic_memory.domain.values import parse

_TEXTS = ("content", "metadata")


def cleared(gate: Gate, values: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return the fields of a fact with their texts treated by the gate's policy.

    `place` names the fact in errors. A tag that holds personal data is dropped under "redact".
    Raises InvalidInputError.
    """
    treated = dict(values)
    for name in _TEXTS:
        if values.get(name) is not None:
            treated[name] = _cleared(gate, values[name], f"{place}: {name}")
    if (body := values.get("body")) is not None:
        texts = body.model_dump(mode="json")
        treated["body"] = parse(type(body), place, _mapping(gate, texts, f"{place}: body"))
    if values.get("tags"):
        tags = values["tags"]
        treated["tags"] = tuple(tag for tag in tags if gate.cleared(tag, f"{place}: tag") == tag)
    return treated


def _cleared(gate: Gate, value: JsonValue, place: str) -> JsonValue:
    match value:
        case str():
            return gate.cleared(value, place)
        case list():
            return [_cleared(gate, one, f"{place}.{n}") for n, one in enumerate(value)]
        case Mapping():
            return _mapping(gate, value, place)
    return value


def _mapping(gate: Gate, values: Mapping[str, JsonValue], place: str) -> dict[str, JsonValue]:
    return {
        gate.cleared(name, f"{place}, a key"): _cleared(gate, one, f"{place}.{name}")
        for name, one in values.items()
    }
