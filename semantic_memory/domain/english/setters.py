"""Read whose change of a figure or a date a text tells of, and what they may have set by it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from semantic_memory.domain.english.tables import keys, phrases_with_choices, words
from semantic_memory.domain.patterns import regex

_SETS = regex(rf"(?<![\w'])(?:{phrases_with_choices('setters.ways.sets')})(?![\w'])")
_TOLERATED = regex(rf"(?<![\w'])(?:{phrases_with_choices('setters.ways.tolerated')})(?![\w'])")
NOT_BORNE = words("setters.ways.not_borne")
"""Relations of paraphrases: what somebody can't bear."""
_WHO = {name: words(f"setters.setters.{name}.who") for name in keys("setters.setters")}
_WHAT = {name: words(f"setters.setters.{name}.what") for name in keys("setters.setters")}


class Setting(NamedTuple):
    """A change of a figure or a date."""

    who: frozenset[str]
    """Words for those who made it."""
    others: frozenset[str]
    """Words for all who might have."""
    things: frozenset[str]
    """Words for what they may have set."""


@lru_cache(maxsize=16_384)
def settings_of(plain: str) -> tuple[Setting, ...]:
    """Return the changes that a folded text tells of, by the kinds of those who make them.

    >>> [sorted(one.things)[:2] for one in settings_of("the landlord is putting us up to 1020")]
    [['deposit', 'rent']]
    >>> settings_of("the landlord rang"), settings_of("a wave put us down to 3")
    ((), ())
    """
    return tuple(_set_by(plain)) if _SETS.search(plain) else ()


def _set_by(plain: str) -> Iterator[Setting]:
    spoken = {word.strip(",.").removesuffix("'s") for word in plain.split()}
    for name, who in _WHO.items():
        if told := who & spoken:
            yield Setting(told, who, _WHAT[name])


def tolerates(plain: str) -> bool:
    """Return whether a folded text says that somebody bears something, or is found to.

    >>> tolerates("cats do not bother me now"), tolerates("cats bother me")
    (True, False)
    """
    return _TOLERATED.search(plain) is not None
