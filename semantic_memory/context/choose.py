"""Greedy choice of memories by score, brevity and diversity, under category budgets.

    value = score * (1 - d * s) / tokens^b

`s` is the highest word overlap (Jaccard) with a memory already chosen, as in maximal marginal
relevance (Carbonell & Goldstein 1998), less what chance overlap explains. `tokens` are those that
the memory adds to the block; the heading of its day counts only for the first memory of that day.
Greedy choice by value over cost is usual for a budgeted submodular gain, with b = 1; a smaller b
recalls more, since scores vary far less than lengths.
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

_LEAST_TOKENS = 8  # of the shortest line, for an upper bound of the value
_CHARACTERS = 8  # more than a token has on average in any language
_CHANCE = 0.25  # overlap to expect of any two memories about one subject
_MISFITS = 64  # consecutive candidates too long for the room, after which the search ends


Heading = tuple[str, date | None]
"""A section of the block, or a day in it."""


class Line(NamedTuple):
    """A memory's line: its length, its words and the headings above it."""

    tokens: int
    """Number of tokens."""
    words: int
    """Bit set of the line's word stems."""
    section: Heading
    day: Heading
    """The tokens of both headings count once in a block."""


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
    """Largest share of the budget for the user's history."""
    asked: float
    """Largest share of the budget for the tiers of it that the question asks for."""
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
    heading: Callable[[Heading], int],
    *,
    opened: Collection[Heading],
    room: int,
    budget: int,
    policy: Policy,
    asked: int = 0,
) -> list[int]:
    """Return the places of the chosen candidates, within `room` tokens, in the order of choice.

    A line with a word of the question, of which `asked` is the bit set, that no chosen line has
    loses nothing for repeating others: a fact doesn't displace the message that it came from if
    that alone has what is asked for.

    `line` measures the line of a candidate and is called for promising ones only; `heading` returns
    the tokens of a heading; those in `opened` cost nothing. Each category is held to its share of
    `budget` first; room that is left then goes to the best of the rest.
    """
    choice = _Choice(candidates, line, heading, set(opened), room, budget, policy, asked)
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
        asked: int,
    ) -> None:
        self._asked = asked
        self.chosen: list[int] = []
        self._candidates = candidates
        self._line = line
        self._heading = heading
        self._opened = opened
        self._room = room
        self._policy = policy
        shares = {**SHARES, **policy.shares}
        self._allowance = {category: int(budget * shares[category]) for category in Category}
        self._lines: dict[int, Line] = {}
        self._below: dict[Heading, list[int]] = defaultdict(list)
        self._above: dict[Heading, int] = {}  # tokens of the headings that a day still needs
        self._chosen_words: list[tuple[int, int]] = []
        self._compared: dict[int, tuple[int, float]] = {}

    def take(self, places: Sequence[int], *, capped: bool) -> list[int]:
        """Choose among `places`; return those refused only for their category's share."""
        waiting = set(places)
        heap = [(-self._upper_bound(self._candidates[place]), place) for place in places]
        heapq.heapify(heap)
        refused: list[int] = []
        misfits = 0
        while heap and misfits < _MISFITS and self._room > 0:
            _, place = heapq.heappop(heap)
            if place not in waiting:
                continue
            line = self._lines.get(place) or self._measured(place)
            tokens = self._tokens(line)
            value = self._value(place, line, tokens)
            # The value in the heap was an upper bound, or has fallen with a later choice.
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
                for cheaper in waiting.intersection(self._choose(place, line, tokens)):
                    below = self._lines[cheaper]
                    _, alike = self._compared[cheaper]
                    again = self._worth(cheaper, below, self._tokens(below), alike)
                    heapq.heappush(heap, (-again, cheaper))
        return refused

    def _choose(self, place: int, line: Line, tokens: int) -> Sequence[int]:
        """Choose a candidate; return those measured that its new day's heading makes cheaper."""
        self._room -= tokens
        self._allowance[self._candidates[place].category] -= tokens
        self.chosen.append(place)
        self._chosen_words.append((line.words, line.words.bit_count()))
        self._asked &= ~line.words
        if line.day in self._opened:
            return ()
        self._opened.update((line.section, line.day))
        self._above.clear()
        return self._below[line.day]

    def _upper_bound(self, candidate: Candidate) -> float:
        """Return an upper bound of the value, without measuring the line."""
        tokens = _LEAST_TOKENS + candidate.characters // _CHARACTERS
        return float(candidate.score / float(tokens) ** self._policy.brevity)

    def _measured(self, place: int) -> Line:
        line = self._lines[place] = self._line(place)
        self._below[line.day].append(place)
        return line

    def _tokens(self, line: Line) -> int:
        above = self._above.get(line.day)
        if above is None:
            missing = {line.day, line.section} - self._opened
            above = self._above[line.day] = sum(map(self._heading, missing))
        return line.tokens + above

    def _value(self, place: int, line: Line, tokens: int) -> float:
        known, alike = self._compared.get(place, (0, 0.0))
        number = len(self._chosen_words)
        if known < number:
            alike = max(alike, most_alike(line.words, self._chosen_words[known:]))
        self._compared[place] = (number, alike)
        return self._worth(place, line, tokens, alike)

    def _worth(self, place: int, line: Line, tokens: int, alike: float) -> float:
        """Return the value given the choices so far; further choices can only lower it."""
        varied = 1.0
        if alike > _CHANCE and not line.words & self._asked:
            varied -= self._policy.diversity * (alike - _CHANCE) / (1.0 - _CHANCE)
        length = float(max(1, tokens)) ** self._policy.brevity
        return float(self._candidates[place].score * varied / length)
