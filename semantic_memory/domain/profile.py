"""Profile and history tiers: the two layers above the facts, made of lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Annotated, Literal, get_args

from pydantic import StringConstraints

from semantic_memory.domain.facts import Category, Fact, Source
from semantic_memory.domain.values import Content, Identifier, Timestamp, Value

ProfileField = Literal["work_context", "personal_context", "top_of_mind"]
"""Field of a user's profile."""


HistoryTier = Literal["recent_months", "earlier_context", "long_term_background"]
"""Tier of a user's history, by the age of its lines; see `TierAges`."""


Layer = ProfileField | HistoryTier


Origin = Literal["derived", "model", "user"]
"""Author of a line: `derived` from facts by rule, a language model, or a user by hand."""


Place = Annotated[str, StringConstraints(max_length=257, pattern=r"^[^/\s]+/[^/\s]+$")]
"""Key of a message: `session/message`."""


class Line(Value):
    """One state of a profile field, or one line of a history tier."""

    id: Identifier
    user_id: Identifier
    layer: Layer
    text: Content
    origin: Origin
    at: Timestamp
    """Time of the latest (profile) or the first (history) statement it rests on."""
    valid_from: Timestamp
    """Start of validity."""
    valid_to: Timestamp | None = None
    """End of validity; None while the line is valid."""
    fact_ids: tuple[Identifier, ...] = ()
    """Ids of the facts it rests on."""
    said_in: tuple[Place, ...] = ()
    """Keys (`session/message`) of the messages it rests on."""

    @property
    def message_ids(self) -> tuple[str, ...]:
        """Ids of the messages it rests on."""
        return tuple(dict.fromkeys(place.partition("/")[2] for place in self.said_in))

    @property
    def session_ids(self) -> tuple[str, ...]:
        """Ids of the sessions of those messages."""
        places = (place.partition("/")[0] for place in self.said_in)
        return tuple(dict.fromkeys(session for session in places if session))


class _Text(Value):
    text: Content
    origin: Origin
    fact_ids: tuple[Identifier, ...] = ()
    """Ids of the facts it rests on."""
    message_ids: tuple[Identifier, ...] = ()
    """Ids of the messages it rests on."""
    session_ids: tuple[Identifier, ...] = ()
    """Ids of the sessions of those messages."""


class ProfileText(_Text):
    """Text of a profile field."""

    updated_at: Timestamp
    """Time of the latest statement it rests on, or of the edit by hand."""


class HistoryItem(_Text):
    """One line of a history tier."""

    at: Timestamp
    """Time of the first statement it rests on."""


class Profile(Value):
    """A user's profile, a few sentences a field."""

    work_context: ProfileText | None = None
    personal_context: ProfileText | None = None
    top_of_mind: ProfileText | None = None


class History(Value):
    """A user's history in three tiers, oldest line first; older tiers are shorter."""

    recent_months: tuple[HistoryItem, ...] = ()
    """Lines of the last 30 days, or of another age in the settings."""
    earlier_context: tuple[HistoryItem, ...] = ()
    """Lines of 30 to 180 days ago."""
    long_term_background: tuple[HistoryItem, ...] = ()
    """Lines of more than 180 days ago."""


class Overview(Value):
    """A user's profile and history tiers."""

    profile: Profile = Profile()
    history: History = History()


PROFILE_FIELDS: tuple[ProfileField, ...] = get_args(ProfileField)
TIERS: tuple[HistoryTier, ...] = get_args(HistoryTier)
_STANDING: Mapping[Origin, int] = MappingProxyType({"derived": 0, "model": 1, "user": 2})


def prevails(standing: Line, new: Line) -> bool:
    """Return True if a profile field keeps its standing line rather than take the new one.

    A line by hand prevails over one by a model, and that over a derived one. Of two lines by hand,
    or two by a model, the one with the later `at` prevails, the new one on a tie. A
    derived line always gives way to a new derived one.
    """
    if standing.origin != new.origin:
        return _STANDING[standing.origin] > _STANDING[new.origin]
    return new.origin != "derived" and standing.at > new.at


@dataclass(frozen=True, slots=True)
class TierAges:
    """Ages at which a line of the history moves on; defaults are in `ProfileSettings`."""

    recent: timedelta
    """Age below which a line belongs to `recent_months`."""
    earlier: timedelta
    """Age below which a line belongs to `earlier_context`, if it isn't recent."""

    def tier_of(self, at: datetime, now: datetime) -> HistoryTier:
        """Return the history tier of a time."""
        age = now - at
        if age < self.recent:
            return "recent_months"
        return "earlier_context" if age < self.earlier else "long_term_background"


def overview(lines: Iterable[Line]) -> Overview:
    """Build the profile and the history from valid lines."""
    fields: dict[str, ProfileText] = {}
    tiers: dict[str, list[HistoryItem]] = {tier: [] for tier in TIERS}
    for line in sorted(lines, key=lambda line: (line.at, line.id)):
        shared = {
            "text": line.text,
            "origin": line.origin,
            "fact_ids": line.fact_ids,
            "message_ids": line.message_ids,
            "session_ids": line.session_ids,
        }
        if line.layer in tiers:
            tiers[line.layer].append(HistoryItem(at=line.at, **shared))
        else:
            fields[line.layer] = ProfileText(updated_at=line.at, **shared)
    return Overview(profile=Profile(**fields), history=History(**tiers))


def as_fact(line: Line) -> Fact:
    """Return a line in the form of a fact, so that it can be packed into a context block."""
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
    """Return the keys (`session/message`) of the messages that `facts` came from."""
    return tuple(
        dict.fromkeys(
            f"{source.session_id}/{message}"
            for fact in facts
            for source in fact.sources
            if source.session_id is not None
            for message in source.message_ids
        )
    )
