"""Requests for answers about a memory itself."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from semantic_memory.domain import fields
from semantic_memory.domain.requests.base import example
from semantic_memory.domain.requests.recall import SearchRequest
from semantic_memory.domain.values import Identifier, Question, number

_MOST_BUDGET = 1_000_000


class WhyNotRequest(SearchRequest):
    """Ask why a memory isn't in the answer to a query."""

    model_config = example(user_id="maya", query="Where does Maya live?", text="Lives in Berlin")

    memory_id: Identifier | None = Field(None, description=fields.MEMORY)
    text: Question | None = Field(
        None, description="Words of the memory, in place of its id: the most alike is explained."
    )
    budget: Annotated[int, Field(ge=1, le=_MOST_BUDGET), BeforeValidator(number)] | None = Field(
        None, description="Tokens of a context block that is asked about, in place of a search."
    )

    @model_validator(mode="after")
    def _names_one_memory(self) -> Self:
        if (self.memory_id is None) == (self.text is None):
            raise ValueError("give either memory_id or text: which memory is missing")
        return self
