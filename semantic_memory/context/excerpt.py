"""Cut long texts around the words that a question asks for."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import stems

CUT = "[...]"
"""Stands for what was left out."""

_PIECES = regex(r"\n|(?<=[.!?;])\s+")
_LONGEST = 300  # characters of a piece without a line break or the end of a sentence


def excerpt(text: str, wanted: Collection[str], characters: int) -> str:
    """Return a part of `text` of at most about so many characters, around the `wanted` stems.

    The part begins and ends with whole lines or sentences; a short text stays whole.
    """
    if len(text) <= characters:
        return text
    pieces = _pieces(text)
    worth = [len(set(wanted) & set(stems(text[start:end]))) for start, end in pieces]
    best = max(range(len(pieces)), key=lambda place: (worth[place], -place))
    if not worth[best]:
        best = 0
    first = last = best
    while True:
        before = pieces[last][1] - pieces[first - 1][0] if first else characters + 1
        after = pieces[last + 1][1] - pieces[first][0] if last + 1 < len(pieces) else characters + 1
        if min(before, after) > characters:
            break
        # towards the side that has more of the question, else onwards
        if before <= characters and (after > characters or _leads(worth, first, last, best)):
            first -= 1
        else:
            last += 1
    part = text[pieces[first][0] : pieces[last][1]][:characters].rstrip()
    opening = f"{CUT}\n" if first and "\n" in text else f"{CUT} " if first else ""
    closing = "" if pieces[last][1] >= len(text) and part == part[:characters] else f" {CUT}"
    return f"{opening}{part}{closing}"


def _leads(worth: Sequence[int], first: int, last: int, best: int) -> bool:
    """Return True if a part should rather grow towards the beginning."""
    before, after = worth[first - 1], worth[last + 1]
    return before > after or (before == after and best - first < last - best)


def _pieces(text: str) -> list[tuple[int, int]]:
    """Return the starts and ends of a text's lines and sentences, cut where they are too long."""
    ends = [found.end() for found in _PIECES.finditer(text)]
    pieces: list[tuple[int, int]] = []
    start = 0
    for end in (*ends, len(text)):
        while end - start > _LONGEST:
            pieces.append((start, start + _LONGEST))
            start += _LONGEST
        if end > start:
            pieces.append((start, end))
        start = end
    return pieces
