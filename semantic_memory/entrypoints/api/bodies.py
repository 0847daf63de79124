"""What the service is sent and answers, beyond the values of `semantic_memory.domain`."""

from __future__ import annotations

from typing import Annotated, Any, Generic, Literal, Self, TypeVar

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StringConstraints,
    model_validator,
)

from semantic_memory.application.edits import NewFact
from semantic_memory.application.jobs.upkeep import JOBS
from semantic_memory.domain.facts import Category, Fact, FactVersion
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.messages import Message, SessionInfo
from semantic_memory.domain.profile import Line
from semantic_memory.domain.recall import Hit
from semantic_memory.domain.values import Content, Identifier, Metadata, Tag, Timestamp, Unit, Value

MOST_HITS = 1_000
MOST_ITEMS = 1_000
MOST_POINTS = 5_000
MOST_BUDGET = 1_000_000

Reason = Annotated[str, StringConstraints(max_length=1_000)]
ItemT = TypeVar("ItemT")


def _number(value: object) -> object:
    if isinstance(value, bool | str):  # which Pydantic would take for numbers
        raise ValueError("must be a number")
    return value


Number = Annotated[int, BeforeValidator(_number)]
JobName = Annotated[str, Field(json_schema_extra={"enum": [*JOBS, "all"]})]
Standing = Literal["active", "superseded", "quarantined", "archived"]
QueryUnit = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]


def _example(**values: Any) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [values]})


class Observation(Value):
    """Messages of a conversation."""

    model_config = _example(
        user_id="maya",
        session_id="monday",
        messages=[{"role": "user", "content": "I moved to Berlin in March."}],
    )

    user_id: Identifier
    session_id: Identifier
    messages: list[Message] = Field(min_length=1, max_length=MOST_ITEMS)


class NewMemory(NewFact):
    """A fact to be kept for a user."""

    model_config = _example(
        user_id="maya",
        content="Prefers Python over Java",
        category="preference",
        tags=["work.code"],
    )

    user_id: Identifier


class NewMemories(Value):
    """Facts to be kept for a user."""

    model_config = _example(
        user_id="maya",
        items=[{"content": "Is vegetarian"}, {"content": "Uses Linux", "category": "technical"}],
    )

    user_id: Identifier
    items: list[NewFact] = Field(min_length=1, max_length=MOST_ITEMS)


class Changes(Value):
    """What a memory shall be from now on; what isn't given stays."""

    model_config = _example(content="Lives in Oslo", reason="moved")

    content: Content | None = None
    category: Category | None = None
    confidence: Unit | None = None
    importance: Unit | None = None
    tags: tuple[Tag, ...] | None = None
    references: tuple[Identifier, ...] | None = None
    metadata: Metadata | None = None
    reason: Reason = ""

    def given(self) -> dict[str, Any]:
        """What is to be changed."""
        return self.model_dump(exclude={"reason"}, exclude_none=True)


class Restoration(Value):
    """Why a memory comes back."""

    reason: Reason = ""


class Forgetting(Value):
    """What is to be forgotten: all conditions together, or `everything` of the user."""

    model_config = _example(user_id="maya", tag="health", reason="asked to")

    user_id: Identifier
    tag: Tag | None = None
    since: Timestamp | None = None
    until: Timestamp | None = None
    session_id: Identifier | None = None
    everything: StrictBool = False
    reason: Reason = ""

    @model_validator(mode="after")
    def _says_what(self) -> Self:
        narrowed = (self.tag, self.since, self.until, self.session_id)
        if self.everything != (narrowed == (None,) * 4):
            raise ValueError(
                "say what to forget: tag, since, until or session_id, or everything alone"
            )
        return self


class Forgotten(Value):
    """How many memories were forgotten."""

    forgotten: int


class Loaded(Value):
    """How many records were new."""

    new: int


class Question(Value):
    """What is wanted of a user's memory."""

    user_id: Identifier
    query: Content
    filters: Filters = Filters()


class SessionChanges(Value):
    """What shall be done otherwise with a session; what isn't given stays."""

    model_config = _example(user_id="maya", session_id="monday", extract=False)

    user_id: Identifier
    session_id: Identifier
    extract: StrictBool | None = None
    fades: StrictBool | None = None


class SearchQuestion(Question):
    """A search."""

    model_config = _example(user_id="maya", query="Where does Maya live?", k=3)

    k: Number = Field(default=10, ge=1, le=MOST_HITS)


class ContextQuestion(Question):
    """A block for a prompt."""

    model_config = _example(user_id="maya", query="Plan a weekend for Maya", budget=500)

    budget: Number = Field(default=2_000, ge=1, le=MOST_BUDGET)
    """In tokens."""


class Listing(Value):
    """Narrows a listing, and says which page of it."""

    user_id: Identifier
    category: list[Category] = Field(default_factory=list, max_length=len(Category))
    tag: list[Tag] = Field(default_factory=list, max_length=16)
    since: Timestamp | None = None
    until: Timestamp | None = None
    min_confidence: QueryUnit = 0.0
    session_id: Identifier | None = None
    as_of: Timestamp | None = None
    status: Standing | None = None
    """Those that have it now, instead of those believed now."""
    limit: int = Field(default=100, ge=1, le=MOST_ITEMS)
    cursor: Identifier | None = None
    """The `next` of the page before."""

    def filters(self) -> Filters:
        """The conditions."""
        return Filters(
            categories=frozenset(self.category) or None,
            tags=tuple(self.tag),
            since=self.since,
            until=self.until,
            min_confidence=self.min_confidence,
            session_id=self.session_id,
            as_of=self.as_of,
        )


class Items(Value, Generic[ItemT]):
    """Several of something."""

    items: list[ItemT]


class Page(Items[Fact]):
    """Memories, newest first."""

    next: str | None = None
    """The `cursor` of the page behind this one; null at the end."""


class Hits(Items[Hit]):
    """Found memories, best first."""


class Facts(Items[Fact]):
    """Memories, in the order in which they were given."""


class Sessions(Items[SessionInfo]):
    """Sessions, the one with the latest message first."""


class Messages(Items[Message]):
    """What was said, in order."""


class History(Items[FactVersion]):
    """The states of a memory, oldest first."""


class ProfileChanges(Value):
    """What fields of a profile shall say; null gives one back to what facts say."""

    model_config = _example(work_context="Leads the storage team.", top_of_mind=None)

    work_context: Content | None = None
    personal_context: Content | None = None
    top_of_mind: Content | None = None

    def given(self) -> dict[str, str | None]:
        """The fields that are to be changed."""
        return self.model_dump(exclude_unset=True)


class Lines(Items[Line]):
    """What a field has said, in order."""


class Upkeep(Value):
    """Jobs of upkeep to be run now."""

    model_config = _example(jobs=["dedup", "decay"], dry_run=True)

    jobs: list[JobName] = Field(default=["all"], min_length=1, max_length=len(JOBS) + 1)
    user_id: Identifier | None = None
    """Only this user; needed unless the key covers every user."""
    dry_run: StrictBool = False


class State(Value):
    """Whether the service can work."""

    status: str
    version: str
