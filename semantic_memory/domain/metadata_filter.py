"""Filters on metadata, in the operators that MongoDB made common.

{"source.kind": "mail", "score": {"$gte": 3}, "$or": [{"team": "core"}, {"team": null}]}

A key is a path through objects, with '.' between its steps. `$ne` and `$not` are the plain
opposites, so they are met by a memory without the path too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from semantic_memory.domain.conditions import SPELLED, AllOf, AnyOf, Condition, Not, Valued
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.values import has_surrogate

MOST_DEPTH = 8
MOST_CONDITIONS = 64
_LONGEST_PATH = 256
_LARGEST = 2**53
"""Beyond it, not every store tells two whole numbers apart."""

_COMPARISONS = {name: operator for operator, name in SPELLED.items()}
_ON_VALUES = ("$eq", "$ne", "$in", *_COMPARISONS, "$exists", "$not")
_ON_FILTERS = ("$and", "$or", "$not")
_STEP = regex(r'[^"\\\x00-\x1f\x7f\ud800-\udfff]+')


def compiled(given: Mapping[str, Any]) -> list[Condition]:
    """Return the conditions that a filter on metadata stands for, all of them.

    Raises ValueError that names the place, the value and what to write.
    """
    found = [*_filter(given, "", 1)]
    number = sum(map(_size, found))
    if number > MOST_CONDITIONS:
        raise ValueError(f"has {number} conditions; the limit is {MOST_CONDITIONS}")
    return found


def _filter(given: Any, place: str, depth: int) -> Iterator[Condition]:
    if not isinstance(given, Mapping):
        raise ValueError(f'{place or "metadata"} must be an object like {{"path": value}}')
    if depth > MOST_DEPTH:
        raise ValueError(f"is nested deeper than {MOST_DEPTH} levels")
    for key, value in given.items():
        where = f"{place}.{key}" if place else str(key)
        match key:
            case "$and" | "$or":
                if not isinstance(value, list) or not value:
                    raise ValueError(f"{where} takes a list of one or more objects")
                parts = tuple(AllOf((*_filter(one, where, depth + 1),)) for one in value)
                yield AllOf(parts) if key == "$and" else AnyOf(parts)
            case "$not":
                yield Not(AllOf((*_filter(value, where, depth + 1),)))
            case str() if key.startswith("$"):
                raise _unknown(key, _ON_FILTERS, f"{place or 'metadata'}")
            case _:
                yield from _at(_path(key), value, where, depth)


def _at(path: tuple[str, ...], value: Any, place: str, depth: int) -> Iterator[Condition]:
    """Yield the conditions on the value at a path: one that it equals, or operators."""
    if not isinstance(value, Mapping):
        yield _equal(path, value, place)
        return
    if depth > MOST_DEPTH:
        raise ValueError(f"is nested deeper than {MOST_DEPTH} levels")
    if not value:
        raise ValueError(f"{place} is empty: give a value, or an operator like {{'$gte': 3}}")
    for name, wanted in value.items():
        where = f"{place}.{name}"
        if name == "$not":
            yield Not(AllOf((*_at(path, wanted, where, depth + 1),)))
        elif name in _ON_VALUES:
            yield _operator(path, name, wanted, where)
        else:
            raise _unknown(str(name), _ON_VALUES, place)


def _operator(path: tuple[str, ...], name: str, wanted: Any, place: str) -> Condition:
    match name:
        case "$eq":
            return _equal(path, wanted, place)
        case "$ne":
            return Not(_equal(path, wanted, place))
        case "$in":
            if not isinstance(wanted, list) or not wanted:
                raise ValueError(f"{place} takes a list of one or more values")
            return AnyOf(tuple(_equal(path, one, place) for one in wanted))
        case "$exists":
            if not isinstance(wanted, bool):
                raise ValueError(f"{place} takes true or false (got {wanted!r})")
            return Valued(path) if wanted else Not(Valued(path))
        case _:
            bound = _value(wanted, place)
            if bound is None or isinstance(bound, bool):
                raise ValueError(f"{place} takes a number or a text (got {wanted!r})")
            return Valued(path, _COMPARISONS[name], bound)


def _equal(path: tuple[str, ...], value: Any, place: str) -> Condition:
    return Valued(path, "=", _value(value, place))


def _value(value: Any, place: str) -> str | float | bool | None:
    match value:
        case None | bool():
            return value
        case int() | float():
            if not math.isfinite(value) or abs(value) > _LARGEST:
                raise ValueError(f"{place} takes numbers up to 2^53 (got {value!r})")
            return value
        case str():
            if "\x00" in value or has_surrogate(value):
                raise ValueError(f"{place} holds a character that no memory holds")
            return value
        case _:
            raise ValueError(f"{place} compares to a text, a number, true, false or null")


def _path(key: Any) -> tuple[str, ...]:
    steps = tuple(str(key).split("."))
    if len(str(key)) > _LONGEST_PATH or not all(_STEP.fullmatch(step) for step in steps):
        raise ValueError(
            f"path {str(key)[:60]!r} must be keys with '.' between them, without quotes,"
            f" backslashes and control characters, at most {_LONGEST_PATH} characters"
        )
    return steps


def _size(condition: Condition) -> int:
    match condition:
        case AllOf(conditions) | AnyOf(conditions):
            return sum(map(_size, conditions)) or 1
        case Not(one):
            return _size(one)
        case _:
            return 1


def _unknown(name: str, known: tuple[str, ...], place: str) -> ValueError:
    near = get_close_matches(name, known, n=1)
    meant = f"; did you mean {near[0]!r}?" if near else ";"
    return ValueError(f"unknown operator {name!r} at {place}{meant} known: {', '.join(known)}")
