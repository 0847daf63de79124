"""Facts: believed statements with their sources, dates and confidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal, Self

from pydantic import Field, JsonValue, model_validator

from semantic_memory.domain.bodies import Body, whole_text

# Kept apart, so that the command line can offer them without loading any model.
from semantic_memory.domain.categories import Category as Category
from semantic_memory.domain.categories import Status as Status
from semantic_memory.domain.messages import Role, SessionKey
from semantic_memory.domain.readings import Reading
from semantic_memory.domain.scope import Scoped
from semantic_memory.domain.trust import Trust, of_role
from semantic_memory.domain.values import (
    SCHEMA_VERSION,
    Identifier,
    Kept,
    Metadata,
    Tag,
    Timestamp,
    Unit,
    Value,
    new_id,
)

PINNED = "pinned"
"""Tag of facts that never fade, expire or are archived: only forgetting removes them."""


TYPED = "typed"
"""Key of a fact's metadata, under which are its values as types of the application, by name."""


class Source(Value):
    """The origin of a memory."""

    extractor: str = "caller"
    session_id: Identifier | None = None
    message_ids: tuple[Identifier, ...] = ()
    position: int | None = Field(default=None, ge=0)
    """Place of the (first) message in its session, from 0."""
    role: Role | None = None
    speaker: str | None = None
    decided: bool = False
    """The extractor saw what was known, and decided what the statement does to it."""


class Tombstone(Value):
    """The record of how a memory was forgotten."""

    at: Timestamp
    reason: str
    by: str | None = None
    """The name of the API key, where there was one."""
    was_pinned: bool = False
    states: int = Field(default=1, ge=0)
    """Number of states that the memory had been in."""


CALLER = "caller"
"""Decides by hand, as a cause names them: the application, or a person in it."""


class Cause(Value):
    """The reason why a newer statement ended a fact, or may have changed it."""

    newer: Identifier | None = None
    """The fact or message that says so; None if a person decided it by hand."""
    decided_by: str
    """The rule, model or person that decided, with its version: `rules:equal-text`, `pairs-1`."""
    reason: str
    """The decision in words."""
    quote: str | None = None
    """The sentence that decided it, as it was said."""
    probability: Unit | None = None
    """The probability that the decision is right; None if a rule or a person decided."""
    at: Timestamp
    """The time of the decision."""


class Fact(Scoped):
    """A memory: a believed statement with its source, dates and confidence."""

    id: Identifier = Field(default_factory=new_id)
    user_id: Identifier
    content: Kept
    """Empty for a forgotten memory in a listing."""
    category: Category
    confidence: Unit = 1.0
    importance: Unit = 0.5
    created_at: Timestamp
    """The time when it was said."""
    recorded_at: Timestamp
    """The time when it reached this store."""
    valid_from: Timestamp
    valid_to: Timestamp | None = None
    """The time when it stopped being believed; None while it still is."""
    confirmed_at: Timestamp | None = None
    last_used_at: Timestamp | None = None
    expires_at: Timestamp | None = None
    """The time from which it is in no answer; unless it is pinned, it is erased then."""
    use_count: int = Field(default=0, ge=0)
    status: Status = Status.ACTIVE
    superseded_by: Identifier | None = None
    tags: tuple[Tag, ...] = ()
    references: tuple[Identifier, ...] = ()
    source: Source = Source()
    corroborations: tuple[Source, ...] = ()
    """Further sources of the same statement."""
    trust: Trust = Field(
        default_factory=lambda known: of_role(known["source"].role, known["source"].speaker)
    )
    """The lowest trust of what it was drawn from."""
    contested_by: tuple[Identifier, ...] = ()
    """The facts that contradict it and may not end it, nor it them."""
    ended_by: Cause | None = None
    """Why it stopped being believed."""
    perhaps_changed: tuple[Cause, ...] = ()
    """Newer statements that are likely, but not certain enough, to have ended it."""
    follows: tuple[Identifier, ...] = ()
    """Earlier statements that it probably changes; a search for the present shows it above them."""
    rests_on: tuple[Identifier, ...] = ()
    """Earlier facts that it gives as its reason, or whose matter it is a plan or habit of."""
    review: Literal["to confirm", "to check"] | None = None
    """Only of a memory that was got, listed or explained: `to confirm` is a preference that nobody
    stated again for half a year, `to check` a fact of which one in `references` or `rests_on`, or
    one that those rest on, no longer holds."""
    reading: Reading | None = None
    """The judge's reading of its sentence, where extraction judged it."""
    metadata: Metadata = Field(default_factory=dict)
    body: Body | None = None
    """A decision, reference or procedure, in fields."""
    tombstone: Tombstone | None = None
    """Only of a forgotten memory, of which a listing shows neither text nor source."""
    version: int = Field(default=1, ge=1)
    schema_version: int = SCHEMA_VERSION

    @model_validator(mode="after")
    def _has_content(self) -> Self:
        if not self.content and self.status is not Status.FORGOTTEN:
            raise ValueError("content is empty")
        return self

    @property
    def text(self) -> str:
        """The text that it is searched by: its content, and its body in a second line."""
        return whole_text(self.content, self.body)

    @property
    def typed(self) -> Mapping[str, JsonValue]:
        """Its values as types of the application, by the types' names; see `open(types=...)`."""
        found = self.metadata.get(TYPED)
        return found if isinstance(found, dict) else {}

    @property
    def bases(self) -> tuple[str, ...]:
        """The ids of what it rests on: what it refers to, by the application or by its words."""
        return (*self.references, *self.rests_on)

    @property
    def is_pinned(self) -> bool:
        """True if it never fades, expires or is archived."""
        return PINNED in self.tags

    @property
    def stated_at(self) -> datetime:
        """The time of its latest statement or confirmation."""
        return max(self.created_at, self.confirmed_at or self.created_at)

    @property
    def sources(self) -> tuple[Source, ...]:
        """All sources, the first one first."""
        return (self.source, *self.corroborations)

    @property
    def sessions(self) -> frozenset[SessionKey]:
        """The sessions in which it was said."""
        if not self.corroborations:  # of most facts; asked several times of each hit
            own = self.source.session_id
            return frozenset() if own is None else frozenset((SessionKey(self.user_id, own),))
        ids = {source.session_id for source in self.sources}
        return frozenset(SessionKey(self.user_id, one) for one in ids if one is not None)

    @property
    def messages(self) -> frozenset[tuple[str | None, str]]:
        """The messages that say this, each as its session and id: ids repeat in other sessions."""
        return frozenset(
            (source.session_id, one) for source in self.sources for one in source.message_ids
        )

    @property
    def message_ids(self) -> tuple[str, ...]:
        """The ids of all messages that say this, the first source's first."""
        if not self.corroborations:
            own = self.source.message_ids
            return own if len(own) < 2 else tuple(dict.fromkeys(own))
        return tuple(dict.fromkeys(m for source in self.sources for m in source.message_ids))


class Page(list[Fact]):
    """A page of memories."""

    def __init__(self, facts: Iterable[Fact] = (), next: str | None = None) -> None:  # noqa: A002
        super().__init__(facts)
        self.next = next
        """The cursor of the next page, to be given as `after`; None at the end."""


class FactVersion(Value):
    """A state of a fact, as `history.versions` returns it."""

    version: int
    at: Timestamp
    action: str
    reason: str
    fact: Fact


class Explanation(Value):
    """A fact with its retention, and the facts that it replaced or that replaced it."""

    fact: Fact
    half_life_days: float | None
    """Its category's half-life, stretched by use and confirmation; None if it never fades."""
    retention: float
    """The share of its relevance that age has left, 0.1 to 1."""
    replaced_by: Fact | None
    """The fact that superseded it or that it was merged into."""
    replaced: tuple[Fact, ...]
    """The facts that it superseded or absorbed, oldest first."""
    perhaps_changed_by: tuple[Fact, ...] = ()
    """The newer statements that perhaps changed it, oldest first; `fact.perhaps_changed` has the
    reasons in the same order."""


def prevailing(facts: Sequence[Fact]) -> list[Fact]:
    """Return facts that contest each other, the most trusted and most certain first."""
    return sorted(facts, key=lambda fact: (fact.trust.rank, fact.confidence), reverse=True)
