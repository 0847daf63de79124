"""What a person wants to know who looks into a store: how a memory stands, what lies near what."""

from __future__ import annotations

import math

import numpy as np

from semantic_memory.bootstrap import Service
from semantic_memory.domain import decay
from semantic_memory.domain.errors import NotFoundError
from semantic_memory.domain.facts import Category, Explanation
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.layout import Layout, Point
from semantic_memory.domain.projection import principal_components

_MESSAGES = frozenset({Category.CONVERSATION})
_TEXT = 200


def explain(service: Service, fact_id: str, user_id: str | None) -> Explanation:
    """How firmly a memory still stands, and what took whose place. Raises NotFoundError."""
    ledger = service.ledger
    found = ledger.get([fact_id], user_id)
    if not found:
        raise NotFoundError(f"no memory {fact_id!r}")
    (fact,) = found
    lasts = decay.endurance(fact.use_count, len(fact.corroborations), fact.tags)
    half_life = service.settings.half_lives[fact.category] * lasts
    stated = max(fact.created_at, fact.confirmed_at or fact.created_at)
    age = decay.age_days(stated.timestamp(), service.clock.now().timestamp())
    by = [] if fact.superseded_by is None else ledger.get([fact.superseded_by], fact.user_id)
    return Explanation(
        fact=fact,
        half_life_days=None if math.isinf(half_life) else half_life,
        retention=float(decay.retention(age, half_life)),
        replaced_by=by[0] if by else None,
        replaced=tuple(ledger.replaced(fact.id, fact.user_id)),
    )


def layout(service: Service, user_id: str, limit: int) -> Layout:
    """The newest `limit` memories of a user that are believed, facts first, in two dimensions."""
    ledger = service.ledger
    facts = ledger.find(user_id, Filters(categories=frozenset(Category) - _MESSAGES), limit=limit)
    if rest := limit - len(facts):
        facts += ledger.find(user_id, Filters(categories=_MESSAGES), limit=rest)
    rows = ledger.traits([fact.id for fact in facts])
    vectors = {row.trait.id: row.vectors.windows[0] for row in rows if row.vectors is not None}
    shown = [fact for fact in facts if fact.id in vectors]
    if not shown:
        return Layout(points=(), explained=(0.0, 0.0))
    places, explained = principal_components(np.stack([vectors[fact.id] for fact in shown]))
    return Layout(
        points=tuple(
            Point(
                id=fact.id,
                text=fact.content[:_TEXT],
                category=fact.category,
                created_at=fact.created_at,
                x=round(float(x), 5),
                y=round(float(y), 5),
            )
            for fact, (x, y) in zip(shown, places, strict=True)
        ),
        explained=explained,
    )
