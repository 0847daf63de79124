"""Parts of a block that don't depend on what was recalled: profile, core and history."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from semantic_memory.domain.facts import Fact
from semantic_memory.domain.profile import PROFILE_FIELDS, ProfileField


class Placed(NamedTuple):
    """A fact, the section of the block that shows it, and its place there."""

    fact: Fact
    section: str
    rank: int = 0
    """Order in the section, before time."""
    text: str | None = None
    """The part of the fact that is shown; all of it by default."""
    space: str | None = None
    """The further user, such as a team, whose memory it is; None for the user's own."""


@dataclass(frozen=True, slots=True)
class Overview:
    """The parts shown whatever was recalled, the first ones of each part first."""

    written: list[Placed] = field(default_factory=list)
    """Profile fields written by a person or a model: shown before all else."""
    core: list[Placed] = field(default_factory=list)
    """Facts of the core profile, within its tokens."""
    asked: list[Placed] = field(default_factory=list)
    """History tiers that the question asks for, within their share."""
    history: list[Placed] = field(default_factory=list)
    """Written lines of the other tiers, within theirs."""
    events: list[Placed] = field(default_factory=list)
    """Facts of the other tiers, within the same share of what recalled memories leave free."""


def placed_in(layer: ProfileField, fact: Fact, text: str | None = None) -> Placed:
    """Place a fact of a profile field, or the part of it that belongs there."""
    section = "instructions" if layer == "instructions" else "core"
    return Placed(fact, section, PROFILE_FIELDS.index(layer), text)
