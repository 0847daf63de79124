"""Requests that recall memories for a question."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Self

from pydantic import Field, StrictBool

from semantic_memory.domain import fields
from semantic_memory.domain.filters import FilterLike, Filters, FiltersField
from semantic_memory.domain.requests.base import OfUser, Whole, example, number
from semantic_memory.domain.values import Content


class _Question(OfUser):
    query: Content = Field(description=fields.QUERY)
    filters: FiltersField = Field(Filters(), description=fields.FILTERS)


class SearchRequest(_Question):
    """Find the user's `k` best memories for a query, each with the parts of its score."""

    verb: ClassVar[str] = "search"
    model_config = example(user_id="maya", query="Where does Maya live?", k=3)

    k: Whole = number(fields.HITS)

    @classmethod
    def of(
        cls,
        query: str,
        *,
        user_id: str,
        k: int = fields.HITS.default,
        filters: FilterLike = None,
        as_of: datetime | None = None,
    ) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(query=query, user_id=user_id, k=k, filters=Filters.of(filters, as_of))


class ContextRequest(_Question):
    """Pack profile, history and the memories that help with a query into a block for a prompt."""

    verb: ClassVar[str] = "context"
    model_config = example(user_id="maya", query="Plan a weekend for Maya", budget=500)

    budget: Whole = number(fields.BUDGET)
    memory_files: StrictBool = Field(False, description=fields.MEMORY_FILES)

    @classmethod
    def of(
        cls,
        query: str,
        *,
        user_id: str,
        budget: int = fields.BUDGET.default,
        filters: FilterLike = None,
        as_of: datetime | None = None,
        memory_files: bool = False,
    ) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(
            query=query,
            user_id=user_id,
            budget=budget,
            filters=Filters.of(filters, as_of),
            memory_files=memory_files,
        )
