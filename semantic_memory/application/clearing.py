"""Pass the texts of callers through the gate, as extraction does with its candidates.

Secrets and personal data are refused or redacted by one policy, whichever way they come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import JsonValue

from ingest.gate import Gate
from ingest.gate.rewriting import rewritten
from ingest.gate.secrets import prefix
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.refusals import parse
from semantic_memory.domain.trust import Trust

_TEXTS = ("content", "metadata")
_SEPARATORS = regex(r"[_.+#-]+")


def cleared(gate: Gate, values: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return the fields of a fact with their texts treated by the gate's policy.

    `place` names the fact in errors. A tag that holds personal data is dropped under "redact".
    Raises InvalidInputError.
    """
    treated = dict(values)
    for name in _TEXTS:
        if values.get(name) is not None:
            treated[name] = cleared_value(gate.cleared, values[name], f"{place}: {name}")
    if (body := values.get("body")) is not None:
        texts = body.model_dump(mode="json")
        treated["body"] = parse(
            type(body), place, cleared_value(gate.cleared, texts, f"{place}: body")
        )
    if values.get("tags"):
        tags = values["tags"]
        treated["tags"] = tuple(tag for tag in tags if gate.cleared(tag, f"{place}: tag") == tag)
    return treated


def suspected(gate: Gate, values: Mapping[str, Any], trust: Trust) -> bool:
    """Return True if a text in the fields of a fact reads like an instruction to a model."""
    body = values.get("body")
    given: list[JsonValue] = [
        *(values.get(name) for name in _TEXTS),
        None if body is None else body.model_dump(mode="json"),
        [_SEPARATORS.sub(" ", tag) for tag in values.get("tags") or ()],
    ]
    return gate.suspects(texts_in(given), trust)


def texts_in(value: JsonValue) -> Iterator[str]:
    """Yield the texts in a JSON value, names of members included."""
    match value:
        case str():
            yield value
        case list():
            for one in value:
                yield from texts_in(one)
        case Mapping():
            yield from map(str, value)
            for one in value.values():
                yield from texts_in(one)


def cleared_value(clear: Callable[[str, str], str], value: JsonValue, place: str) -> Any:
    """Return a value with `clear`, of the gate, applied to the texts in it.

    The key of a text belongs to what it says: "hunter" is a secret under "password". Raises
    InvalidInputError.
    """

    def change(text: str, key: str, at: str) -> str:
        treated = clear(text, at)
        if before := prefix(key):
            clear(before + treated, at)  # a secret that only its key tells
        return treated

    return rewritten(value, change, place, lambda name, at: clear(name, f"{at}, a key"))
