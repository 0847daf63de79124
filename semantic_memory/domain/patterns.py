"""Regular expressions that are compiled at their first use.

The rules of English are more than a thousand patterns, which take most of a second to write and to
compile, and a search or a command uses few of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, cast

_MARK = re.compile("\ue200(\\d+)\ue201")  # in Unicode's private use area
_deferred: list[Callable[[], str]] = []
_ATTRIBUTES = (
    *("search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"),
    *("pattern", "flags", "groups", "groupindex"),
)


def regex(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled at its first use, where a wrong source raises `re.error`.

    >>> regex("o+").sub("0", "too good")
    't0 g0d'
    """
    return cast("re.Pattern[str]", _Pattern(source, flags))


def deferred(source: Callable[[], str]) -> str:
    """Return a mark that stands for a source, in the sources of patterns given to `regex`.

    >>> regex(f"(?:{deferred(lambda: 'a|b')})c").findall("acbc")
    ['ac', 'bc']
    """
    _deferred.append(cache(source))
    return f"\ue200{len(_deferred) - 1}\ue201"


def _written(source: str) -> str:
    """Return a source with what its marks stand for."""
    while "\ue200" in source:
        source = _MARK.sub(lambda mark: _deferred[int(mark[1])](), source)
    return source


class _Pattern:
    """Stand-in for a compiled pattern, which has that pattern's own methods once it is used."""

    def __init__(self, source: str, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name not in _ATTRIBUTES:  # asked by copying, for example, which needs no pattern
            raise AttributeError(f"a pattern has no attribute {name!r}")
        compiled = re.compile(_written(self._source), self._flags)
        # As attributes of the instance they cost no more than those of the compiled pattern.
        vars(self).update({method: getattr(compiled, method) for method in _ATTRIBUTES})
        return getattr(compiled, name)

    def __repr__(self) -> str:
        return f"regex({self._source!r}, {self._flags})"
