"""Judge the facts and answers of a store by the two statements of a scenario."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from eval.datasets.scenarios import Scenario, Side, Words
from semantic_memory.domain.facts import Fact, Status

MARKED = re.compile(r"\b(?:until|changed:?(?: see)?) \d{4}-\d\d-\d\d")
"""Mark of a line of a block as no longer true, or as perhaps no longer true."""

_ENDED = Words.of(
    "no longer|any more|anymore|not|isn't|doesn't|don't|never|quit|quits|left|leaves|stopped|ended|"
    "over|gone|sold|cancelled|canceled|dropped|gave|done|finished|used to|until|former|formerly|"
    "was|were|instead|rather|off|history|broke|died|swapped|switched|moved".split("|")
)
"""Words by which a fact drawn from the second statement says that the first no longer holds."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A hit, or a line of a block."""

    text: str
    positions: frozenset[int]
    """Places of the messages behind it among the user's; empty where none are known."""
    verbatim: bool
    """True for a message, False for a fact and for a line of the profile."""


@dataclass(frozen=True)
class Outcome:
    """The facts that a store holds after a scenario, and its answer to the question."""

    scenario: Scenario
    facts: tuple[Fact, ...]
    """Facts that are or were believed, without messages."""
    hits: tuple[Shown, ...] = ()
    lines: tuple[Shown, ...] = ()
    """Memories of the block, in its order."""
    block: str = ""

    @cached_property
    def old_extracted(self) -> bool:
        """True if a fact of the first statement carries its value."""
        return bool(self._told("old"))

    @cached_property
    def new_extracted(self) -> bool:
        """True if a fact of the second statement carries its value; an ending has none to carry."""
        return not self.scenario.new or bool(self._told("new"))

    @cached_property
    def retired(self) -> bool:
        """True if the old value was believed once, and no fact of its message holds it now.

        A correction may also have been understood before anything was stored: then the new value
        alone must be believed.
        """
        if self.scenario.kind == "correction" and not self.old_extracted:
            return _believed(self._told("new"))
        return self._lost("old")

    @cached_property
    def new_first_in_search(self) -> bool:
        """True if the first hit that carries either value carries the new one."""
        return self._new_first(self.hits)

    @cached_property
    def new_first_in_block(self) -> bool:
        """True if the first line that carries either value carries the new one."""
        return self._new_first(self.lines)

    @cached_property
    def new_in_block(self) -> bool:
        """True if any line of the block carries the new value."""
        return any(self.is_new(line) for line in self.lines)

    @cached_property
    def old_standing(self) -> bool:
        """True if a line of the block carries the old value alone, without a mark."""
        return any(self.is_standing(line) for line in self.lines)

    @cached_property
    def old_believed(self) -> bool:
        """True if the old value stands as a fact of the block, and the new one doesn't."""
        facts = [line for line in self.lines if not line.verbatim]
        return any(map(self.is_standing, facts)) and not any(map(self.is_new, facts))

    @cached_property
    def confused(self) -> bool:
        """True if one statement retired the other, or one fact stands for both."""
        return self._lost("old") or self._lost("new") or any(map(self._cites_both, self._active))

    @cached_property
    def united(self) -> bool:
        """True if exactly one active fact carries the value, with both messages as sources."""
        own = [fact for fact in self._active if not positions(fact).isdisjoint(self._places)]
        return len(own) == 1 and self._cites_both(own[0])

    @cached_property
    def _places(self) -> tuple[int, int]:
        return self.scenario.told("old").position, self.scenario.told("new").position

    @cached_property
    def _active(self) -> list[Fact]:
        """Active facts that carry either value."""
        return [
            fact
            for fact in self.facts
            if fact.status is Status.ACTIVE
            and (
                self.scenario.old.carried_by(fact.content)
                or self.scenario.new.carried_by(fact.content)
            )
        ]

    def _told(self, side: Side) -> list[Fact]:
        """Return the facts of one statement that carry its value."""
        place = self.scenario.told(side).position
        carries = self._carries_old if side == "old" else self.scenario.new.carried_by
        return [fact for fact in self.facts if place in positions(fact) and carries(fact.content)]

    def _lost(self, side: Side) -> bool:
        told = self._told(side)
        return bool(told) and not _believed(told)

    def _cites_both(self, fact: Fact) -> bool:
        return positions(fact).issuperset(self._places)

    def _carries_old(self, text: str) -> bool:
        # In an update, a text with both values tells of the new one.
        new = self.scenario.retires and self.scenario.new.carried_by(text)
        return self.scenario.old.carried_by(text) and not new

    def _new_first(self, shown: Sequence[Shown]) -> bool:
        for one in shown:
            if self.is_new(one):
                return True
            if self.is_old(one):
                return False
        return False

    def is_new(self, shown: Shown) -> bool:
        """Return True if a hit or line carries the new value."""
        if not self.scenario.new:
            return self._places[1] in shown.positions
        return self.scenario.new.carried_by(shown.text) and not self._is_chatter(shown)

    def is_old(self, shown: Shown) -> bool:
        """Return True if a hit or line carries the old value, and not to say that it ended."""
        if not self._carries_old(shown.text) or self._is_chatter(shown):
            return False
        if not shown.positions or min(shown.positions) < self._places[1]:
            return True
        # What follows the second statement may name the old value, if it is to say that it ended.
        return not shown.verbatim and not _ENDED.carried_by(shown.text)

    def is_standing(self, shown: Shown) -> bool:
        """Return True if a line carries the old value without a mark."""
        return self.is_old(shown) and not MARKED.search(shown.text)

    def _is_chatter(self, shown: Shown) -> bool:
        turns = self.scenario.turns
        return bool(shown.positions) and all(turns[place].chatter for place in shown.positions)


def positions(fact: Fact) -> frozenset[int]:
    """Return the places of the messages that a fact cites among the user's."""
    return frozenset(int(message_id) for message_id in fact.message_ids)


def share(values: Collection[bool]) -> float:
    """Return the share of true values; 0 over none."""
    return sum(values) / len(values) if values else 0.0


def _believed(facts: Iterable[Fact]) -> bool:
    return any(fact.status is Status.ACTIVE for fact in facts)
