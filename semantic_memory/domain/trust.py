"""Trust: how directly a statement comes from the user.

Plain values without pydantic, which the command line shows without loading a model.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from types import MappingProxyType

from semantic_memory.domain.english.tables import words


class Trust(StrEnum):
    """The trust in a statement, lowest first: members compare by their order."""

    IMPORTED = "imported"
    """Brought in from elsewhere: files of other systems' conversations."""
    EXTERNAL = "external"
    """Output of tools that read the web, mail or files; text that was pasted or quoted."""
    TOOL = "tool"
    """Output of other tools."""
    ASSISTANT = "assistant"
    """Said by the assistant."""
    AGENT = "agent"
    """Added by an agent by itself."""
    USER = "user"
    """The user's own words, or the application's."""

    @property
    def rank(self) -> int:
        """The place in the order, from 0."""
        return _RANKS[self]

    @property
    def is_vetted(self) -> bool:
        """True for what the user, the application or an agent by itself said."""
        return self >= Trust.AGENT

    @property
    def and_above(self) -> tuple[Trust, ...]:
        """The member itself and all higher ones."""
        return tuple(one for one in Trust if one.rank >= self.rank)

    def __lt__(self, other: str) -> bool:
        return self.rank < Trust(other).rank

    def __le__(self, other: str) -> bool:
        return self.rank <= Trust(other).rank

    def __gt__(self, other: str) -> bool:
        return self.rank > Trust(other).rank

    def __ge__(self, other: str) -> bool:
        return self.rank >= Trust(other).rank


_RANKS = MappingProxyType({one: place for place, one in enumerate(Trust)})
_OF_ROLES = MappingProxyType({"assistant": Trust.ASSISTANT, "tool": Trust.TOOL})


def of_role(role: str | None, name: str | None = None) -> Trust:
    """Return the trust in a message of a role; a tool's depends on its `name`.

    >>> str(of_role("user")), str(of_role("tool", "calculator")), str(of_role("tool", "web_search"))
    ('user', 'tool', 'external')
    """
    if role == "tool" and name and not _EXTERNAL.isdisjoint(_parts(name)):
        return Trust.EXTERNAL
    return _OF_ROLES.get(role or "user", Trust.USER)


def of_lineage(said: Iterable[tuple[str | None, Trust]]) -> Trust:
    """Return the lowest trust among messages, given by their roles and trust.

    What the user answers counts as the user's own, though an assistant asked it.
    """
    parts = list(said)
    if any(role == "user" for role, _ in parts):
        parts = [(role, trust) for role, trust in parts if role != "assistant"]
    return min((trust for _, trust in parts), default=Trust.USER)


_EXTERNAL = words("trust.external_tools")


def _parts(name: str) -> list[str]:
    spaced = "".join(
        f" {char.lower()}" if char.isupper() else char if char.isalnum() else " " for char in name
    )
    return spaced.split()
