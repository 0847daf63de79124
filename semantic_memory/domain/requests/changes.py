"""Requests that change memories: adding, updating, deleting, restoring, forgetting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, JsonValue, StrictBool, model_validator

from semantic_memory.domain import fields
from semantic_memory.domain.bodies import Body
from semantic_memory.domain.categories import Category
from semantic_memory.domain.filters import FilterLike, Filters, FiltersField
from semantic_memory.domain.lexical import term
from semantic_memory.domain.origins import OriginText
from semantic_memory.domain.refusals import parse
from semantic_memory.domain.requests.base import (
    OfFact,
    OfUser,
    Reasoned,
    example,
    number,
    several,
)
from semantic_memory.domain.scope import Scope, Scoped
from semantic_memory.domain.trust import Trust
from semantic_memory.domain.values import (
    Content,
    Identifier,
    Metadata,
    Name,
    Question,
    Tag,
    Timestamp,
    Unit,
)


class NewFact(Scoped):
    """A fact to add."""

    category: Category = Field(fields.DEFAULT_CATEGORY, description=fields.CATEGORY)
    confidence: Unit = number(fields.CONFIDENCE)
    importance: Unit = number(fields.IMPORTANCE)
    tags: tuple[Tag, ...] = Field((), description=fields.OWN_TAGS)
    references: tuple[Identifier, ...] = Field((), description=fields.REFERENCES)
    metadata: Metadata = Field(default_factory=dict, description=fields.METADATA)
    content: Content = Field(description=fields.CONTENT)
    created_at: Timestamp | None = Field(None, description=fields.SAID_AT)
    expires_at: Timestamp | None = Field(None, description=fields.EXPIRES_AT)
    body: Body | None = Field(None, description=fields.BODY)
    trust: Trust = Field(Trust.USER, description=fields.TRUST)


class AddRequest(OfUser, NewFact):
    """Add one fact. It is on disk, and found by the next search, when this returns.

    A known fact is confirmed instead: its confidence rises a little, and it is returned. From
    `expires_at` on, the fact is in no answer; the job `expiry` erases it, unless it is pinned
    with the tag `pinned`. A `body` holds a decision, reference or procedure in fields; it is
    searched and shown with the content. Say less with `trust` for what isn't the user's or the
    application's own knowledge: it can't end what is trusted more.

    A fact with `agent_id` or `run_id` belongs to that agent of the user, or to that run;
    without them it is shared. Facts of different scopes are never one, and neither ends the
    other.
    """

    verb: ClassVar[str] = "add"
    model_config = example(
        user_id="maya",
        content="Prefers Python over Java",
        category="preference",
        tags=["work.code"],
    )

    @classmethod
    def of(
        cls,
        content: str,
        *,
        user_id: str,
        agent_id: str | None = None,
        run_id: str | None = None,
        category: Category | str = fields.DEFAULT_CATEGORY,
        confidence: float = fields.CONFIDENCE.default,
        importance: float = fields.IMPORTANCE.default,
        tags: Sequence[str] = (),
        references: Sequence[str] = (),
        metadata: Mapping[str, JsonValue] | None = None,
        created_at: datetime | None = None,
        expires_at: datetime | None = None,
        body: Body | Mapping[str, Any] | None = None,
        trust: Trust | str = Trust.USER,
    ) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(
            content=content,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            category=category,
            confidence=confidence,
            importance=importance,
            tags=tags,
            references=references,
            metadata=metadata or {},
            created_at=created_at,
            expires_at=expires_at,
            body=body,
            trust=trust,
        )


class AddManyRequest(OfUser, Scoped):
    """Add facts in one transaction; each item holds the arguments of `add`, except the user.

    `agent_id` and `run_id` are those of the items that name none.

    Returns the memory that says each, in order. Raises InvalidInputError that names the item;
    nothing is added then.
    """

    verb: ClassVar[str] = "transfer.add_many"
    model_config = example(
        user_id="maya",
        items=[{"content": "Is vegetarian"}, {"content": "Uses Linux", "category": "technical"}],
    )

    items: list[NewFact]

    @classmethod
    def of(
        cls,
        items: Iterable[Mapping[str, Any]],
        *,
        user_id: str,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> Self:
        """Build the request. Raises InvalidInputError that names the item."""
        facts = [
            parse(NewFact, f"{cls.verb}, item {place}", item)
            for place, item in enumerate(several(items, f"{cls.verb}: items"), start=1)
        ]
        return cls.parsed(items=facts, user_id=user_id, agent_id=agent_id, run_id=run_id)


class Revision(Reasoned):
    """New values for fields of a memory; those that aren't given stay."""

    model_config = example(content="Lives in Oslo", reason="moved")

    content: Content | None = Field(None, description=fields.CONTENT)
    category: Category | None = Field(None, description=fields.CATEGORY)
    confidence: Unit | None = Field(None, description=fields.CONFIDENCE.description)
    importance: Unit | None = Field(None, description=fields.IMPORTANCE.description)
    tags: tuple[Tag, ...] | None = Field(None, description=fields.OWN_TAGS)
    references: tuple[Identifier, ...] | None = Field(None, description=fields.REFERENCES)
    metadata: Metadata | None = Field(None, description=fields.METADATA)
    body: Body | None = Field(None, description=fields.BODY)
    expires_at: Timestamp | Literal["never"] | None = Field(None, description=fields.NEW_EXPIRES_AT)
    trust: Trust | None = Field(None, description=fields.NEW_TRUST)

    def changes(self) -> dict[str, Any]:
        """Return the new values by field."""
        fields_of_a_fact = NewFact.model_fields.keys() & self.model_fields_set
        values = {name: getattr(self, name) for name in fields_of_a_fact}
        return {name: value for name, value in values.items() if value is not None}


class UpdateRequest(Revision, OfFact):
    """Change a memory: the fields that `add` takes, except `created_at`.

    A field that is None stays; `expires_at="never"` lifts the expiry. The state before stays in
    the history, and a replaced content still answers questions `as_of` a time before now. Say
    less with `trust` for words that aren't the user's or the application's own.
    Raises NotFoundError.
    """

    verb: ClassVar[str] = "update"

    @classmethod
    def of(
        cls,
        fact_id: str,
        *,
        user_id: str | None = None,
        content: str | None = None,
        category: Category | str | None = None,
        confidence: float | None = None,
        importance: float | None = None,
        tags: Sequence[str] | None = None,
        references: Sequence[str] | None = None,
        metadata: Mapping[str, JsonValue] | None = None,
        expires_at: datetime | Literal["never"] | None = None,
        body: Body | Mapping[str, Any] | None = None,
        trust: Trust | str | None = None,
        reason: str = "",
    ) -> Self:
        """Build the request. Raises InvalidInputError."""
        changes = {
            "content": content,
            "category": category,
            "confidence": confidence,
            "importance": importance,
            "tags": tags,
            "references": references,
            "metadata": metadata,
            "expires_at": expires_at,
            "body": body,
            "trust": trust,
        }
        given = {name: value for name, value in changes.items() if value is not None}
        return cls.parsed(fact_id=fact_id, user_id=user_id, reason=reason, **given)


class DeleteRequest(Reasoned, OfFact):
    """Delete a memory permanently: no answer holds it any more. Raises NotFoundError.

    Deleting it again does nothing.

    The sentences that a fact was drawn from go with it, unless another fact needs them; the
    message keeps what else it said. A message takes the facts that nothing else supports. Both take
    the lines of the profile that rest on them. With `keep_source`, only the memory goes.
    """

    verb: ClassVar[str] = "delete"

    keep_source: StrictBool = Field(False, description=fields.KEEP_SOURCE)

    @classmethod
    def of(
        cls,
        fact_id: str,
        *,
        user_id: str | None = None,
        keep_source: bool = False,
        reason: str = "",
    ) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(fact_id=fact_id, user_id=user_id, keep_source=keep_source, reason=reason)


class RestoreRequest(Reasoned, OfFact):
    """Restore a memory that was superseded, archived or quarantined.

    Raises NotFoundError, also for a deleted one.
    """

    verb: ClassVar[str] = "history.restore"

    @classmethod
    def of(cls, fact_id: str, *, user_id: str | None = None, reason: str = "") -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(fact_id=fact_id, user_id=user_id, reason=reason)


class ForgetRequest(Reasoned, OfUser):
    """Forget what meets all conditions, or, with `everything` alone, all of a user's memory.

    `entity` names a person, place or thing, `query` a subject, like "Anna's divorce": facts
    that name it or are about it go, and of messages the sentences that do. "where I live"
    leaves the homes of others, and "my job", "health" or "money" take all that the user said of
    it. Without `force`, an entity that is a common word is refused, and what takes more than a
    third of the user's memories; a dry run says so as `warning`. Profile fields and items that
    were written by hand stay, and are listed as `kept_in`.

    `agent_id` and `run_id` take only what is of that agent or run, not what is shared.

    `source` rolls back what came from one source alone: "session:ID", "speaker:NAME",
    "role:tool", "extractor:NAME" or "trust:LEVEL"; facts that it retired are current again,
    unless others retired them too. With `withdraw`, its memories are quarantined instead, and
    `history.restore` brings them back; facts still to be extracted are extracted first.

    Memories of every status leave all answers permanently, and leave tombstones with the reason. A
    session or user that is forgotten as a whole also loses its session logs, windows and
    checkpoints. As with `delete`, facts go with the sentences that they were drawn from, and
    messages with the facts that nothing else supports, unless `keep_source`. Returns the number of
    memories forgotten, with the sentences that other messages lose as `sentences`; a dry run
    forgets nothing, and returns the newest 100 memories as `memories` too.

    With `now`, the texts are erased from all files before this returns, as the job `compact`
    does. With `proof`, every file of the data directory is searched for them as well; the
    outcome is `proof` of the result, with a receipt that `admin.verify_receipt` takes.
    """

    verb: ClassVar[str] = "forget"
    model_config = example(user_id="maya", entity="Anna", dry_run=True)

    entity: Name | None = Field(None, description=fields.FORGET_ENTITY)
    query: Question | None = Field(None, description=fields.FORGET_QUERY)
    tag: Tag | None = Field(None, description=fields.FORGET_TAG)
    since: Timestamp | None = Field(None, description=fields.FORGET_SINCE)
    until: Timestamp | None = Field(None, description=fields.FORGET_UNTIL)
    session_id: Identifier | None = Field(None, description=fields.FORGET_SESSION)
    agent_id: Identifier | None = Field(None, description=fields.FORGET_AGENT)
    run_id: Identifier | None = Field(None, description=fields.FORGET_RUN)
    source: OriginText | None = Field(None, description=fields.FORGET_SOURCE)
    filters: FiltersField | None = Field(None, description=fields.FORGET_FILTERS)
    withdraw: StrictBool = Field(False, description=fields.WITHDRAW)
    dry_run: StrictBool = Field(False, description=fields.FORGET_DRY_RUN)
    everything: StrictBool = Field(False, description=fields.EVERYTHING)
    keep_source: StrictBool = Field(False, description=fields.KEEP_SOURCE)
    proof: StrictBool = Field(False, description=fields.PROOF)
    now: StrictBool = Field(False, description=fields.NOW)
    force: StrictBool = Field(False, description=fields.FORCE)

    @model_validator(mode="after")
    def _names_what(self) -> Self:
        if self.everything == self.is_narrowed:
            raise ValueError(
                "say what to forget: entity, query, tag, since, until, session_id, agent_id,"
                " run_id, source or filters; `everything` alone forgets all that"
                " is stored of the user"
            )
        if self.proof and self.dry_run:
            raise ValueError("a dry run forgets nothing that could be proved: leave proof out")
        if self.withdraw and (self.source is None or self.proof or self.now):
            raise ValueError("withdraw goes with source, and erases nothing that could be proved")
        if self.source is not None and self.names_content:
            raise ValueError("give source, or entity or query, not both")
        if self.entity is not None and self.query is not None:
            raise ValueError("give entity or query, not both")
        if self.entity is not None:
            term(self.entity)
        if self.filters is not None:
            self.filters.unordered("filters")
        self.joined()
        return self

    @property
    def names_content(self) -> bool:
        """True if it says in words what is to be forgotten."""
        return self.entity is not None or self.query is not None

    @property
    def is_narrowed(self) -> bool:
        """True if any condition was given."""
        conditions = (self.entity, self.query, self.tag, self.since, self.until, self.session_id)
        others = (self.agent_id, self.run_id, self.source)
        given = any(value is not None for value in (*conditions, *others))
        return given or (self.filters is not None and self.filters.narrows)

    def joined(self) -> Filters:
        """Return all conditions as filters. Raises InvalidInputError for one given twice."""
        beside = {"since": self.since, "until": self.until, "session_id": self.session_id}
        tags = {} if self.tag is None else {"tags": (self.tag,)}
        own = Scope(self.agent_id, self.run_id).own
        return Filters.joined(self.filters, {**beside, **tags, **own})

    @classmethod
    def of(
        cls,
        *,
        user_id: str,
        entity: str | None = None,
        query: str | None = None,
        tag: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        session_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        source: str | None = None,
        filters: FilterLike = None,
        everything: bool = False,
        keep_source: bool = False,
        withdraw: bool = False,
        dry_run: bool = False,
        proof: bool = False,
        now: bool = False,
        force: bool = False,
        reason: str = "",
    ) -> Self:
        """Build the request. Raises InvalidInputError, also without any condition."""
        return cls.parsed(
            user_id=user_id,
            entity=entity,
            query=query,
            tag=tag,
            since=since,
            until=until,
            session_id=session_id,
            agent_id=agent_id,
            run_id=run_id,
            source=source,
            filters=None if filters is None else Filters.of(filters),
            everything=everything,
            keep_source=keep_source,
            withdraw=withdraw,
            dry_run=dry_run,
            proof=proof,
            now=now,
            force=force,
            reason=reason,
        )
