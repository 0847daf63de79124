"""Read the texts at a path of an item's value.

    title    author.name    notes[0].text    notes[-1]    notes[*].text    *    {title,author.name}

`$` is the value as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from semantic_memory.domain.patterns import regex

WHOLE_VALUE = "$"
"""The path of a value as a whole."""
MOST_CHARACTERS = 256
_STEP = regex(r"\.?(?:(\[(?:\*|-?\d{1,9})\])|(\{[^{}\[\]]+\})|([^.\[\]{}]+))")


def steps(path: str) -> list[str]:
    """Return the steps of a path. Raises ValueError for one that can't be read.

    >>> steps("notes[*].text")
    ['notes', '[*]', 'text']
    """
    if path == WHOLE_VALUE:
        return []
    found: list[str] = []
    at = 0
    while at < len(path) <= MOST_CHARACTERS and path[0] != ".":
        step = _STEP.match(path, at)
        if step is None:
            break
        at = step.end()
        found.append(step[0].removeprefix("."))
    if not found or at < len(path):
        raise ValueError(
            f"path {path[:60]!r} must be like title, author.name, notes[*].text or {{title,name}},"
            f" at most {MOST_CHARACTERS} characters"
        )
    return found


def _readable(path: str) -> str:
    steps(path)
    return path


Path = Annotated[
    str,
    AfterValidator(_readable),
    Field(json_schema_extra={"minLength": 1, "maxLength": MOST_CHARACTERS}),
]


def texts_at(value: Mapping[str, Any], path: str) -> list[str]:
    """Return the texts at a path of a value; of objects and lists, their JSON.

    >>> texts_at({"notes": [{"text": "tea"}, {"text": "cake"}]}, "notes[*].text")
    ['tea', 'cake']
    """
    return [text for text in _texts(value, steps(path)) if text.strip()]


def _texts(value: Any, rest: Sequence[str]) -> Iterator[str]:
    if not rest:
        if isinstance(value, str):
            yield value
        elif value is not None:
            yield json.dumps(value, sort_keys=True, ensure_ascii=False)
        return
    step, behind = rest[0], rest[1:]
    for one in _at(value, step):
        yield from _texts(one, behind)


def _at(value: Any, step: str) -> Iterator[Any]:
    if step.startswith("{"):
        for path in step[1:-1].split(","):
            yield from _followed(value, path.strip().split("."))
    elif isinstance(value, list):
        if step in ("*", "[*]"):
            yield from value
        elif step.startswith("["):
            place = int(step[1:-1])
            if -len(value) <= place < len(value):
                yield value[place]
    elif isinstance(value, dict):
        if step == "*":
            yield from value.values()
        elif step in value:
            yield value[step]


def _followed(value: Any, names: Sequence[str]) -> Iterator[Any]:
    for name in names:
        if not isinstance(value, dict) or name not in value:
            return
        value = value[name]
    yield value
