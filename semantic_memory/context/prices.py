"""Token counts of the parts of a block: its frame, headings and lines."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from datetime import date, datetime
from functools import cached_property, lru_cache

from semantic_memory.context import render
from semantic_memory.context.choose import Heading, Line
from semantic_memory.context.overview import Placed
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.ports import TokenCounter
from semantic_memory.domain.text import stems

_REMEMBERED = 8_192  # number of lines whose token counts are cached
_HEADINGS = 1_024  # number of headings and of frames whose token counts are cached
_BITS = 512


class Prices:
    """Token counts for one model and one template, cached by line. Thread-safe."""

    def __init__(self, counter: TokenCounter, template: render.Template) -> None:
        self._counter = counter
        self._template = template
        self._priced = lru_cache(_REMEMBERED)(self._price)
        self._counted = lru_cache(_REMEMBERED)(counter.count)
        self.frame = lru_cache(_HEADINGS)(self._frame)
        """Returns the tokens of the lines around all sections, for the most memories left out."""
        self.heading = lru_cache(_HEADINGS)(self._heading)
        """Returns the tokens of the heading of a section or a day."""

    def _frame(self, most_left_out: int) -> int:
        template = self._template
        ends = (template.opening, template.note, template.left_out, template.closing)
        return sum(self._counted(f"{end.format(number=most_left_out)}\n") for end in ends if end)

    def _heading(self, heading: Heading) -> int:
        name, day = heading
        template = self._template
        if day is not None:
            title = template.day.format(day=render.heading(day))
            return self._counted(f"{title}\n") if title else 0
        ends = (template.section, template.end)
        return sum(self._counted(f"{end.format(name=name)}\n") for end in ends if end)

    def line(self, one: Placed, changed: datetime | None = None) -> Line:
        """Return the tokens and words of a memory's line, and the headings above it."""
        text = self._template.shown(
            one.fact, changed, one.section, one.text, one.space, one.doubted
        )
        tokens, words = self._priced(text)
        if one.fact.category is Category.CONVERSATION:
            tokens += self._gap
        return Line(tokens, words, *headings(one.fact, one.section))

    def text(self, text: str) -> int:
        """Return the tokens of a finished text."""
        return self._counter.count(text)

    @cached_property
    def _gap(self) -> int:
        return self._counter.count(f"{self._template.gap}\n")

    def _price(self, line: str) -> tuple[int, int]:
        """Return the tokens of a line and the bit set of its words."""
        # the number doesn't matter: up to three digits are one token
        entry = self._template.line(1, line)
        return self._counter.count(f"{entry}\n"), word_bits(stems(line))


def headings(fact: Fact, section: str) -> tuple[Heading, Heading]:
    """Return the headings above a memory's line: of its section, and of its day if shown there."""
    day: date | None = None if section in render.DATED else fact.created_at.date()
    return (section, None), (section, day)


def word_bits(words: Iterable[str]) -> int:
    """Return a bit set of words, by which overlaps are estimated."""
    bits = 0
    for word in words:
        bits |= 1 << zlib.crc32(word.encode()) % _BITS
    return bits
