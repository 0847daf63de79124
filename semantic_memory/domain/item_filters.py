"""Filters on the values of items, evaluated in Python: no part of one ever reaches SQL.

{"kind": "note", "author.name": {"$ne": "Ann"}, "stars": {"$gte": 3, "$lt": 5}}

A key is that of the value's object or, if it has none of that name, a path through objects. Values
are compared as JSON has them: true isn't 1, and a text is never less than a number. `$ne` is the
opposite of `$eq`, so it is met by a value without the path too.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import ge, gt, le, lt
from typing import Any

from semantic_memory.domain.patterns import regex

MOST_CONDITIONS = 64
_MOST_DEPTH = 16
_PATH = regex(r"[^\W_]?[\w@:/+ -]+(?:\.[\w@:/+ -]+)*")
_LONGEST = 256
_ORDERS = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}
_OPERATORS = ("$eq", "$ne", *_ORDERS)


def check_filter(filters: Mapping[str, Any]) -> None:
    """Raise ValueError, which names the place, for a filter that can't be used."""
    if _conditions(filters, "", 1) > MOST_CONDITIONS:
        raise ValueError(f"has more than {MOST_CONDITIONS} conditions")


def _conditions(filters: Mapping[str, Any], place: str, depth: int) -> int:
    """Check a filter, or an object in one; return its number of conditions."""
    if depth > _MOST_DEPTH:
        raise ValueError(f"is nested deeper than {_MOST_DEPTH} levels")
    operators = [str(key) for key in filters if str(key).startswith("$")]
    for name in operators:
        if name not in _OPERATORS or not place:
            raise ValueError(
                f"unknown operator {name!r} at {place or 'the filter'}: use"
                f" {', '.join(_OPERATORS)}, behind a key"
            )
    if operators and len(operators) < len(filters):
        raise ValueError(f"{place} mixes operators with keys")
    number = 0
    for key, wanted in filters.items():
        where = f"{place}.{key}" if place else str(key)
        if key in _ORDERS and (
            isinstance(wanted, bool) or not isinstance(wanted, int | float | str)
        ):
            raise ValueError(f"{where} takes a number or a text (got {wanted!r})")
        if key not in _OPERATORS and (
            not isinstance(key, str) or len(key) > _LONGEST or not _PATH.fullmatch(key)
        ):
            raise ValueError(
                f"Invalid filter key {str(key)[:60]!r}: use letters, digits, spaces and '_-@:/+',"
                f" with '.' between levels, at most {_LONGEST} characters"
            )
        nested = isinstance(wanted, Mapping) and key not in _OPERATORS
        number += _conditions(wanted, where, depth + 1) if nested else 1
    return number


def passes(value: Mapping[str, Any], filters: Mapping[str, Any]) -> bool:
    """Return True if a value meets all conditions of a filter that was checked."""
    return all(_meets(_at(value, key), wanted) for key, wanted in filters.items())


def _at(value: Any, path: str) -> Any:
    """Return the value at a path; None without it."""
    if isinstance(value, dict) and path in value:
        return value[path]
    for step in path.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(step)
    return value


def _meets(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if any(key in _OPERATORS for key in wanted):
            return all(_compares(value, name, one) for name, one in wanted.items())
        return isinstance(value, dict) and passes(value, wanted)
    return _equal(value, wanted)


def _compares(value: Any, name: str, wanted: Any) -> bool:
    if name in ("$eq", "$ne"):
        return _equal(value, wanted) == (name == "$eq")
    if isinstance(value, bool) or isinstance(value, str) != isinstance(wanted, str):
        return False
    return isinstance(value, int | float | str) and bool(_ORDERS[name](value, wanted))


def _equal(value: Any, wanted: Any) -> bool:
    match wanted:
        case Mapping():
            return (
                isinstance(value, dict)
                and value.keys() == wanted.keys()
                and all(_equal(value[key], one) for key, one in wanted.items())
            )
        case list() | tuple():
            return (
                isinstance(value, list)
                and len(value) == len(wanted)
                and all(map(_equal, value, wanted))
            )
    return isinstance(value, bool) == isinstance(wanted, bool) and bool(value == wanted)
