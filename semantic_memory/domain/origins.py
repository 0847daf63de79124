"""Origins of memories: a session, a speaker, a role, an extractor, or all of one trust."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from pydantic import StringConstraints

from semantic_memory.domain.facts import Fact

Kind = Literal["session", "speaker", "role", "extractor", "trust"]
_PATTERN = rf"^({'|'.join(get_args(Kind))}):\S(.{{0,254}}\S)?$"

OriginText = Annotated[str, StringConstraints(pattern=_PATTERN)]
"""An origin as text: `session:monday`, `speaker:browser`, `extractor:offline-10`, `trust:agent`."""


@dataclass(frozen=True, slots=True)
class Origin:
    """An origin of memories, like the speaker `browser`."""

    kind: Kind
    name: str

    @classmethod
    def of(cls, text: str) -> Origin:
        """Build the origin from its text, which matches `OriginText`."""
        kind, _, name = text.partition(":")
        found: dict[str, Kind] = {one: one for one in get_args(Kind)}
        return cls(found[kind], name)

    def gave(self, fact: Fact) -> bool:
        """Return True if a memory has this origin and no other."""
        if self.kind == "trust":
            return fact.trust == self.name
        field = "session_id" if self.kind == "session" else self.kind
        return all(getattr(source, field) == self.name for source in fact.sources)
