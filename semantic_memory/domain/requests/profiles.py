"""Requests about profiles."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, Self

from pydantic import Field

from semantic_memory.domain import fields
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.profile import ProfileField
from semantic_memory.domain.refusals import parse
from semantic_memory.domain.requests.base import OfUser, example
from semantic_memory.domain.scope import Scope
from semantic_memory.domain.values import Content, Identifier, Timestamp, Value


class ProfileRequest(OfUser):
    """Return a user's profile and history, now or as they stood at `as_of`.

    They follow new messages and facts moments later. With `agent_id`, only what rests on the
    memories of that agent and on shared ones.
    """

    verb: ClassVar[str] = "profile.get"

    as_of: Timestamp | None = Field(None, description=fields.PROFILE_AS_OF)
    agent_id: Identifier | None = Field(None, description=fields.AS_AGENT)

    @property
    def seen(self) -> Filters:
        """Filters that admit what the agent sees."""
        return Filters(**Scope(self.agent_id).seen)

    @classmethod
    def of(
        cls, *, user_id: str, as_of: datetime | None = None, agent_id: str | None = None
    ) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(user_id=user_id, as_of=as_of, agent_id=agent_id)


class ProfileTexts(Value):
    """Fields of a profile to write by hand; null returns one to the text derived from facts."""

    model_config = example(work_context="Leads the storage team.", top_of_mind=None)

    work_context: Content | None = None
    personal_context: Content | None = None
    top_of_mind: Content | None = None
    name: Content | None = None
    allergies: Content | None = None
    diet: Content | None = None
    health: Content | None = None
    instructions: Content | None = None
    home: Content | None = None
    family: Content | None = None
    work: Content | None = None
    deadlines: Content | None = None
    languages: Content | None = None

    def given(self) -> dict[str, Any]:
        """Return the fields to write, by name."""
        return self.model_dump(exclude_unset=True)


class UpdateProfileRequest(OfUser):
    """Write fields of a profile by hand, like `work_context` or `diet`.

    A written text stays until it is written again; None returns a field to the text derived
    from facts.
    """

    verb: ClassVar[str] = "profile.update"

    fields: ProfileTexts

    @classmethod
    def of(cls, fields: Mapping[str, str | None], *, user_id: str) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(user_id=user_id, fields=parse(ProfileTexts, cls.verb, fields))


class ProfileHistoryRequest(OfUser):
    """Return the texts that a field of a profile has had, in order."""

    verb: ClassVar[str] = "profile.history"

    field: ProfileField = Field(description=fields.PROFILE_FIELD)

    @classmethod
    def of(cls, field: str, *, user_id: str) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(user_id=user_id, field=field)
