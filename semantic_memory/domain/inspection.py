"""Answers about a memory itself: what changed, who was active, how beliefs went on, absences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from semantic_memory.domain.facts import Fact
from semantic_memory.domain.feed import EventKind, MemoryEvent
from semantic_memory.domain.recall import Hit, ScoreParts
from semantic_memory.domain.reports import DeadLetter
from semantic_memory.domain.values import Identifier, Timestamp, Value

ChangeGroup = Literal[
    "learnt", "changed", "ended", "marked", "archived", "quarantined", "forgotten"
]
"""Kind of a change, for a person: a new fact; an edit, confirmation or restoration; an end by a
newer statement; a link to a statement that perhaps changed it; a fading or merging; a doubt about
its safety; a forgetting."""


class RecentChange(Value):
    """A change of a memory, with the memory as it is now."""

    group: ChangeGroup
    event: MemoryEvent
    fact: Fact | None = None
    """None for a forgotten memory."""
    newer: Fact | None = None
    """The memory that ended, absorbed or perhaps changed it."""


class RecentChanges(Value):
    """Changes of a user's memory since a time."""

    since: Timestamp
    counts: Mapping[ChangeGroup, int]
    """Number of changes by group, those that aren't listed included."""
    items: tuple[RecentChange, ...]
    """The latest of each group, the latest first."""


class Activity(Value):
    """A user, and how much happened in the user's memory of late."""

    user_id: Identifier
    changes: int
    """Number of changes in the period, messages included."""
    last_at: Timestamp | None
    """Time of the latest of them; None for a user without any in the period."""
    waiting: int
    """Number of sessions with messages from which no facts have been extracted yet."""


class SessionBacklog(Value):
    """A session from whose latest messages no facts have been extracted yet."""

    user_id: Identifier
    session_id: Identifier
    messages: int
    """Number of messages of the session."""
    left: int
    """Number of those that haven't been read."""


class Backlog(Value):
    """The work that is left between the messages taken in and the memories to be found."""

    messages: int
    """Number of messages of the sessions with any left, those of `sessions` and all others."""
    left: int
    """Number of those that haven't been read."""
    waiting: int
    """Number of sessions with any left."""
    sessions: tuple[SessionBacklog, ...]
    """Those with most left, up to a limit."""
    unembedded: int
    """Number of memories without vectors."""


class UndeliveredEvent(Value):
    """A dead letter of the webhook, with its event."""

    letter: DeadLetter
    event: MemoryEvent | None = None
    """None if it was removed from the feed since."""


class Deliveries(Value):
    """State of the webhook, for an operator."""

    configured: bool
    """True if the settings have an address to deliver to."""
    kinds: tuple[EventKind, ...]
    """Kinds of events that are delivered; none stands for all."""
    delivered: int | None
    """The number of the last event that was delivered or given up; null before the first start."""
    latest: int
    """The number of the latest event."""
    disabled: bool
    """True since the endpoint answered 410, until the job `redeliver`."""
    replaying: int
    """Number of dead letters that are being sent again."""
    dead: tuple[UndeliveredEvent, ...]
    """Events that were given up, the latest first."""


class Timeline(Value):
    """The statements about one thing in the order in which they came to hold."""

    kind: Literal["slot", "chain", "entity"]
    """`slot`: an attribute of the user; `chain`: statements that replaced each other; `entity`:
    statements that name the same person, place or thing."""
    name: str
    """The slot or the name; the latest statement of a chain."""
    facts: tuple[Fact, ...]
    """The oldest first."""


class Timelines(Value):
    """Timelines of a stretch of a user's statements, from the newest backwards."""

    items: tuple[Timeline, ...]
    since: Timestamp | None = None
    """Time of the oldest statement laid out; None without any."""
    earlier: str | None = None
    """The statement behind which the next stretch begins; None if there is no older one."""


AbsenceReason = Literal[
    "came",
    "unknown",
    "forgotten",
    "scope",
    "quarantined",
    "archived",
    "superseded",
    "expired",
    "not believed then",
    "filtered",
    "told",
    "neither arm",
    "below rank",
    "weak",
    "other topic",
    "repeats",
    "budget",
]
"""`came`: it is in the answer. `unknown`: no memory of the user says it. `scope`: it belongs to
another agent or run. `told`: the answer holds its message, a fact drawn from it, or the
same words. `neither arm`: it shares no word with the question, and isn't near it in meaning.
`below rank`: others matched better. The last four: as `Omission` has them, for a block."""


class Absence(Value):
    """The reason why a memory is, or isn't, in the answer to a question."""

    reason: AbsenceReason
    memory: Fact | None = None
    by: Fact | None = None
    """The memory that superseded, absorbed or tells it."""
    fields: tuple[str, ...] = ()
    """The filters, or parts of the scope, that leave it out."""
    place: int | None = None
    """Its rank among all that were ranked, from 1."""
    place_by_meaning: int | None = None
    place_by_words: int | None = None
    """None if it shares no word with the question."""
    ranked: int = 0
    """Number of memories that were ranked; more aren't looked at."""
    asked_for: int = 0
    """Number of memories that the answer may hold, or from which the block was chosen."""
    score: float | None = None
    parts: ScoreParts | None = None
    needed: float | None = None
    """Lowest score in the answer."""
    nearest: Hit | None = None
    """The memory in the answer that is most like it."""
    answer: tuple[Hit, ...] = ()
    """The answer, best first."""
    candidates: tuple[Fact, ...] = ()
    """The memories that a text may have meant, the likeliest first."""
