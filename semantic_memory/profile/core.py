"""Derive the core of a user's profile: the facts that nearly every answer may need.

A fact belongs to a field by its wording and by whom it is about (`domain.english.core`). Only the
user's own words count, and statements trusted as much; nothing sensitive about other people.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from semantic_memory.domain.english.core import (
    core_field,
    is_verdict,
    name_in,
    shortened,
    tells_of_kin,
)
from semantic_memory.domain.english.due import due_on
from semantic_memory.domain.english.lasting import lasts
from semantic_memory.domain.facts import Category, Fact, prevailing
from semantic_memory.domain.profile import CORE_FIELDS, CoreField
from semantic_memory.domain.scope import Scope
from semantic_memory.domain.trust import Trust
from semantic_memory.language.own_speech import MOST_OWN

_FEWEST = 3  # facts that begin with a name, from which on it may be the user's
_AT_ONCE: frozenset[CoreField] = frozenset({"allergies"})
_LAST: frozenset[CoreField] = frozenset({"about"})
_OF_PERSON = frozenset(Category) - {Category.CONVERSATION, Category.FEEDBACK, Category.FINDING}
_FAMILIAR = 0.5  # share of such facts that begin with the same name


def derive_core(
    facts: Sequence[Fact], now: datetime, most: int, written: Collection[CoreField] = ()
) -> dict[CoreField, tuple[Fact, ...]]:
    """Return at most `most` facts of each field and scope, pinned ones first, then the latest.

    Verdicts on single answers come last. Fields in `written` are left out. The result doesn't
    depend on the order of `facts`.
    """
    trusted = _trusted(facts)
    names = user_names(trusted)
    fields: dict[CoreField, list[Fact]] = {name: [] for name in CORE_FIELDS}
    for fact in trusted:
        name = core_field(fact.content, fact.category, names)
        if is_ahead(fact, now):
            name = "deadlines" if name not in ("instructions", "health") else name
        elif name is None and fact.category in _OF_PERSON and lasts(fact.content):
            name = "about"
        if name is not None and name not in written:
            fields[name].append(fact)
    chosen = {
        name: tuple(_first_of_each_scope(sorted(own, key=_worth), most))
        for name, own in fields.items()
        if name not in written
    }
    if "family" in chosen:
        chosen["family"] = _not_said_elsewhere(chosen)
    return chosen


def in_turn(
    fields: Mapping[CoreField, Sequence[Fact]], now: datetime
) -> list[tuple[CoreField, Fact]]:
    """Return the facts of the core that hold at `now`, the most needed ones first.

    The first fact of every field comes before the second of any, so that a small budget has some
    of each, but for allergies, which come all at once: one that is missing may harm. What else
    lasts about the user comes last. Deadlines that have passed are left out.
    """
    ahead = {
        name: [fact for fact in facts if name != "deadlines" or is_ahead(fact, now)]
        for name, facts in fields.items()
    }
    turns = max(map(len, ahead.values()), default=0)
    told = [
        (name, fact)
        for turn in range(turns)
        for name in CORE_FIELDS
        if name not in _LAST
        for fact in _of_turn(name, ahead.get(name, []), turn)
    ]
    return told + [
        (name, fact) for name in CORE_FIELDS if name in _LAST for fact in ahead.get(name, [])
    ]


def _of_turn(name: CoreField, facts: Sequence[Fact], turn: int) -> Sequence[Fact]:
    if name in _AT_ONCE:
        return [] if turn else facts
    return facts[turn : turn + 1]


def is_ahead(fact: Fact, now: datetime) -> bool:
    """Return True if a fact names a due date that hasn't passed."""
    day = due_on(fact.content, fact.created_at.date())
    return day is not None and day >= now.date()


def user_names(facts: Iterable[Fact]) -> frozenset[str]:
    """Return the words by which facts name their user, in lower case.

    The speaker of the user's messages, and the name that begins most of the facts that begin with
    one, if there are some. Where several people speak, as in a group, the user is the one after
    whom the user id is named; nobody else's facts are core.
    """
    found: Counter[str] = Counter()
    names: set[str] = set()
    speakers: set[str] = set()
    for fact in facts:
        names.add(fact.user_id.casefold())
        if fact.source.role == "user" and (said := (fact.source.speaker or "").split()):
            speakers.add(said[0].casefold())
        if name := name_in(fact.content):
            found[name] += 1
    if len(speakers) > 1:
        return frozenset(names)
    names |= speakers
    for name, number in found.most_common(1):
        if number >= _FEWEST and number >= _FAMILIAR * sum(found.values()):
            names.add(name)
    return frozenset(names)


def _trusted(facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts of the user's own trust that no other fact outweighs, in order of id."""
    known = {fact.id: fact for fact in facts}
    return [
        fact
        for fact in sorted(facts, key=lambda fact: fact.id)
        if fact.trust >= Trust.USER
        and len(fact.content) <= MOST_OWN  # a longer text is a document
        and prevailing([fact, *(known[one] for one in fact.contested_by if one in known)])[0]
        is fact
    ]


def _not_said_elsewhere(chosen: Mapping[CoreField, Sequence[Fact]]) -> tuple[Fact, ...]:
    """Return the facts of the family that no other fact of the core tells in passing.

    "The user has a son, Wout" beside "The user lives in Ghent with their son Wout". Deadlines
    don't count: they are left out once they have passed.
    """
    others = [fact for name, own in chosen.items() if name != "deadlines" for fact in own]
    return tuple(
        fact
        for fact in chosen["family"]
        if not any(
            other.scope == fact.scope
            and tells_of_kin(shortened(other.content, other.category), fact.content)
            for other in others
        )
    )


def _first_of_each_scope(facts: Iterable[Fact], most: int) -> Iterator[Fact]:
    """Yield the first `most` facts of each scope: no agent's push out those that others need."""
    taken: Counter[Scope] = Counter()
    for fact in facts:
        taken[fact.scope] += 1
        if taken[fact.scope] <= most:
            yield fact


def _worth(fact: Fact) -> tuple[bool, bool, float, str]:
    return not fact.is_pinned, is_verdict(fact.content), -fact.stated_at.timestamp(), fact.id
