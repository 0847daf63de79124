"""Requests that read single memories: one by its id, a page of them, all of them as a map."""

from __future__ import annotations

import json
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, StringConstraints

from semantic_memory.domain import fields
from semantic_memory.domain.categories import Category, Status
from semantic_memory.domain.filters import (
    FilterLike,
    Filters,
    FiltersField,
)
from semantic_memory.domain.query_text import LONGEST_QUERY
from semantic_memory.domain.requests.base import OfFact, OfUser, OfUserAlone, Whole, number
from semantic_memory.domain.scope import Scope
from semantic_memory.domain.values import Identifier, Tag, Timestamp, Value

After = Annotated[
    str, StringConstraints(min_length=1, max_length=256, pattern=r"^~?[A-Za-z0-9_.@:+\-]+$")
]
"""A cursor, or the id of a memory."""
Standing = Literal["active", "superseded", "quarantined", "archived", "forgotten"]
"""The statuses in which a memory can be listed."""


class _ById(OfFact):
    @classmethod
    def of(cls, fact_id: str, *, user_id: str | None = None) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(fact_id=fact_id, user_id=user_id)


class GetRequest(_ById):
    """Return a memory by its id. Raises NotFoundError, also for a deleted one.

    With `user_id`, here and below, also for a memory of another user.
    """

    verb: ClassVar[str] = "get"


class HistoryRequest(_ById):
    """Return every state of a memory, oldest first, also of a deleted one.

    Raises NotFoundError.
    """

    verb: ClassVar[str] = "history.versions"


class ExplainRequest(_ById):
    """Return a memory's retention, and the memories it replaced or that replaced it.

    Raises NotFoundError.
    """

    verb: ClassVar[str] = "history.explain"


class ListRequest(OfUser):
    """Return a user's memories, newest first unless `sort` or the filters' sort say otherwise.

    The `next` of a page as `after` gives the page behind it, which repeats and skips no memory,
    whatever is written meanwhile; the id of a memory continues from where it is now. Relevance
    is as the hourly sweep left it. With `agent_id` or `run_id`, only memories of that agent or
    run.

    `status` lists those that are active, superseded, quarantined, archived or forgotten,
    instead of those believed now. Of a forgotten one it shows id, times and `tombstone`: when,
    why and with which API key it was forgotten, and never a text. Without a `limit` all are
    returned.
    """

    verb: ClassVar[str] = "list"

    filters: FiltersField = Field(Filters(), description=fields.FILTERS)
    status: Standing | None = Field(None, description=fields.STATUS)
    limit: Whole | None = number(fields.PAGE)
    after: After | None = Field(None, description=fields.AFTER)
    sort: fields.Sort = Field("time", description=fields.SORT)

    @property
    def most(self) -> int | None:
        """Most memories to return: the limit of the filters, or else that of the call."""
        return self.filters.limit or self.limit

    @property
    def order(self) -> fields.Sort:
        """Order: as the filters say, or else the call."""
        return self.filters.sort or self.sort

    @property
    def is_continued(self) -> bool:
        """True if `after` is the cursor of a page."""
        return self.after is not None and self.after.startswith(fields.CURSOR_MARK)

    @classmethod
    def of(
        cls,
        *,
        user_id: str,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: FilterLike = None,
        status: Status | str | None = None,
        limit: int | None = fields.PAGE.default,
        after: str | None = None,
        sort: fields.Sort = "time",
    ) -> Self:
        """Build the request; no limit means all. Raises InvalidInputError."""
        return cls.parsed(
            user_id=user_id,
            filters=Filters.joined(filters, Scope(agent_id, run_id).own),
            status=None if status is None else str(status),
            limit=limit,
            after=after,
            sort=sort,
        )


class TagsRequest(OfUserAlone):
    """Return the tags of a user's memories, by name, each with the number that have it.

    Memories count for the topics above their tags too: `work` has those of `work.deadlines`.
    """

    verb: ClassVar[str] = "profile.tags"


_MOST_CATEGORIES = 64


class ListQuery(Value):
    """A `ListRequest` as the parameters of a URL: flat, and a page at a time."""

    user_id: Identifier = Field(description=fields.USER)
    category: list[Category] = Field(
        default_factory=list, max_length=_MOST_CATEGORIES, description=fields.CATEGORIES
    )
    tag: list[Tag] = Field(default_factory=list, max_length=16, description=fields.TAGS)
    since: Timestamp | None = Field(None, description=fields.SINCE)
    until: Timestamp | None = Field(None, description=fields.UNTIL)
    min_confidence: float = number(fields.LEAST_CONFIDENCE, allow_inf_nan=False)
    session_id: Identifier | None = Field(None, description=fields.OF_SESSION)
    agent_id: Identifier | None = Field(None, description=fields.OF_AGENT)
    run_id: Identifier | None = Field(None, description=fields.OF_RUN)
    as_of: Timestamp | None = Field(None, description=fields.AS_OF)
    status: Standing | None = Field(None, description=fields.STATUS)
    limit: int = number(fields.PAGE._replace(most=fields.MOST_ITEMS))
    sort: fields.Sort = Field("time", description=fields.SORT)
    cursor: After | None = Field(None, description="The `next` of the page before.")
    q: str = Field("", max_length=LONGEST_QUERY, description=fields.WHERE)

    @classmethod
    def page(cls, asked: ListRequest, limit: int, after: str | None) -> dict[str, Any]:
        """Return the parameters of one page of `asked`, ready for a URL."""
        narrowed = asked.filters.model_dump(mode="json", exclude_unset=True, exclude={"limit"})
        flat = {
            name: narrowed.pop(field, None)
            for name, field in _FLAT.items()
            if not (name in _TIMES and isinstance(getattr(asked.filters, field), str))
        }
        query = {
            **flat,
            "q": json.dumps(narrowed) if narrowed else None,
            "user_id": asked.user_id,
            "status": asked.status,
            "sort": asked.sort if asked.sort != "time" else None,
            "limit": limit,
            "cursor": after,
        }
        return {name: value for name, value in query.items() if value not in (None, [])}

    def filters(self) -> Filters:
        """Return the conditions. Raises InvalidInputError for one that `q` has too."""
        beside = {field: getattr(self, name) for name, field in _FLAT.items()}
        own = Scope(self.agent_id, self.run_id).own
        return Filters.joined(self.q or None, {**beside, **own})


_TIMES = ("since", "until", "as_of")
_FLAT = {
    "category": "categories",
    "tag": "tags",
    **{name: name for name in (*_TIMES, "min_confidence", "session_id")},
}
"""The parameters that are fields of filters by themselves."""


class LayoutRequest(OfUser):
    """Lay a user's memories out in two dimensions, near in meaning near in place.

    The newest `limit` of those believed, facts before messages; or the next behind `behind`, which
    the map before names as `earlier`. Raises NotFoundError if the user has no such memory.
    """

    verb: ClassVar[str] = "profile.layout"

    limit: Whole = number(fields.POINTS)
    behind: Identifier | None = Field(None, description=fields.BEHIND)

    @classmethod
    def of(
        cls, *, user_id: str, limit: int = fields.POINTS.default, behind: str | None = None
    ) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(user_id=user_id, limit=limit, behind=behind)
