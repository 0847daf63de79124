"""Parts of a block that don't depend on what was recalled: profile, core and history."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
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
    doubted: datetime | None = None
    """Time of a later statement by which it may no longer hold."""


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

    def likely_shown(self, recalled: Sequence[Fact]) -> list[Fact]:
        """Return the facts of the core, and those of the history from messages of `recalled`."""
        known = {one for fact in recalled for one in _places(fact)}
        history = (one.fact for one in (*self.asked, *self.events))
        told = [fact for fact in history if not known.isdisjoint(_places(fact))]
        return [*(one.fact for one in self.core), *told]

    def without(self, ids: Collection[str]) -> Overview:
        """Return the overview without the facts with these ids."""
        kept = {
            part.name: [one for one in getattr(self, part.name) if one.fact.id not in ids]
            for part in fields(self)
        }
        return Overview(**kept)


def _places(fact: Fact) -> set[tuple[str | None, str]]:
    return {(source.session_id, one) for source in fact.sources for one in source.message_ids}


def placed_in(layer: ProfileField, fact: Fact, text: str | None = None) -> Placed:
    """Place a fact of a profile field, or the part of it that belongs there."""
    section = "instructions" if layer == "instructions" else "core"
    return Placed(fact, section, PROFILE_FIELDS.index(layer), text)
