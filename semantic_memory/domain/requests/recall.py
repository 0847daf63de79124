"""Requests that recall memories for a question."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, ClassVar, Self

from pydantic import Field, StrictBool, model_validator

from semantic_memory.domain import fields
from semantic_memory.domain.filters import FilterLike, Filters, FiltersField
from semantic_memory.domain.requests.base import OfUser, Whole, example, number, several
from semantic_memory.domain.scope import Scope
from semantic_memory.domain.trust import Trust
from semantic_memory.domain.values import Identifier, Question, Real


class _Question(OfUser):
    query: Question = Field(description=fields.QUERY)
    agent_id: Identifier | None = Field(None, description=fields.AS_AGENT)
    run_id: Identifier | None = Field(None, description=fields.AS_RUN)
    spaces: tuple[Identifier, ...] = Field(
        (), max_length=fields.MOST_SPACES, description=fields.SPACES
    )
    filters: FiltersField = Field(Filters(), description=fields.FILTERS)

    @model_validator(mode="after")
    def _names_each_owner_once(self) -> Self:
        if len({*self.owners}) < len(self.owners):
            raise ValueError("spaces must be users beside the user, each named once")
        return self

    @property
    def owners(self) -> tuple[str, ...]:
        """The user and the spaces, whose memories are searched."""
        return (self.user_id, *self.spaces)

    def _with(self, **beside: Any) -> Filters:
        seen = Scope(self.agent_id, self.run_id).seen
        return Filters.joined(self.filters, {**beside, **seen})


class SearchRequest(_Question):
    """Return the user's `k` best memories for `query`, best first, with their scores' parts.

    `filters` is a `Filters`, a mapping of its fields, or a query in text form, like
    `tag:work.* -tag:old since:"last month" "web apps" auth*`; unknown keys are errors. `as_of`
    searches the memories that were believed then. Hits below `min_score` are left out; what
    score is good depends on the embedder, so look at a few first.

    All memories of the user are searched, whichever agent they belong to. With `agent_id`, only
    that agent's and the shared ones; with `run_id`, only that run's and those of no run.

    `spaces` are further users, such as a team, whose memories are ranked among the user's; the
    `space` of such a hit names its owner.

    `as_product` ranks the best 100 by the plain product of importance, retention, recency and
    match, in which an old or unimportant memory stands far behind, whatever it says.
    """

    verb: ClassVar[str] = "search"
    model_config = example(user_id="maya", query="Where does Maya live?", k=3)

    k: Whole = number(fields.HITS)
    min_score: Real = number(fields.LEAST_SCORE)
    as_product: StrictBool = Field(False, description=fields.AS_PRODUCT)

    @property
    def conditions(self) -> Filters:
        """The filters, scope and lowest score. Raises InvalidInputError for one given twice."""
        return self._with(min_score=self.min_score)

    @classmethod
    def of(
        cls,
        query: str,
        *,
        user_id: str,
        agent_id: str | None = None,
        run_id: str | None = None,
        spaces: Iterable[str] = (),
        k: int = fields.HITS.default,
        filters: FilterLike = None,
        as_of: datetime | None = None,
        min_score: float = fields.LEAST_SCORE.default,
        as_product: bool = False,
    ) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(
            query=query,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            spaces=tuple(several(spaces, "spaces")),
            k=k,
            filters=Filters.of(filters, as_of),
            min_score=min_score,
            as_product=as_product,
        )


class ContextRequest(_Question):
    """Pack a block for a prompt, at most `budget` tokens: profile, history, facts, messages.

    The count is exact for the model in the settings. Memories that match but don't fit are
    counted; unrelated ones are left out, except facts of great importance. With `memory_files`,
    the text begins with AGENT.md, MEMORY.md and .agent-context.md, within the budget.
    `min_trust` leaves out what is trusted less: "agent" all that no one vouches for. `agent_id`
    and `run_id` as in `search`. Memories of `spaces` compete for the same budget, and say whose
    they are; profile, history and facts of great importance are the user's alone.
    """

    verb: ClassVar[str] = "context"
    model_config = example(user_id="maya", query="Plan a weekend for Maya", budget=500)

    budget: Whole = number(fields.BUDGET)
    memory_files: StrictBool = Field(False, description=fields.MEMORY_FILES)
    min_trust: Trust | None = Field(None, description=fields.LEAST_TRUST)

    @property
    def conditions(self) -> Filters:
        """The filters, scope and lowest trust. Raises InvalidInputError for one given twice."""
        return self._with(min_trust=self.min_trust)

    @classmethod
    def of(
        cls,
        query: str,
        *,
        user_id: str,
        agent_id: str | None = None,
        run_id: str | None = None,
        spaces: Iterable[str] = (),
        budget: int = fields.BUDGET.default,
        filters: FilterLike = None,
        as_of: datetime | None = None,
        memory_files: bool = False,
        min_trust: Trust | str | None = None,
    ) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(
            query=query,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            spaces=tuple(several(spaces, "spaces")),
            budget=budget,
            filters=Filters.of(filters, as_of),
            memory_files=memory_files,
            min_trust=min_trust,
        )
