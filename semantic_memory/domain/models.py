"""The values that travel through every layer: messages, facts, hits, contexts.

All are frozen pydantic models, the same from the command line to the ledger. Times are
timezone-aware and in UTC; a naive datetime is read as UTC.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    ValidationError,
)

from semantic_memory.domain.errors import InvalidInputError

MAX_CONTENT_BYTES = 1_000_000
"""Largest text that is kept as one memory, in UTF-8 bytes."""

SCHEMA_VERSION = 1
"""Version written into every record; readers refuse newer ones and migrate older ones."""


class Category(StrEnum):
    """What a memory is about. The set is closed; each member has its own half-life."""

    PREFERENCE = "preference"
    PERSONAL = "personal"
    FEEDBACK = "feedback"
    PROJECT = "project"
    TECHNICAL = "technical"
    DECISION = "decision"
    FINDING = "finding"
    REFERENCE = "reference"
    CONVERSATION = "conversation"


class Status(StrEnum):
    """Where a memory stands. Only `active` ones are recalled without asking for more."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    QUARANTINED = "quarantined"
    ARCHIVED = "archived"
    FORGOTTEN = "forgotten"


def _utc(value: datetime) -> datetime:
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise ValueError("is outside the years 1 to 9999 in UTC") from None


def _written(value: object) -> object:
    # Seconds or milliseconds? Pydantic would guess.
    if isinstance(value, int | float):
        raise ValueError("must be written as a date and time, like 2026-05-10T12:00:00Z")
    return value


def _storable(text: str) -> str:
    """Refuse what no store and no model API can carry: NUL, lone surrogates, blank, over-long."""
    if "\x00" in text:
        raise ValueError(f"contains a NUL character at position {text.index(chr(0))}; remove it")
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise ValueError(
            f"contains a lone surrogate at position {error.start}; decode the text properly first"
        ) from None
    if not text.strip():
        raise ValueError("is empty")
    if size > MAX_CONTENT_BYTES:
        raise ValueError(
            f"is {size:,} bytes; the limit is {MAX_CONTENT_BYTES:,}: split it into parts"
        )
    return text


def _tag(text: str) -> str:
    tag = text.strip().casefold()
    if not 1 <= len(tag) <= 64 or not re.fullmatch(r"[\w+#-]+(\.[\w+#-]+)*", tag):
        raise ValueError(
            f"tag {text!r} must be 1-64 letters, digits and '_-+#', with '.' between levels"
        )
    return tag


def _encodable(values: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    try:
        json.dumps(values, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except ValueError as error:
        raise ValueError(f"can't be written as JSON: {error}") from None
    return values


Timestamp = Annotated[datetime, BeforeValidator(_written), AfterValidator(_utc)]
Identifier = Annotated[
    str, StringConstraints(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9_.@:+\-]+$")
]
"""1-128 letters, digits and `_ . @ : + -`; never used as a path or in SQL as it stands."""
_STORABLE_SCHEMA: dict[str, JsonValue] = {"minLength": 1, "pattern": r"^[^\x00]*[^\s\x00][^\x00]*$"}
Content = Annotated[
    str,
    AfterValidator(_storable),
    Field(json_schema_extra={**_STORABLE_SCHEMA, "maxLength": MAX_CONTENT_BYTES}),
]
Name = Annotated[
    str,
    StringConstraints(max_length=128),
    AfterValidator(_storable),
    Field(json_schema_extra=_STORABLE_SCHEMA),
]
Tag = Annotated[
    str,
    AfterValidator(_tag),
    Field(json_schema_extra={"pattern": r"^[\w+#-]+(\.[\w+#-]+)*$", "maxLength": 64}),
]
Metadata = Annotated[Mapping[str, JsonValue], AfterValidator(_encodable)]
Unit = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False, strict=True)]
Role = Literal["user", "assistant", "system", "tool"]
ProfileField = Literal["work_context", "personal_context", "top_of_mind"]
"""The parts of a user's profile, 1-3 sentences each."""
HistoryTier = Literal["recent_months", "earlier_context", "long_term_background"]
"""The parts of a user's history: the last 30 days, up to 180 days ago, and before that."""
Layer = ProfileField | HistoryTier
Origin = Literal["derived", "model", "user"]
"""Who wrote a line: it was chosen among facts, a language model did, or somebody by hand."""


def new_id() -> str:
    """A random identifier of 24 hexadecimal digits."""
    return uuid.uuid4().hex[:24]


def derived_id(*parts: str) -> str:
    """The identifier that follows from `parts`: the same parts give the same 24 digits."""
    joined = "\x1f".join(parts).encode("utf-8")
    return hashlib.blake2b(joined, digest_size=12).hexdigest()


def normalised(text: str) -> str:
    """Text as compared for exact duplicates: NFKC, casefolded, white space and end marks folded."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"\s+", " ", folded).strip(" .!;,")


class Value(BaseModel):
    """Base of every record: frozen, closed to unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SessionKey(NamedTuple):
    """A user's session."""

    user_id: str
    session_id: str


class Message(Value):
    """One message of a conversation, as it was said.

    `id` is unique within its session; left out, it is drawn at random. Giving the ids of your own
    system makes observing idempotent. `name` is the speaker where a role isn't enough.
    """

    id: Identifier = Field(default_factory=new_id)
    role: Role
    content: Content
    name: Name | None = None
    created_at: Timestamp | None = None
    metadata: Metadata = Field(default_factory=dict)

    @property
    def speaker(self) -> str:
        """The speaker's name, or the role where there is none."""
        return self.name or self.role


class Source(Value):
    """Where a memory came from."""

    extractor: str = "caller"
    session_id: Identifier | None = None
    message_ids: tuple[Identifier, ...] = ()
    position: int | None = Field(default=None, ge=0)
    """Place of the (first) message in its session, from 0."""
    role: Role | None = None
    speaker: str | None = None


class Fact(Value):
    """One memory: what is believed, since when, how firmly, and why."""

    id: Identifier = Field(default_factory=new_id)
    user_id: Identifier
    content: Content
    category: Category
    confidence: Unit = 1.0
    importance: Unit = 0.5
    created_at: Timestamp
    """When it was said."""
    recorded_at: Timestamp
    """When it reached this store."""
    valid_from: Timestamp
    valid_to: Timestamp | None = None
    """When it stopped being believed; None while it still is."""
    confirmed_at: Timestamp | None = None
    last_used_at: Timestamp | None = None
    use_count: int = Field(default=0, ge=0)
    status: Status = Status.ACTIVE
    superseded_by: Identifier | None = None
    tags: tuple[Tag, ...] = ()
    references: tuple[Identifier, ...] = ()
    source: Source = Source()
    corroborations: tuple[Source, ...] = ()
    """Further places where the same was said."""
    metadata: Metadata = Field(default_factory=dict)
    version: int = Field(default=1, ge=1)
    schema_version: int = SCHEMA_VERSION

    @property
    def sources(self) -> tuple[Source, ...]:
        """Every place where this was said, the first one first."""
        return (self.source, *self.corroborations)

    @property
    def message_ids(self) -> tuple[str, ...]:
        """Every message that says this, the first source's first."""
        return tuple(dict.fromkeys(m for source in self.sources for m in source.message_ids))


class FactVersion(Value):
    """One step in the life of a fact, as `history` tells it."""

    version: int
    at: Timestamp
    action: str
    reason: str
    fact: Fact


class Explanation(Value):
    """How firmly a memory still stands, and what took whose place."""

    fact: Fact
    half_life_days: float | None
    """Its category's, stretched by use and confirmation; None for what never fades."""
    retention: float
    """What time has left of it, 0.1 to 1."""
    replaced_by: Fact | None
    """What superseded it or was merged with it."""
    replaced: tuple[Fact, ...]
    """What it superseded or took in, oldest first."""


class Point(Value):
    """A memory's place on a map."""

    id: str
    text: str
    """Its content, cut after 200 characters."""
    category: Category
    created_at: Timestamp
    x: float
    y: float


class Layout(Value):
    """Memories laid out in two dimensions: what is near in meaning lies near."""

    points: tuple[Point, ...]
    explained: tuple[float, float]
    """Share of the vectors' variance that each axis shows, 0 to 1."""


class Candidate(Value):
    """A fact proposed by an extractor, before the gate."""

    content: Content
    category: Category
    confidence: Unit
    message_ids: tuple[Identifier, ...] = Field(min_length=1)
    tags: tuple[Tag, ...] = ()
    extractor: str | None = None
    """Who proposed it, where that isn't the extractor that was asked but its fall-back."""


class HistoryLine(Value):
    """What happened in a stretch of conversation, in one sentence."""

    content: Content
    message_ids: tuple[Identifier, ...] = Field(min_length=1)


class Extraction(Value):
    """What an extractor made of a stretch of conversation."""

    candidates: tuple[Candidate, ...] = ()
    profile: Mapping[ProfileField, Content] = Field(default_factory=dict)
    """The fields of the user's profile that read differently now; the others stay."""
    history: tuple[HistoryLine, ...] = ()
    refused: Mapping[str, int] = Field(default_factory=dict)
    """What the extractor itself left out of a model's answer, by reason."""


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


class Receipt(Value):
    """What `observe` acknowledges: these messages are on disk."""

    accepted: int
    duplicates: int
    session_id: str


class ScoreParts(Value):
    """Why a hit ranked where it did. `match` is made of the parts above it."""

    dense: float
    """Cosine of the query to the memory's nearest window and nearest sentence, blended, -1 to 1;
    0 while it isn't embedded."""
    lexical: float
    """BM25 over the highest BM25 that any text could reach for this query, 0 to 1."""
    context: float
    """What the neighbouring messages and the session lend."""
    speaker: float
    """What being said by someone named in the query adds."""
    voice: float
    """What being said by the user adds, where the query speaks of I and my."""
    time: float
    """What being said at the time that the query speaks of adds."""
    asks: float
    """What being a question itself takes away."""
    outdated: float = 0.0
    """What telling what no longer holds takes away from a message."""
    match: float
    """All of the above, 0 to 1."""
    importance: float
    confidence: float
    retention: float
    """What time has left of it: 2^(-age / half-life), at least 0.1."""
    recency: float
    """1.0 (old) to 1.5 (just now)."""
    relevance: float
    """importance * confidence * retention * recency."""
    newer: float = 0.0
    """What the score gains, besides, over an older fact that gives another figure for the same."""


class Hit(Value):
    """A recalled memory, its score (higher is better) and the reasons."""

    fact: Fact
    score: float
    parts: ScoreParts


class Context(Value):
    """A block of memory ready to be put into a prompt."""

    text: str
    tokens: int
    """Exact count of `text`; never over the budget that was asked for."""
    facts: tuple[Fact, ...] = ()
    """What the block holds, in its order: number n in the block is `facts[n - 1]`."""
    hits: tuple[Hit, ...]
    """Those of them that were recalled for the question, in the same order."""
    left_out: int
    """How many more memories matched well enough and did not fit."""


class Filters(Value):
    """Narrows a search or a listing. Conditions are combined with AND; unknown keys are errors."""

    categories: frozenset[Category] | None = None
    """Any of these; None means all."""
    tags: tuple[Tag, ...] = ()
    """Every one of these; a tag stands for all below it (`security` finds `security.tls`)."""
    since: Timestamp | None = None
    """Said at or after this time."""
    until: Timestamp | None = None
    """Said before this time."""
    min_confidence: Unit = 0.0
    session_id: Identifier | None = None
    as_of: Timestamp | None = None
    """What was believed at this time, instead of now."""

    def admits(self, fact: Fact) -> bool:
        """Whether `fact` passes. The reference that every store's own filter is tested against."""
        if self.as_of is None:
            believed = fact.status is Status.ACTIVE
        else:
            believed = (
                fact.status in (Status.ACTIVE, Status.SUPERSEDED)
                and fact.valid_from <= self.as_of
                and (fact.valid_to is None or self.as_of < fact.valid_to)
            )
        return (
            believed
            and (self.categories is None or fact.category in self.categories)
            and (self.since is None or fact.created_at >= self.since)
            and (self.until is None or fact.created_at < self.until)
            and fact.confidence >= self.min_confidence
            and (self.session_id is None or fact.source.session_id == self.session_id)
            and all(any(covers(tag, own) for own in fact.tags) for tag in self.tags)
        )


class Stats(Value):
    """What a store holds."""

    users: int
    sessions: int
    memories: int
    by_category_and_status: Mapping[str, int]
    unembedded: int
    """Memories that have no vector yet."""
    log_bytes: int
    store_bytes: int
    embedder: str


class JobRun(Value):
    """One run of a job of upkeep."""

    job: str
    started_at: Timestamp
    seconds: float
    dry_run: bool = False
    users: int
    """Users whose memories were looked at."""
    counts: Mapping[str, int] = Field(default_factory=dict)
    """What was done, or would have been, by kind."""
    planned: tuple[str, ...] = ()
    """Of a dry run, in words: each thing that would be done."""
    error: str | None = None


class SessionOptions(Value):
    """What is done with a session otherwise than with others."""

    extract: bool = True
    """Whether it is read for facts; its messages are kept and found either way."""
    fades: bool = True
    """Whether its facts fade; those of a session that doesn't are pinned."""


class SessionInfo(Value):
    """What is known of a session."""

    session_id: str
    created_at: Timestamp
    """When its first memory was recorded."""
    last_accessed_at: Timestamp
    """When something of it was recorded, or put into a prompt, for the last time."""
    messages: int
    """Messages that are remembered; deleted ones aside."""
    first_at: Timestamp
    last_at: Timestamp
    by_category: Mapping[str, int]
    """Memories that came from it, by category."""
    log_bytes: int
    options: SessionOptions = SessionOptions()


class Finding(Value):
    """The outcome of one check."""

    check: str
    ok: bool
    detail: str
    remedy: str = ""


NO_FILTERS = Filters()
"""Passes everything that is believed now."""


def covers(tag: str, other: str) -> bool:
    """Whether `other` is `tag` or lies below it."""
    return other == tag or other.startswith(tag + ".")


ModelT = TypeVar("ModelT", bound=BaseModel)


def parse(model: type[ModelT], what: str, values: Mapping[str, Any]) -> ModelT:
    """Build `model` from a caller's values.

    Raises `InvalidInputError` that names the field, the value and what it must be.
    """
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise InvalidInputError(f"{what}: {explain(error, known=model.model_fields)}") from None


def explain(error: ValidationError, known: Sequence[str] | Mapping[str, object] = ()) -> str:
    """A pydantic error in one line: field, reason, value."""
    reasons = []
    for item in error.errors(include_url=False):
        field = ".".join(str(part) for part in item["loc"]) or "value"
        if item["type"] == "extra_forbidden":
            reasons.append(f"unknown key {field!r}; known: {', '.join(sorted(known))}")
            continue
        shown = repr(item["input"])
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        reason = item["msg"].removeprefix("Value error, ")
        reasons.append(f"{field} {reason} (got {shown})")
    return "; ".join(reasons)
