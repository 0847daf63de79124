"""Lines of profiles and histories: which of two stands, and how they are read together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import get_args

from semantic_memory.domain.models import (
    Category,
    Fact,
    History,
    HistoryItem,
    HistoryTier,
    Line,
    Origin,
    Overview,
    Profile,
    ProfileField,
    ProfileText,
    Source,
)

PROFILE_FIELDS: tuple[ProfileField, ...] = get_args(ProfileField)
TIERS: tuple[HistoryTier, ...] = get_args(HistoryTier)
RECENT = timedelta(days=30)
"""What was said since belongs to `recent_months`."""
EARLIER = timedelta(days=180)
"""What was said since, and before `RECENT`, belongs to `earlier_context`."""

_STANDING: Mapping[Origin, int] = MappingProxyType({"derived": 0, "model": 1, "user": 2})


def prevails(standing: Line, new: Line) -> bool:
    """Whether a field of a profile keeps what it says.

    By hand goes before a model, a model before what is derived. Of two by hand or by a model the
    one that was said later stands; what is derived is always derived anew.
    """
    if standing.origin != new.origin:
        return _STANDING[standing.origin] > _STANDING[new.origin]
    return new.origin != "derived" and standing.at > new.at


def tier_of(at: datetime, now: datetime) -> HistoryTier:
    """Where in the history something of that time belongs."""
    age = now - at
    if age < RECENT:
        return "recent_months"
    return "earlier_context" if age < EARLIER else "long_term_background"


def overview(lines: Iterable[Line]) -> Overview:
    """The lines that stand, in the order of time."""
    fields: dict[str, ProfileText] = {}
    tiers: dict[str, list[HistoryItem]] = {tier: [] for tier in TIERS}
    for line in sorted(lines, key=lambda line: (line.at, line.id)):
        told = {
            "text": line.text,
            "origin": line.origin,
            "fact_ids": line.fact_ids,
            "message_ids": line.message_ids,
            "session_ids": line.session_ids,
        }
        if line.layer in tiers:
            tiers[line.layer].append(HistoryItem(at=line.at, **told))
        else:
            fields[line.layer] = ProfileText(updated_at=line.at, **told)
    return Overview(profile=Profile(**fields), history=History(**tiers))


def as_fact(line: Line) -> Fact:
    """A line that was written, as what it says about the user."""
    return Fact(
        id=line.id,
        user_id=line.user_id,
        content=line.text,
        category=Category.FINDING if line.layer in TIERS else Category.PERSONAL,
        created_at=line.at,
        recorded_at=line.valid_from,
        valid_from=line.at,
        source=Source(extractor=line.origin),
        references=line.fact_ids,
    )


def said_in(facts: Iterable[Fact]) -> tuple[str, ...]:
    """`session/message` of every message that says one of `facts`."""
    return tuple(
        dict.fromkeys(
            f"{source.session_id}/{message}"
            for fact in facts
            for source in fact.sources
            if source.session_id is not None
            for message in source.message_ids
        )
    )
