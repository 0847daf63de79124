"""Mark facts that somebody should look at, as they are read; nothing is stored, and nothing fades.

A preference that nobody stated again for half a year is to be confirmed. A fact is to be checked
once one that it refers to was superseded or forgotten, until that is restored.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from semantic_memory.domain.facts import Category, Fact, Status
from semantic_memory.domain.filters import NO_FILTERS
from semantic_memory.domain.ports import Ledger

UNCONFIRMED = timedelta(days=183)
"""Age of the latest statement from which a preference is to be confirmed."""


def marked(facts: Sequence[Fact], ledger: Ledger, user_id: str, now: datetime) -> list[Fact]:
    """Return facts of a user with their `review`, in their order."""
    fallen = {fact.id for fact in fallen_under(facts, ledger, user_id)}
    return [_marked(fact, fallen, now) for fact in facts]


def fallen_under(facts: Sequence[Fact], ledger: Ledger, user_id: str) -> list[Fact]:
    """Return the memories that active ones of `facts` refer to and that no longer hold."""
    ids = sorted({one for fact in facts if _stands(fact) for one in fact.references})
    if not ids:
        return []
    known = ledger.get(ids, user_id)
    superseded = [one for one in known if one.status is Status.SUPERSEDED]
    missing = frozenset(ids) - {one.id for one in known}  # forgotten, or of another system
    if not missing:
        return superseded
    named = NO_FILTERS.model_copy(update={"ids": missing})
    return [*superseded, *ledger.page(user_id, named, status=Status.FORGOTTEN).facts]


def is_unconfirmed(fact: Fact, now: datetime) -> bool:
    """Return True for a preference that nobody stated again for long, unless it is pinned."""
    is_lasting = fact.category is Category.PREFERENCE and not fact.is_pinned
    return is_lasting and _stands(fact) and now - fact.stated_at > UNCONFIRMED


def _marked(fact: Fact, fallen: set[str], now: datetime) -> Fact:
    if _stands(fact) and not fallen.isdisjoint(fact.references):
        return fact.model_copy(update={"review": "to check"})
    if is_unconfirmed(fact, now):
        return fact.model_copy(update={"review": "to confirm"})
    return fact


def _stands(fact: Fact) -> bool:
    return fact.status is Status.ACTIVE
