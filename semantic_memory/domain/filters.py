"""Filters: one query language for searching, listing, exporting and forgetting.

A program gives the model or a mapping, a person the text form (see `query_text`).
`Filters.conditions` is the one definition of a filter's meaning; `conditions` has the algebra that
each engine renders.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetJsonSchemaHandler,
    JsonValue,
    PrivateAttr,
    ValidationError,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from semantic_memory.domain import metadata_filter
from semantic_memory.domain.conditions import (
    AllOf,
    Among,
    AnyOf,
    Compared,
    Condition,
    Not,
    OneOf,
    Tagged,
    Worded,
    meeting,
    meets,
)
from semantic_memory.domain.contradictions import contradiction
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.facts import Category, Fact, Status
from semantic_memory.domain.fields import Sort
from semantic_memory.domain.lexical import term
from semantic_memory.domain.moments import Moment, Span, bounds, resolved
from semantic_memory.domain.query_text import LONGEST_QUERY, read_query
from semantic_memory.domain.refusals import parse, reasons
from semantic_memory.domain.retention import Unexpired
from semantic_memory.domain.scope import Scope
from semantic_memory.domain.trust import Trust
from semantic_memory.domain.values import Identifier, Real, Tag, Unit, Value, Whole, number

Kept = Literal["active", "superseded", "quarantined", "archived"]
"""The statuses by which memories can be filtered: all but forgotten."""

MOST_TERMS = 16
MOST_PATTERNS = 4
"""Words with `?`, or with a `*` before their end, in all of a query."""
MOST_IDS = 100
MOST_DEPTH = 10
MOST_RESULTS = 1_000


def _word(given: str) -> str:
    term(given)
    return given


def _metadata(given: Any) -> Any:
    metadata_filter.compiled(given)
    return given


Scopes = frozenset[Identifier | None]
Word = Annotated[str, Field(max_length=256), AfterValidator(_word)]
Some = Field(default=(), max_length=MOST_TERMS)


class Filters(Value):
    """Conditions on memories, combined with AND, and the order of the answer.

    Unknown keys are errors. Words for times are resolved by the clock of the store, in UTC.
    """

    words: tuple[Word, ...] = Some
    """All of these in the content: a word, `auth*`, `*script` or `a?th` for a pattern of words,
    `web apps` in this order."""
    not_words: tuple[Word, ...] = Some
    categories: frozenset[Category] | None = None
    """Categories to include; None includes all."""
    not_categories: frozenset[Category] = frozenset()
    statuses: frozenset[Kept] | None = None
    """Statuses to include; None includes what is believed: active memories."""
    not_statuses: frozenset[Kept] = frozenset()
    """Statuses to leave out; without `statuses`, all others are included."""
    tags: tuple[Tag, ...] = Some
    """All of these; a tag covers those below it (`security` finds `security.tls`)."""
    any_tags: tuple[Tag, ...] = Some
    not_tags: tuple[Tag, ...] = Some
    since: Moment | None = None
    """Earliest time of the statement, inclusive."""
    until: Moment | None = None
    """Latest time of the statement, exclusive."""
    when: Span | None = None
    """The time of the statement in words: "last week", "since March"."""
    min_confidence: Unit = 0.0
    min_importance: Unit = 0.0
    min_trust: Trust = Trust.IMPORTED
    """Lowest trust, of: imported, external, tool, assistant, agent, user."""
    session_id: Identifier | None = None
    agents: Scopes | None = None
    """Memories of these agents, of which None stands for no agent: shared memories."""
    not_agents: Scopes = frozenset()
    runs: Scopes | None = None
    """Memories of these runs, of which None stands for no run."""
    not_runs: Scopes = frozenset()
    ids: frozenset[Identifier] | None = Field(default=None, max_length=MOST_IDS)
    """Only these memories."""
    refers_to: Identifier | None = None
    """Memories that refer to this, or to a memory that does, at most `depth` references away."""
    referred_by: Identifier | None = None
    """Memories that this one refers to, or one of those does, at most `depth` references away."""
    depth: Whole = Field(default=1, ge=1, le=MOST_DEPTH)
    metadata: Annotated[Mapping[str, JsonValue], BeforeValidator(_metadata)] = Field(
        default_factory=dict
    )
    """Values by path, with `$eq $ne $in $gt $gte $lt $lte $exists $and $or $not`."""
    as_of: Moment | None = None
    """Memories believed at this time, instead of now."""
    min_score: Real = Field(default=0.0, ge=0.0)
    """Lowest score of a hit; for a search only."""
    either: Annotated[tuple[tuple[Filters, ...], ...], Some] = ()
    """Of each group, one or more must hold: `[[{"words": ["auth"]}, {"tags": ["login"]}]]`."""
    not_any: Annotated[tuple[Filters, ...], Some] = ()
    """None of these may hold."""
    sort: Sort | None = None
    """Order of a listing (by time if None) or of the hits of a search (by relevance)."""
    limit: Annotated[int, Field(ge=1, le=MOST_RESULTS), BeforeValidator(number)] | None = None
    """Most memories to return, instead of `k` or `limit` of the call."""
    _unexpired: Unexpired | None = PrivateAttr(None)

    @model_validator(mode="after")
    def _has_a_start(self) -> Self:
        if self.depth > 1 and self.refers_to is self.referred_by is None:
            raise ValueError("depth needs refers_to or referred_by, where to start from")
        return self

    @model_validator(mode="after")
    def _can_match(self) -> Self:
        for one in self.nested():
            if outside := _given(one) & _OUTSIDE:
                raise ValueError(f"{min(outside)} holds for all of a query, not for a part of it")
        patterns = sum(term(word).is_pattern for word in self._all_words())
        if patterns > MOST_PATTERNS:
            raise ValueError(f"at most {MOST_PATTERNS} words may have ? or an inner * ({patterns})")
        if reason := contradiction(self):
            raise ValueError(f"nothing can match: {reason}")
        return self

    def __hash__(self) -> int:
        # Pydantic copies a default in depth unless it is hashable; a dict, as metadata is, isn't.
        return hash(tuple(value for name, value in self if name != "metadata"))

    def nested(self) -> Iterator[Filters]:
        """Yield the filters in groups, and those within these."""
        for one in (*(one for group in self.either for one in group), *self.not_any):
            yield one
            yield from one.nested()

    def _all_words(self) -> Iterator[str]:
        for one in (self, *self.nested()):
            yield from (*one.words, *one.not_words)

    @classmethod
    def of(cls, given: FilterLike, as_of: datetime | None = None) -> Filters:
        """Build the filters from an instance, a mapping, a text or None; `as_of` replaces theirs.

        Raises InvalidInputError for an unknown key or a wrong value.
        """
        match given:
            case Filters():
                found = given
            case None:
                found = NO_FILTERS
            case str():
                found = parse(cls, "filters", read_query(given, _refused))
            case _:
                found = parse(cls, "filters", given)
        if as_of is None:
            return found
        return parse(cls, "filters", {**found.model_dump(exclude_unset=True), "as_of": as_of})

    @classmethod
    def joined(cls, given: FilterLike, others: Mapping[str, Any]) -> Filters:
        """Build the filters from a query and further fields that were given beside it.

        Fields that are None or empty aren't given. Raises InvalidInputError for one given twice.
        """
        found = cls.of(given)
        beside = {name: value for name, value in others.items() if value not in (None, (), [], 0.0)}
        twice = sorted(beside.keys() & found.model_fields_set)
        if twice:
            raise InvalidInputError(f"filters: {twice[0]} is given in the query and beside it")
        return parse(cls, "filters", {**found.model_dump(exclude_unset=True), **beside})

    def unexpired(self, condition: Unexpired) -> Self:
        """Return the filters without the memories that have expired; callers can't lift this."""
        narrowed = self.model_copy()
        narrowed._unexpired = condition  # noqa: SLF001  # of a copy made here
        return narrowed

    def conditions(self, status: Status | None = None) -> list[Condition]:
        """Return the conditions that a fact must meet, all of them.

        With a `status`, the fact must have it now, instead of being active. Raises ValueError if
        times in words or references aren't resolved yet.
        """
        found: list[Condition] = []
        if status is not None:
            found.append(OneOf("status", (status.value,)))
        elif self.statuses is None and self.as_of is None:
            believed = OneOf("status", (Status.ACTIVE.value,))
            kept = Not(OneOf("status", (Status.FORGOTTEN.value,)))
            found.append(kept if self.not_statuses else believed)
        if self._unexpired is not None and status is not Status.FORGOTTEN:
            found.append(self._unexpired)
        return found + self.narrowing()

    def narrowing(self) -> list[Condition]:
        """Return the conditions on facts of any status, unless the filters name statuses."""
        if self.when is not None or self.refers_to is not None or self.referred_by is not None:
            raise ValueError("times in words and references must be resolved first")
        found: list[Condition] = []
        if self.as_of is not None:
            found.append(OneOf("status", (Status.ACTIVE.value, Status.SUPERSEDED.value)))
            found.append(Compared("valid_from", "<=", _absolute(self.as_of)))
            found.append(Compared("valid_to", ">", _absolute(self.as_of)))
        found += self._on_columns()
        found += map(Tagged, self.tags)
        if self.any_tags:
            found.append(AnyOf(tuple(map(Tagged, self.any_tags))))
        found += [Not(Tagged(tag)) for tag in self.not_tags]
        if self.ids is not None:
            found.append(Among(self.ids))
        found += [Worded(term(word)) for word in self.words]
        found += [Not(Worded(term(word))) for word in self.not_words]
        for group in self.either:
            found.append(AnyOf(tuple(AllOf(tuple(one.narrowing())) for one in group)))
        found += [Not(AllOf(tuple(one.narrowing()))) for one in self.not_any]
        return found + (metadata_filter.compiled(self.metadata) if self.metadata else [])

    def _on_columns(self) -> Iterator[Condition]:
        if self.statuses is not None:
            yield OneOf("status", tuple(sorted(self.statuses)))
        if self.not_statuses:
            yield Not(OneOf("status", tuple(sorted(self.not_statuses))))
        if self.categories is not None:
            yield OneOf("category", tuple(sorted(self.categories)))
        if self.not_categories:
            yield Not(OneOf("category", tuple(sorted(self.not_categories))))
        yield from self._at_least()
        if self.since is not None:
            yield Compared("created_at", ">=", _absolute(self.since))
        if self.until is not None:
            yield Compared("created_at", "<", _absolute(self.until))
        if self.session_id is not None:
            yield OneOf("session_id", (self.session_id,))
        yield from _one_of_names("agent_id", self.agents, self.not_agents)
        yield from _one_of_names("run_id", self.runs, self.not_runs)

    def _at_least(self) -> Iterator[Condition]:
        if self.min_confidence > 0:
            yield Compared("confidence", ">=", self.min_confidence)
        if self.min_importance > 0:
            yield Compared("importance", ">=", self.min_importance)
        if self.min_trust > Trust.IMPORTED:
            yield OneOf("trust", tuple(one.value for one in self.min_trust.and_above))

    def admits(self, fact: Fact) -> bool:
        """Return True if `fact` meets every condition; the engines are tested against this one."""
        return meets(fact, self.conditions())

    def admitted(self, facts: Iterable[Fact]) -> list[Fact]:
        """Return the `facts` that meet every condition."""
        return meeting(facts, self.conditions())

    def covers(self, scope: Scope) -> bool:
        """Return True if what has this scope meets the conditions on agents and runs."""
        return all(
            (wanted is None or name in wanted) and name not in refused
            for name, wanted, refused in (
                (scope.agent_id, self.agents, self.not_agents),
                (scope.run_id, self.runs, self.not_runs),
            )
        )

    def at(self, now: datetime) -> Filters:
        """Return the filters with their times in words resolved: `as_of` at `now`, others then."""
        times = (self.since, self.until, self.when, self.as_of)
        nested = self.either or self.not_any
        if not nested and not any(isinstance(time, str) for time in times):
            return self
        as_of = None if self.as_of is None else resolved(self.as_of, now)
        asked = as_of or now
        either = tuple(tuple(one.at(asked) for one in group) for group in self.either)
        not_any = tuple(one.at(asked) for one in self.not_any)
        since = None if self.since is None else resolved(self.since, asked)
        until = None if self.until is None else resolved(self.until, asked)
        if self.when is not None:
            start, end = bounds(self.when, asked)
            since = max((one for one in (since, start) if one is not None), default=None)
            until = min((one for one in (until, end) if one is not None), default=None)
        return self.model_copy(
            update={
                "since": since,
                "until": until,
                "when": None,
                "as_of": as_of,
                "either": either,
                "not_any": not_any,
            }
        )

    @property
    def narrows(self) -> bool:
        """True if there is any condition on memories, beyond the order of the answer."""
        return self.goes_beyond()

    def goes_beyond(self, *names: str) -> bool:
        """Return True if there is a condition in another field than these."""
        return bool(_given(self) - _OF_ANSWERS - {*names})

    @property
    def bounds(self) -> tuple[datetime | None, datetime | None]:
        """`since` and `until` of resolved filters."""
        return _maybe_absolute(self.since), _maybe_absolute(self.until)

    @property
    def believed_at(self) -> datetime | None:
        """`as_of` of resolved filters."""
        return _maybe_absolute(self.as_of)

    def unordered(self, verb: str) -> None:
        """Refuse keys that only a search or a listing can obey. Raises InvalidInputError."""
        given = sorted(_given(self) & _OF_ANSWERS)
        if given:
            raise InvalidInputError(
                f"{verb}: {given[0]} is for searching and listing; leave it out"
            )


Query = str
"""The text form of filters."""
FilterLike = Filters | Mapping[str, Any] | Query | None
"""The forms in which callers give filters."""

_OF_ANSWERS = frozenset({"sort", "limit", "min_score"})
_OUTSIDE = _OF_ANSWERS | {"as_of", "statuses", "not_statuses", "refers_to", "referred_by", "depth"}
"""Fields that a part of a query can't have."""


def _read(given: object) -> object:
    """Return the fields that a query in text form stands for; anything else unchanged."""
    return read_query(given, _refused) if isinstance(given, str) else given


def _refused(values: Mapping[str, Any]) -> str | None:
    """Return the reason why the value of a field can't be used; None if it can."""
    try:
        Filters.model_validate(values)
    except ValidationError as error:
        return reasons(error)
    return None


class _OrText:
    """Adds the text form to a schema."""

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        text = {"type": "string", "maxLength": LONGEST_QUERY}
        return {"anyOf": [handler(core), text]}


FiltersField = Annotated[Filters, BeforeValidator(_read), _OrText()]
"""Filters in a body: the object, or the text form."""

NO_FILTERS = Filters()
"""Admits all memories that are believed now."""

FACTS = Filters(not_categories=frozenset({Category.CONVERSATION}))
"""Admits facts that are believed now, and no messages."""


def _one_of_names(
    field: Literal["agent_id", "run_id"], wanted: Scopes | None, refused: Scopes
) -> Iterator[Condition]:
    if wanted is not None:
        yield OneOf(field, tuple(sorted(name or "" for name in wanted)))
    if refused:
        yield Not(OneOf(field, tuple(sorted(name or "" for name in refused))))


def _given(filters: Filters) -> set[str]:
    """Return the names of the fields that aren't at their defaults."""
    return {
        name
        for name in filters.model_fields_set
        if getattr(filters, name) != getattr(NO_FILTERS, name)
    }


def _maybe_absolute(moment: datetime | str | None) -> datetime | None:
    return None if moment is None else _absolute(moment)


def _absolute(moment: datetime | str) -> datetime:
    if isinstance(moment, str):
        raise ValueError("times in words must be resolved first")
    return moment
