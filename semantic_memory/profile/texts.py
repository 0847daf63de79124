"""Derive the three texts of a profile from facts, in the facts' own words.

    work_context      what the user works as and on
    personal_context  where and with whom the user lives, and what else is known of the person
    top_of_mind       what was told or recalled most in the last 14 days

Like the core, they rest on the owner's own statements: nothing that others said describes a user.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import zip_longest
from types import MappingProxyType

from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.profile import CoreField, WrittenField
from semantic_memory.domain.scope import Scope
from semantic_memory.domain.segments import segments
from semantic_memory.profile.core import own_statements

SENTENCES = 3
"""Sentences of a text, at most."""
RECENT = timedelta(days=14)
"""Time since a fact was told or recalled for which it is top of mind."""

_FIELDS: Mapping[WrittenField, tuple[CoreField, ...]] = MappingProxyType(
    {
        "work_context": ("work",),
        "personal_context": (
            "home",
            "family",
            "name",
            "languages",
            "diet",
            "health",
            "allergies",
        ),
    }
)
"""The fields of the core that a text begins with, first one first."""
_CATEGORIES: Mapping[WrittenField, tuple[Category, ...]] = MappingProxyType(
    {
        "work_context": (Category.PROJECT, Category.TECHNICAL, Category.DECISION),
        "personal_context": (Category.PERSONAL, Category.PREFERENCE),
    }
)
"""The categories whose facts follow."""


def derive_texts(
    core: Mapping[CoreField, Sequence[Fact]],
    facts: Sequence[Fact],
    now: datetime,
    besides: Collection[str] = (),
) -> dict[WrittenField, tuple[Fact, ...]]:
    """Return the facts of each text and scope, with at most SENTENCES, the first ones first.

    `core` are the fields that `derive_core` made of `facts`; `besides` are ids of facts of its
    slots, of which those outside of `core` are too uncertain for a text too. The result doesn't
    depend on the order of `facts`.
    """
    own = [fact for fact in own_statements(facts) if not fact.perhaps_changed]
    admitted = {fact.id for fact in own}
    in_core = {fact.id for shown in core.values() for fact in shown}
    orders = {fact.id for fact in core.get("instructions", ())}
    rest = sorted(
        (fact for fact in own if fact.id not in in_core and fact.id not in besides), key=_worth
    )
    texts: dict[WrittenField, tuple[Fact, ...]] = {}
    for name, fields in _FIELDS.items():
        groups = [[one for one in core.get(field, ()) if one.id in admitted] for field in fields]
        groups += [[one for one in rest if one.category is wanted] for wanted in _CATEGORIES[name]]
        texts[name] = tuple(_first(_in_turn(groups)))
    lively = [
        fact
        for fact in own
        if fact.category is not Category.FEEDBACK
        and fact.id not in orders
        and now - touched_at(fact) <= RECENT
    ]
    texts["top_of_mind"] = tuple(_first(sorted(lively, key=_liveliness(now))))
    return texts


def touched_at(fact: Fact) -> datetime:
    """Return the time at which a fact was told or recalled last."""
    return max(fact.stated_at, fact.last_used_at or fact.stated_at)


def _liveliness(now: datetime) -> Callable[[Fact], tuple[int, float, float, str, str]]:
    """Order facts by how often they were told and recalled lately, then by when last.

    Facts that were recalled together follow by when they were told, the last one first, and then
    by their content: ids are random, and differ from store to store.
    """

    def key(fact: Fact) -> tuple[int, float, float, str, str]:
        told = len(fact.sources) if now - fact.stated_at <= RECENT else 0
        used = fact.last_used_at is not None and now - fact.last_used_at <= RECENT
        touched, stated = touched_at(fact).timestamp(), fact.stated_at.timestamp()
        return -told - used * fact.use_count, -touched, -stated, fact.content, fact.id

    return key


def _worth(fact: Fact) -> tuple[bool, float, int, str, str]:
    told = -touched_at(fact).timestamp()
    return not fact.is_pinned, told, -fact.use_count, fact.content, fact.id


def _in_turn(groups: Iterable[Sequence[Fact]]) -> Iterator[Fact]:
    """Yield the first fact of each group, then the second ones, and so on."""
    for turn in zip_longest(*groups):
        yield from (fact for fact in turn if fact is not None)


def _first(facts: Iterable[Fact]) -> Iterator[Fact]:
    """Yield the first facts of each scope, so that no agent's push out another's."""
    taken: Counter[Scope] = Counter()
    for fact in facts:
        length = sum(1 for _ in segments(fact.content))
        if taken[fact.scope] + length <= SENTENCES:
            taken[fact.scope] += length
            yield fact
