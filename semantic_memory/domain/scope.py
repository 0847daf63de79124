"""Scopes: the agent and the run that a memory belongs to, within its user's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Self

from pydantic import Field

from semantic_memory.domain import fields
from semantic_memory.domain.values import Identifier, Value

Names = tuple[str | None, ...]


class Scope(NamedTuple):
    """An agent and a run; memories without an agent are shared by all of the user's agents.

    Facts of different scopes are never the same, and neither ends the other.
    """

    agent_id: str | None = None
    run_id: str | None = None

    @property
    def columns(self) -> tuple[str, str]:
        """The agent and the run as columns hold them: an empty text for none."""
        return self.agent_id or "", self.run_id or ""

    @property
    def own(self) -> Mapping[str, Names]:
        """The fields of filters that admit memories of this agent, and of this run, if given."""
        return self._admitting(())

    @property
    def seen(self) -> Mapping[str, Names]:
        """The fields of filters that admit what is its own, or shared."""
        return self._admitting((None,))

    @property
    def exact(self) -> Mapping[str, Names]:
        """The fields of filters that admit memories of exactly this scope."""
        return {"agents": (self.agent_id,), "runs": (self.run_id,)}

    def _admitting(self, besides: Names) -> Mapping[str, Names]:
        return {
            name: (*own, *besides)
            for name, own in self.exact.items()
            if own != (None,)  # it isn't given, so that any will do
        }


SHARED = Scope()
"""Of no agent and no run."""


class Scoped(Value):
    """Something that may belong to an agent, and to one run of it."""

    agent_id: Identifier | None = Field(None, description=fields.AGENT)
    run_id: Identifier | None = Field(None, description=fields.RUN)

    @property
    def scope(self) -> Scope:
        """Its agent and its run."""
        return Scope(self.agent_id, self.run_id)

    def within(self, scope: Scope) -> Self:
        """Return it with the agent and the run of `scope`, where it names none itself."""
        missing = {
            name: value
            for name, value in scope._asdict().items()
            if value is not None and getattr(self, name) is None
        }
        return self.model_copy(update=missing) if missing else self
