"""Read what is open with a thing, and what settles it: "awaiting my permit", "got the permit"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from semantic_memory.domain.english.arguments import person
from semantic_memory.domain.english.renewals import KIN, around_things, thing_of
from semantic_memory.domain.english.tables import keys


class Matter(NamedTuple):
    """A kind of thing to be settled, and what or whom it is about."""

    kind: str
    things: frozenset[str]
    """Stems of what it is about."""
    who: str | None
    """The person in it; None where the thing itself is the subject."""
    beside: str
    """The rest of the clause, which may show that it claims nothing."""


_KINDS = tuple(
    (kind, around_things(f"concluded.{kind}.open"), around_things(f"concluded.{kind}.settled"))
    for kind in keys("concluded")
)


@lru_cache(maxsize=16_384)
def opened(plain: str) -> tuple[Matter, ...]:
    """Return what a clause of a folded text leaves open.

    >>> [(one.kind, sorted(one.things)) for one in opened("i am waiting for my residence permit")]
    [('awaited', ['permit', 'resid'])]
    """
    return tuple(one for kind, open_, _ in _KINDS for one in _matters(kind, open_, plain))


@lru_cache(maxsize=16_384)
def settled(plain: str) -> tuple[Matter, ...]:
    """Return what a clause of a folded text settles.

    >>> [(one.kind, sorted(one.things)) for one in settled("the permit came through on monday")]
    [('awaited', ['permit'])]
    """
    return tuple(one for kind, _, done in _KINDS for one in _matters(kind, done, plain))


def _matters(kind: str, patterns: tuple[re.Pattern[str], ...], plain: str) -> Iterator[Matter]:
    for pattern in patterns:
        for found in pattern.finditer(plain):
            things = thing_of(found["thing"]) | KIN.intersection(found["thing"].split())
            if things:
                before = plain[: found.start()]
                verb = found.start("verb") if "verb" in pattern.groupindex else found.start()
                who = None if found.start("thing") < verb else person(before)
                yield Matter(kind, things, who, before)
