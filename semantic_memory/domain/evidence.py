"""Tell which sentences of a message a fact was drawn from, by the words that they share.

"My sister Anna is getting divorced. We had pasta."  "Anna is getting divorced"  ->  the first
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from semantic_memory.domain.segments import segments
from semantic_memory.domain.text import stems

_NEARLY = 0.5  # of the words that the best sentence shares, from which another is a source too
_STANDS = 0.75  # of the words that all messages share with a fact, which those left must share
_SUBJECT = frozenset(stems("the user's"))  # in facts, and hardly ever in messages


def pieces(text: str) -> list[str]:
    """Cut a text into its sentences, each with the white space behind it; joined they are the text.

    >>> pieces("I paint. Rex barks!")
    ['I paint. ', 'Rex barks!']
    """
    return [
        piece
        for line in text.splitlines(keepends=True)
        for piece in _with_end(line.rstrip("\r\n"), line)
    ]


def _with_end(line: str, whole: str) -> Iterable[str]:
    found = list(segments(line)) or [""]
    return [*found[:-1], found[-1] + whole[len(line) :]]


def left_of(text_pieces: Sequence[str], gone: Collection[int]) -> str:
    """Return the text that is left without some of its sentences; empty if no word is left."""
    left = "".join(piece for place, piece in enumerate(text_pieces) if place not in gone).strip()
    return left if any(character.isalnum() for character in left) else ""


def drawn_from(fact: str, text_pieces: Sequence[str]) -> frozenset[int]:
    """Return the places of the sentences that a fact was drawn from; none if no word is shared."""
    wanted = words_of(fact)
    shared = [len(wanted & words_of(piece)) for piece in text_pieces]
    best = max(shared, default=0)
    if not best:
        return frozenset()
    return frozenset(place for place, number in enumerate(shared) if number >= _NEARLY * best)


def still_said(fact: str, left: Iterable[str], before: Iterable[str]) -> bool:
    """Return True if the texts that are left say a fact about as fully as those before did."""
    wanted = words_of(fact)
    said = len(wanted & _words_of_all(left))
    return bool(said) and said >= _STANDS * len(wanted & _words_of_all(before))


def words_of(text: str) -> frozenset[str]:
    """Return the stemmed words by which statements are compared."""
    return frozenset(stems(text)) - _SUBJECT


def _words_of_all(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(word for text in texts for word in words_of(text))
