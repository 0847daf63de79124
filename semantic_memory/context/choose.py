"""Choose memories for a budget: greedily by score, brevity and diversity, under category budgets.

    value = score * (1 - d * s) / tokens^b

`s` is the highest word overlap (Jaccard) with a memory already chosen: maximal marginal relevance
(Carbonell & Goldstein 1998). `tokens` are what the memory adds to the block, so one of a day that
is already there comes cheaper. The greedy choice by value over cost is the usual one for a budgeted
submodular gain; b = 1 would be it in full, and costs recall, since scores are far less spread than
lengths.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import NamedTuple

from semantic_memory.domain.facts import Category

_LEAST_TOKENS = 8  # of any line, for a first guess of its value
_CHARACTERS = 8  # more than a token has on average in any language
_CHANCE = 0.25  # overlap that says nothing: people who talk of one thing share words
_MISFITS = 64  # that many in a row too long: no use in looking further


Heading = tuple[str, date | None]
"""A section of the block, or a day in it."""


class Line(NamedTuple):
    """The size and words of a memory's line."""

    tokens: int
    """Tokens of the line."""
    words: int
    """A bit set of its words."""


class Candidate(NamedTuple):
    """A memory that may be chosen."""

    score: float
    category: Category
    section: Heading
    day: Heading
    """Section and day are paid for once."""
    characters: int
    """Characters of its text."""


SHARES: Mapping[Category, float] = MappingProxyType(
    {
        Category.PREFERENCE: 0.15,
        Category.PERSONAL: 0.25,
        Category.FEEDBACK: 0.15,
        Category.PROJECT: 0.25,
        Category.TECHNICAL: 0.25,
        Category.DECISION: 0.25,
        Category.FINDING: 0.25,
        Category.REFERENCE: 0.15,
        Category.CONVERSATION: 1.0,
    }
)


@dataclass(frozen=True, slots=True)
class Policy:
    """Weights and limits of choosing; defaults are in `ContextSettings`."""

    shares: Mapping[Category, float]
    """The most of the budget for each category as long as others want the rest; replaces SHARES."""
    diversity: float
    """d above."""
    floor: float
    """If no memory matches better than this, none is recalled."""
    weakest: float
    """The match below which a memory isn't recalled even beside better ones."""
    overview: float
    """The most of the budget for the user's profile and history."""
    standing: float = 0.15
    """The most of the budget for facts that are shown whatever the question."""
    brevity: float = 0.1
    """b above."""


def most_alike(words: int, others: Sequence[int]) -> float:
    """Return the highest Jaccard similarity of a set of words with others, 0 to 1."""
    own = words.bit_count()
    highest = 0.0
    for other in others:
        both = (words & other).bit_count()
        if both and (alike := both / (own + other.bit_count() - both)) > highest:
            highest = alike
    return highest


def choose(
    candidates: Sequence[Candidate],
    line: Callable[[int], Line],
    heading: Callable[[Heading], int],
    *,
    opened: Collection[Heading],
    room: int,
    budget: int,
    policy: Policy,
) -> list[int]:
    """Return the places of the chosen candidates, first chosen first, within `room` tokens.

    `line` is asked for those only that may be chosen; `heading` says what one costs, `opened` which
    are paid for. Each category gets its share of `budget` first; what others leave of theirs
    then goes to the best of the rest.
    """
    choice = _Choice(candidates, line, heading, set(opened), room, budget, policy)
    over_share = choice.take(range(len(candidates)), capped=True)
    choice.take(over_share, capped=False)
    return choice.chosen


class _Choice:
    def __init__(
        self,
        candidates: Sequence[Candidate],
        line: Callable[[int], Line],
        heading: Callable[[Heading], int],
        opened: set[Heading],
        room: int,
        budget: int,
        policy: Policy,
    ) -> None:
        self.chosen: list[int] = []
        self._candidates = candidates
        self._line = line
        self._heading = heading
        self._opened = opened
        self._room = room
        self._policy = policy
        shares = {**SHARES, **policy.shares}
        self._allowance = {category: int(budget * shares[category]) for category in Category}
        self._chosen_words: list[int] = []
        self._compared: dict[int, tuple[int, float]] = {}
        self._below: dict[Heading, list[int]] = defaultdict(list)
        for place, candidate in enumerate(candidates):
            self._below[candidate.day].append(place)

    def take(self, places: Sequence[int], *, capped: bool) -> list[int]:
        """Choose among `places`; return those that only their category's share kept out."""
        waiting = set(places)
        heap = [(-self._promise(place), place) for place in places]
        heapq.heapify(heap)
        refused: list[int] = []
        misfits = 0
        while heap and misfits < _MISFITS and self._room > 0:
            _, place = heapq.heappop(heap)
            if place not in waiting:
                continue
            tokens = self._tokens(place)
            value = self._value(place, tokens)
            # The promise was a guess, or from before something alike was chosen.
            if heap and value < -heap[0][0]:
                heapq.heappush(heap, (-value, place))
                continue
            waiting.remove(place)
            if tokens > self._room:
                misfits += 1
            elif capped and tokens > self._allowance[self._candidates[place].category]:
                refused.append(place)
            else:
                misfits = 0
                for cheaper in self._buy(place, tokens):
                    if cheaper in waiting and cheaper in self._compared:
                        again = self._worth(cheaper, self._tokens(cheaper))
                        heapq.heappush(heap, (-again, cheaper))
        return refused

    def _buy(self, place: int, tokens: int) -> list[int]:
        """Add a candidate; return those that its new day makes cheaper."""
        candidate = self._candidates[place]
        self._room -= tokens
        self._allowance[candidate.category] -= tokens
        self.chosen.append(place)
        self._chosen_words.append(self._line(place).words)
        cheaper = [] if candidate.day in self._opened else self._below[candidate.day]
        self._opened.update((candidate.section, candidate.day))
        return cheaper

    def _promise(self, place: int) -> float:
        """Return an upper bound of the value, without counting tokens."""
        candidate = self._candidates[place]
        tokens = _LEAST_TOKENS + candidate.characters // _CHARACTERS
        return float(candidate.score / float(tokens) ** self._policy.brevity)

    def _tokens(self, place: int) -> int:
        candidate = self._candidates[place]
        tokens = self._line(place).tokens
        if candidate.day not in self._opened:
            tokens += self._heading(candidate.day)
            if candidate.section not in self._opened:
                tokens += self._heading(candidate.section)
        return tokens

    def _value(self, place: int, tokens: int) -> float:
        known, alike = self._compared.get(place, (0, 0.0))
        if known < len(self._chosen_words):
            alike = max(alike, most_alike(self._line(place).words, self._chosen_words[known:]))
        self._compared[place] = (len(self._chosen_words), alike)
        return self._worth(place, tokens)

    def _worth(self, place: int, tokens: int) -> float:
        """Return the value at present; it can only fall as more candidates are chosen."""
        alike = self._compared[place][1]
        varied = 1.0 - self._policy.diversity * max(0.0, alike - _CHANCE) / (1.0 - _CHANCE)
        length = float(max(1, tokens)) ** self._policy.brevity
        return float(self._candidates[place].score * varied / length)
