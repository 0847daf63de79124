"""Parts of a block that don't depend on what was recalled: profile, core and history."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, fields
from typing import NamedTuple, get_args

from semantic_memory.context.render import NOTES, Ending
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.profile import PROFILE_FIELDS, ProfileField, WrittenField


class Placed(NamedTuple):
    """A memory, the section of the block that shows it, and its place there."""

    fact: Fact
    section: str = NOTES
    rank: int = 0
    """Order in the section, before time."""
    text: str | None = None
    """The text that is shown; the memory's own by default."""
    space: str | None = None
    """The further user, such as a team, whose memory it is; None for the user's own."""
    ending: Ending | None = None
    """The cause that ended it, or perhaps did."""


@dataclass(frozen=True, slots=True)
class Overview:
    """The parts shown whatever was recalled, the first ones of each part first."""

    written: list[Placed] = field(default_factory=list)
    """Core fields written by a person: shown before all else."""
    core: list[Placed] = field(default_factory=list)
    """Facts of the core profile, within its tokens."""
    texts: list[Placed] = field(default_factory=list)
    """The three texts of the profile, within the share of the history."""
    asked: list[Placed] = field(default_factory=list)
    """History tiers that the question asks for, within the same share."""
    history: list[Placed] = field(default_factory=list)
    """Written lines of the other tiers, within it too."""
    events: list[Placed] = field(default_factory=list)
    """Facts of the other tiers, within the same share of what recalled memories leave free."""

    def without(self, ids: Collection[str]) -> Overview:
        """Return the overview without the facts with these ids."""
        kept = {
            part.name: [one for one in getattr(self, part.name) if one.fact.id not in ids]
            for part in fields(self)
        }
        return Overview(**kept)


def placed_in(layer: ProfileField, fact: Fact) -> Placed:
    """Place a fact of a profile field."""
    if layer in get_args(WrittenField):
        section = "profile"
    else:
        section = "instructions" if layer == "instructions" else "core"
    return Placed(fact, section, PROFILE_FIELDS.index(layer))
