"""Profile and history tiers: the two layers above the facts, made of lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args

from pydantic import StringConstraints

from semantic_memory.domain.facts import Category, Fact, Source
from semantic_memory.domain.trust import Trust
from semantic_memory.domain.values import Content, Identifier, Timestamp, Value

WrittenField = Literal["work_context", "personal_context", "top_of_mind"]
"""Field that a language model or a person writes; until then it is derived from facts."""


CoreField = Literal[
    "name",
    "allergies",
    "diet",
    "health",
    "instructions",
    "deadlines",
    "home",
    "family",
    "work",
    "languages",
]
"""Field of the core profile, derived from facts unless a person writes it; needed most first."""


ProfileField = WrittenField | CoreField
"""Field of a user's profile."""


HistoryTier = Literal["recent_months", "earlier_context", "long_term_background"]
"""Tier of a user's history, by the age of its lines; see `TierAges`."""


Layer = ProfileField | HistoryTier


Origin = Literal["derived", "model", "user"]
"""Author of a line: `derived` from facts by rule, a language model, or a user by hand."""


Place = Annotated[str, StringConstraints(max_length=257, pattern=r"^[^/\s]+/[^/\s]+$")]
"""Key of a message: `session/message`."""


class Line(Value):
    """One state of a profile field, or one sentence of a history tier or of a derived field."""

    id: Identifier
    user_id: Identifier
    layer: Layer
    text: Content
    origin: Origin
    at: Timestamp
    """Time of the latest (profile) or the first (history) statement it rests on; of `top_of_mind`
    that of the latest recall, if it is later."""
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
        """Ids of the sessions of the messages."""
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
    """Ids of the sessions of the messages."""


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
    name: ProfileText | None = None
    """Name, and the way to address the user."""
    allergies: ProfileText | None = None
    diet: ProfileText | None = None
    health: ProfileText | None = None
    instructions: ProfileText | None = None
    """Standing instructions to the assistant."""
    home: ProfileText | None = None
    family: ProfileText | None = None
    """Partner, relatives, housemates and pets."""
    work: ProfileText | None = None
    deadlines: ProfileText | None = None
    """Dates ahead."""
    languages: ProfileText | None = None


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


WRITTEN_FIELDS: tuple[WrittenField, ...] = get_args(WrittenField)
CORE_FIELDS: tuple[CoreField, ...] = get_args(CoreField)
PROFILE_FIELDS: tuple[ProfileField, ...] = (*WRITTEN_FIELDS, *CORE_FIELDS)
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
    fields: dict[str, list[Line]] = {}
    tiers: dict[str, list[HistoryItem]] = {tier: [] for tier in TIERS}
    for line in sorted(lines, key=lambda line: (line.at, line.text, line.id)):
        if line.layer in tiers:
            tiers[line.layer].append(HistoryItem(at=line.at, **_joined([line])))
        else:
            fields.setdefault(line.layer, []).append(line)
    texts = {
        name: ProfileText(updated_at=own[-1].at, **_joined(own)) for name, own in fields.items()
    }
    return Overview(profile=Profile(**texts), history=History(**tiers))


def every(parts: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return what is in any of some parts, each once."""
    return tuple(dict.fromkeys(one for part in parts for one in part))


def _joined(lines: Sequence[Line]) -> dict[str, Any]:
    """Return the text and the sources of lines of one layer."""
    return {
        "text": " ".join(line.text for line in lines),
        "origin": lines[-1].origin,
        "fact_ids": every(line.fact_ids for line in lines),
        "message_ids": every(line.message_ids for line in lines),
        "session_ids": every(line.session_ids for line in lines),
    }


def as_fact(line: Line, trust: Trust) -> Fact:
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
        trust=trust,
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
