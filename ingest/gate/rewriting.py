"""Rewrite the texts in JSON values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Change = Callable[[str, str, str], str]
"""Return the new form of a text, given its key, which is empty in a list, and its place."""
Rename = Callable[[str, str], str]
"""Return the new name of a member, given the place of its object."""


def _kept(name: str, _place: str) -> str:
    return name


def rewritten(value: Any, change: Change, place: str = "", rename: Rename = _kept) -> Any:
    """Return a JSON value with each text in it changed, and the names of members."""

    def walk(one: Any, key: str, at: str) -> Any:
        match one:
            case str():
                return change(one, key, at)
            case list():
                return [walk(part, "", f"{at}.{number}") for number, part in enumerate(one)]
            case Mapping():
                return {
                    rename(name, at): walk(part, name, f"{at}.{name}") for name, part in one.items()
                }
        return one

    return walk(value, "", place)
