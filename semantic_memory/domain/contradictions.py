"""Find conditions of one query that exclude each other."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from semantic_memory.domain.categories import Status
from semantic_memory.domain.lexical import term
from semantic_memory.domain.values import covers

if TYPE_CHECKING:
    from semantic_memory.domain.filters import Filters

_BELIEVED = frozenset({Status.ACTIVE, Status.SUPERSEDED})


def contradiction(filters: Filters) -> str | None:
    """Return why no memory can meet filters, as far as they say so themselves; None if one can."""
    since, until = filters.since, filters.until
    if isinstance(since, datetime) and isinstance(until, datetime) and since >= until:
        return f"since {since:%Y-%m-%d %H:%M} isn't before until {until:%Y-%m-%d %H:%M}"
    for name in ("categories", "statuses", "agents", "runs"):
        wanted, refused = getattr(filters, name), getattr(filters, f"not_{name}")
        if wanted and refused and wanted <= refused:
            return f"all of {name} are left out by not_{name}"
    statuses = filters.statuses
    if filters.as_of is not None and statuses is not None and statuses.isdisjoint(_BELIEVED):
        return "what was believed at as_of is active or superseded by now"
    for tag in filters.tags:
        if any(covers(refused, tag) for refused in filters.not_tags):
            return f"the tag {tag} is left out too"
    if both := {*map(term, filters.words)} & {*map(term, filters.not_words)}:
        return f"{' '.join(min(one.words for one in both))!r} is left out too"
    return None
