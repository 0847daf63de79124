"""Mark facts that somebody should look at, as they are read; nothing is stored, and nothing fades.

A preference that nobody stated again for half a year is to be confirmed. A fact is to be checked
once one that it rests on was superseded or forgotten, or is itself to be checked, until that is
restored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from semantic_memory.domain.facts import Category, Fact, Status
from semantic_memory.domain.filters import NO_FILTERS
from semantic_memory.domain.ports import Ledger

UNCONFIRMED = timedelta(days=183)
"""Age of the latest statement from which a preference is to be confirmed."""


def marked(facts: Sequence[Fact], ledger: Ledger, user_id: str, now: datetime) -> list[Fact]:
    """Return facts of a user with their `review`, in their order."""
    fallen = fallen_under(facts, ledger, user_id)
    return [_marked(fact, fallen, now) for fact in facts]


def fallen_under(facts: Sequence[Fact], ledger: Ledger, user_id: str) -> Mapping[str, Fact]:
    """Return the memories that active ones of `facts` rest on and that need a look, by their ids.

    The value is the memory that no longer holds: itself, or one that it rests on in turn.
    """
    fallen: dict[str, Fact] = {}
    standing: dict[str, Fact] = {}
    wanted = {one for fact in facts if _stands(fact) for one in fact.bases}
    while wanted:
        known = ledger.get(sorted(wanted), user_id)
        missing = wanted - {one.id for one in known}  # forgotten, or of another system
        if missing:
            named = NO_FILTERS.model_copy(update={"ids": frozenset(missing)})
            gone = ledger.page(user_id, named, status=Status.FORGOTTEN).facts
            fallen |= {one.id: one for one in gone}
        fallen |= {one.id: one for one in known if one.status is Status.SUPERSEDED}
        held = {one.id: one for one in known if one.id not in fallen}
        standing |= held
        below = {base for one in held.values() for base in _beneath(one)}
        wanted = below - missing - standing.keys() - fallen.keys()
    return _spread(fallen, standing)


def _spread(fallen: Mapping[str, Fact], standing: Mapping[str, Fact]) -> Mapping[str, Fact]:
    """Return `fallen` with the standing memories that rest on them, over any number of others."""
    found, spread = dict(fallen), True
    while spread:
        above = {
            one.id: found[base]
            for one in standing.values()
            if one.id not in found
            for base in _beneath(one)
            if base in found
        }
        found |= above
        spread = bool(above)
    return found


def _beneath(fact: Fact) -> tuple[str, ...]:
    """Return what a memory rests on: a merged one on the one that it became."""
    if _stands(fact):
        return fact.bases
    became = fact.superseded_by if fact.status is Status.ARCHIVED else None
    return () if became is None else (became,)


def is_unconfirmed(fact: Fact, now: datetime) -> bool:
    """Return True for a preference that nobody stated again for long, unless it is pinned."""
    is_lasting = fact.category is Category.PREFERENCE and not fact.is_pinned
    return is_lasting and _stands(fact) and now - fact.stated_at > UNCONFIRMED


def _marked(fact: Fact, fallen: Mapping[str, Fact], now: datetime) -> Fact:
    if _stands(fact) and any(one in fallen for one in fact.bases):
        return fact.model_copy(update={"review": "to check"})
    if is_unconfirmed(fact, now):
        return fact.model_copy(update={"review": "to confirm"})
    return fact


def _stands(fact: Fact) -> bool:
    return fact.status is Status.ACTIVE
