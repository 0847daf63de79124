"""Token counts of the parts of a block: its frame, sections and lines."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from functools import cached_property, lru_cache

from semantic_memory.context import render
from semantic_memory.context.choose import Line
from semantic_memory.context.overview import Placed
from semantic_memory.domain.ports import TokenCounter
from semantic_memory.domain.text import stem_set

_REMEMBERED = 8_192  # number of lines whose token counts are cached
_FRAMES = 1_024  # number of sections and of frames whose token counts are cached
_BITS = 512


class Prices:
    """Token counts for one model and one template, cached by line. Thread-safe."""

    def __init__(self, counter: TokenCounter, template: render.Template) -> None:
        self._counter = counter
        self._template = template
        self._priced = lru_cache(_REMEMBERED)(self._price)
        self._words = lru_cache(_REMEMBERED)(lambda text: word_bits(stem_set(text)))
        self._counted = lru_cache(_REMEMBERED)(counter.count)
        self.frame = lru_cache(_FRAMES)(self._frame)
        """Returns the tokens of the lines around all sections, for the most memories left out."""
        self.section = lru_cache(_FRAMES)(self._section)
        """Returns the tokens of the lines around a section."""

    def _frame(self, most_left_out: int) -> int:
        template = self._template
        ends = (template.opening, template.note, template.left_out, template.closing)
        return sum(self._counted(f"{end.format(number=most_left_out)}\n") for end in ends if end)

    def _section(self, name: str) -> int:
        ends = (self._template.section, self._template.end)
        return sum(self._counted(f"{end.format(name=name)}\n") for end in ends if end)

    def line(self, one: Placed) -> Line:
        """Return the tokens and words of a memory's line."""
        is_note = one.section == render.NOTES
        text = self._template.shown(
            one.fact,
            one.section,
            one.text,
            one.space,
            one.ending,
            see=1 if one.ending and one.ending.by else 0,
            topic=1 if is_note else 0,
        )
        tokens = self._priced(text) + (self._gap if is_note else 0)
        return Line(tokens, self._words(one.text or one.fact.content))

    def text(self, text: str) -> int:
        """Return the tokens of a finished text."""
        return self._counter.count(text)

    @cached_property
    def _gap(self) -> int:
        gap = self._template.gap
        return self._counter.count(f"{gap}\n") if gap else 0

    def _price(self, line: str) -> int:
        """Return the tokens of a line."""
        # the number doesn't matter: up to three digits are one token
        return self._counter.count(f"{self._template.line(1, line)}\n")


def word_bits(words: Iterable[str]) -> int:
    """Return a bit set of words, by which overlaps are estimated."""
    bits = 0
    for word in words:
        bits |= 1 << zlib.crc32(word.encode()) % _BITS
    return bits
