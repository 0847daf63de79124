"""Profiles and histories: the two layers above the facts, and which of two lines stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Annotated, Literal, get_args

from pydantic import StringConstraints

from semantic_memory.domain.facts import Category, Fact, Source
from semantic_memory.domain.values import Content, Identifier, Timestamp, Value

ProfileField = Literal["work_context", "personal_context", "top_of_mind"]
"""The parts of a user's profile, 1-3 sentences each."""


HistoryTier = Literal["recent_months", "earlier_context", "long_term_background"]
"""The parts of a user's history: the last 30 days, up to 180 days ago, and before that."""


Layer = ProfileField | HistoryTier


Origin = Literal["derived", "model", "user"]
"""Who wrote a line: it was chosen among facts, a language model did, or somebody by hand."""


Place = Annotated[str, StringConstraints(max_length=257, pattern=r"^[^/\s]+/[^/\s]+$")]
"""A message: `session/message`."""


class Line(Value):
    """A field of a user's profile, or one line of the history, as it stands or stood."""

    id: Identifier
    user_id: Identifier
    layer: Layer
    text: Content
    origin: Origin
    at: Timestamp
    """When what it says was said last (profile) or first (history)."""
    valid_from: Timestamp
    """Since when it stands."""
    valid_to: Timestamp | None = None
    """When it was replaced; None while it stands."""
    fact_ids: tuple[Identifier, ...] = ()
    """The facts that it rests on."""
    said_in: tuple[Place, ...] = ()
    """`session/message` of every message that it rests on."""

    @property
    def message_ids(self) -> tuple[str, ...]:
        """The messages that it rests on."""
        return tuple(dict.fromkeys(place.partition("/")[2] for place in self.said_in))

    @property
    def session_ids(self) -> tuple[str, ...]:
        """The sessions of those messages."""
        places = (place.partition("/")[0] for place in self.said_in)
        return tuple(dict.fromkeys(session for session in places if session))


class _Told(Value):
    text: Content
    origin: Origin
    fact_ids: tuple[Identifier, ...] = ()
    """The facts that it rests on."""
    message_ids: tuple[Identifier, ...] = ()
    """The messages that it rests on."""
    session_ids: tuple[Identifier, ...] = ()
    """The sessions of those messages."""


class ProfileText(_Told):
    """What a field of a profile says."""

    updated_at: Timestamp
    """When the last of it was said, or written by hand."""


class HistoryItem(_Told):
    """One line of a history."""

    at: Timestamp
    """When it was said."""


class Profile(Value):
    """Who a user is, 1-3 sentences a field; each is replaced by itself."""

    work_context: ProfileText | None = None
    personal_context: ProfileText | None = None
    top_of_mind: ProfileText | None = None


class History(Value):
    """What happened, the more briefly the longer ago; within a tier the oldest first."""

    recent_months: tuple[HistoryItem, ...] = ()
    """The last 30 days."""
    earlier_context: tuple[HistoryItem, ...] = ()
    """30 to 180 days ago."""
    long_term_background: tuple[HistoryItem, ...] = ()
    """Before that."""


class Overview(Value):
    """A user at a glance: the two layers above the facts."""

    profile: Profile = Profile()
    history: History = History()


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
