"""Greedy choice of memories by score, brevity and diversity, under category budgets.

    value = score * (1 - d * s) / tokens^b

`s` is the highest word overlap (Jaccard) with a memory already chosen, as in maximal marginal
relevance (Carbonell & Goldstein 1998), less what chance overlap explains. Greedy choice by value
over cost is usual for a budgeted submodular gain, with b = 1; a smaller b recalls more, since
scores vary far less than lengths.

The price of a token rises as the budget fills: a memory must have a share of the best score that is
at least the share of the budget that is spent by then. So a block ends where nothing more matters.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from semantic_memory.domain.facts import Category
from semantic_memory.domain.recall import Omission

_LEAST_TOKENS = 8  # of the shortest line, for an upper bound of the value
_CHARACTERS = 8  # more than a token has on average in any language
_CHANCE = 0.25  # overlap to expect of any two memories about one subject
REPEATS = 0.8
"""Overlap from which a memory says nothing that a chosen one doesn't."""
_LEAST_WORTH = 0.6  # share of its price that a line with a new word of the question must be worth
_MISFITS = 64  # consecutive candidates too long for the room, after which the search ends


class Line(NamedTuple):
    """A memory's line: its length and its words."""

    tokens: int
    """Number of tokens, with a gap before it."""
    words: int
    """Bit set of the line's word stems."""


class Choice(NamedTuple):
    """The places of the chosen candidates, in the order of choice, and why others aren't."""

    chosen: Sequence[int]
    refused: Mapping[int, Omission]


class Candidate(NamedTuple):
    """A memory to choose from."""

    score: float
    category: Category
    characters: int
    """Length of its text."""


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
_OWN_SHARE = 0.25  # of an application's own category


@dataclass(frozen=True, slots=True)
class Policy:
    """Weights and limits of the choice; defaults are in `ContextSettings`."""

    shares: Mapping[Category, float]
    """Largest share of the budget by category, while others can use the rest; overrides SHARES."""
    diversity: float
    """d above."""
    floor: float
    """Match below which nothing is recalled, if no memory reaches it."""
    weakest: float
    """Match below which a memory is left out even beside better ones."""
    core: int
    """Most tokens of the core profile's facts."""
    history: float
    """Largest share of the budget for the profile's texts and the user's history."""
    standing: float = 0.15
    """Largest share of the budget for standing facts, which are shown for every question."""
    brevity: float = 0.1
    """b above."""


def most_alike(words: int, others: Sequence[tuple[int, int]]) -> float:
    """Return the highest Jaccard similarity of a bit set of words to others, 0 to 1.

    `others` come with the number of their words.
    """
    own = words.bit_count()
    highest = 0.0
    for other, size in others:
        both = (words & other).bit_count()
        if both and (alike := both / (own + size - both)) > highest:
            highest = alike
    return highest


def choose(
    candidates: Sequence[Candidate],
    line: Callable[[int], Line],
    *,
    chosen: Sequence[tuple[Category, Line]],
    best: float,
    room: int,
    budget: int,
    policy: Policy,
    asked: int = 0,
    is_idle: Callable[[int], bool] = lambda _: False,
) -> Choice:
    """Choose among candidates for `room` tokens.

    A line with a word of the question, of which `asked` is the bit set, that no chosen line has
    loses nothing for repeating others. Any other is left out if `is_idle`, which is asked of those
    about to be chosen only: it may be expensive.

    `line` measures the line of a candidate and is called for promising ones only; `chosen` are
    those that the block has already, and `best` is the best score of all. Each category is held to
    its share of `budget` first; room that is left then goes to the best of the rest.
    """
    chooser = _Chooser(candidates, line, chosen, best, room, budget, policy, asked, is_idle)
    over_share = chooser.take(range(len(candidates)), capped=True)
    chooser.take(over_share, capped=False)
    return Choice(chooser.chosen, chooser.refused)


class _Chooser:
    def __init__(
        self,
        candidates: Sequence[Candidate],
        line: Callable[[int], Line],
        chosen: Sequence[tuple[Category, Line]],
        best: float,
        room: int,
        budget: int,
        policy: Policy,
        asked: int,
        is_idle: Callable[[int], bool],
    ) -> None:
        self._asked = asked
        self._is_idle = is_idle
        self.chosen: list[int] = []
        self.refused: dict[int, Omission] = {}
        self._candidates = candidates
        self._line = line
        self._best = best
        self._room = room
        self._budget = max(1, budget)
        self._spent = 1.0 - room / self._budget
        """The share of the budget that is spent."""
        self._policy = policy
        shares = {**SHARES, **policy.shares}
        present = {one.category for one in candidates} | {category for category, _ in chosen}
        self._allowance = {
            category: int(budget * shares.get(category, _OWN_SHARE)) for category in present
        }
        self._lines: dict[int, Line] = {}
        self._chosen_words = [(one.words, one.words.bit_count()) for _, one in chosen]
        for category, one in chosen:
            self._asked &= ~one.words
            self._allowance[category] -= one.tokens
        self._compared: dict[int, tuple[int, float]] = {}

    def take(self, places: Sequence[int], *, capped: bool) -> list[int]:
        """Choose among `places`; return those refused only for their category's share."""
        heap = [(-self._upper_bound(self._candidates[place]), place) for place in places]
        heapq.heapify(heap)
        refused: list[int] = []
        misfits = 0
        while heap and misfits < _MISFITS:
            _, place = heapq.heappop(heap)
            if self._candidates[place].score < _LEAST_WORTH * self._spent * self._best:
                self.refused[place] = "weak"
                continue
            line = self._lines.get(place) or self._measured(place)
            value = self._value(place, line)
            # The value in the heap was an upper bound, or has fallen with a later choice.
            if heap and value < -heap[0][0]:
                heapq.heappush(heap, (-value, place))
                continue
            if reason := self._refusal(place, line):
                self.refused[place] = reason
                misfits += reason == "budget"
            elif capped and line.tokens > self._allowance[self._candidates[place].category]:
                refused.append(place)
            else:
                misfits = 0
                self._choose(place, line)
        self.refused |= {place: self._too_late(place) for _, place in heap}
        return refused

    def _choose(self, place: int, line: Line) -> None:
        self._room -= line.tokens
        self._spent = 1.0 - self._room / self._budget
        self._allowance[self._candidates[place].category] -= line.tokens
        self.chosen.append(place)
        self._chosen_words.append((line.words, line.words.bit_count()))
        self._asked &= ~line.words

    def _refusal(self, place: int, line: Line) -> Omission | None:
        """Return why a line isn't worth its tokens at their present price; None if it is."""
        _, alike = self._compared[place]
        if not line.words & self._asked:
            if alike >= REPEATS:
                return "repeats"
            if self._candidates[place].score < self._spent * self._best or self._is_idle(place):
                return "weak"
        return "budget" if line.tokens > self._room else None

    def _too_late(self, place: int) -> Omission:
        is_weak = self._candidates[place].score < self._spent * self._best
        return "weak" if is_weak else "budget"

    def _upper_bound(self, candidate: Candidate) -> float:
        """Return an upper bound of the value, without measuring the line."""
        tokens = _LEAST_TOKENS + candidate.characters // _CHARACTERS
        return float(candidate.score / float(tokens) ** self._policy.brevity)

    def _measured(self, place: int) -> Line:
        line = self._lines[place] = self._line(place)
        return line

    def _value(self, place: int, line: Line) -> float:
        known, alike = self._compared.get(place, (0, 0.0))
        number = len(self._chosen_words)
        if known < number:
            alike = max(alike, most_alike(line.words, self._chosen_words[known:]))
        self._compared[place] = (number, alike)
        varied = 1.0
        if alike > _CHANCE and not line.words & self._asked:
            varied -= self._policy.diversity * (alike - _CHANCE) / (1.0 - _CHANCE)
        length = float(max(1, line.tokens)) ** self._policy.brevity
        return float(self._candidates[place].score * varied / length)
