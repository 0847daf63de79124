"""Check that a quote is in a text, whatever its case, its spaces and small slips."""

from __future__ import annotations

import unicodedata
from collections import Counter

_ENOUGH = 0.75  # of the quote's trigrams, in one place of the text
_LEAST = 3  # letters and digits that say something, unless a text has no more
_ROOM = 1.25  # length of that place, as a multiple of the quote's


def is_quoted(quote: str, text: str) -> bool:
    """Return True if `quote` is in `text`, give or take a slip of the pen.

    >>> said = "Hey! I lvie in Berlin now, near the park."
    >>> is_quoted("I live in berlin", said), is_quoted("I live in Bern with Tom", said)
    (True, False)
    """
    wanted, there = _plain(quote), _plain(text)
    if len(wanted.replace(" ", "")) < min(_LEAST, max(1, len(there.replace(" ", "")))):
        return False
    if f" {wanted} " in f" {there} " or (not wanted.isascii() and wanted in there):
        return True
    return _nearest(wanted, there) >= _ENOUGH


def _nearest(quote: str, text: str) -> float:
    """Return the share of the quote's trigrams in the place of a text that has most of them."""
    grams = Counter(_trigrams(quote))
    size = sum(grams.values())
    width = int(size * _ROOM) + 1
    found = Counter[str]()
    shared = best = 0
    passed = list(_trigrams(text))
    for place, gram in enumerate(passed):
        found[gram] += 1
        shared += found[gram] <= grams[gram]
        if place >= width:
            gone = passed[place - width]
            shared -= found[gone] <= grams[gone]
            found[gone] -= 1
        best = max(best, shared)
    return best / size if size else 0.0


def _trigrams(text: str) -> list[str]:
    padded = f" {text} "
    return [padded[place : place + 3] for place in range(len(padded) - 2)]


def _plain(text: str) -> str:
    """Return the letters and digits of a text, in lower case, with one space between words."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(one if one.isalnum() else " " for one in folded).split())
