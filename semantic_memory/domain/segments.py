"""Cut a text of any length into sentences in linear time."""

from __future__ import annotations

from collections.abc import Iterator

import sentencex

_LONGEST = 2_000
"""Characters that are segmented at once: beyond, sentencex takes quadratic time."""
_ENDS = (". ", "? ", "! ", "。", " ")


def segments(text: str, code: str = "en") -> Iterator[str]:
    """Yield the sentences of a text in a language; joined, they are the text.

    A stretch without an end in 2,000 characters is cut at a space, or anywhere.

    >>> list(segments("I paint. I sing."))
    ['I paint. ', 'I sing.']
    """
    start = 0
    while len(text) - start > _LONGEST:
        end = _end(text, start)
        yield from sentencex.segment(code, text[start:end])
        start = end
    yield from sentencex.segment(code, text[start:])


def _end(text: str, start: int) -> int:
    """Return where to cut: behind the last sentence or word in reach."""
    most = start + _LONGEST
    for mark in _ENDS:
        found = text.rfind(mark, start, most)
        if found > start:
            return found + len(mark)
    return most
