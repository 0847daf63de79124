"""Find secrets that are told in a sentence, as the judge of sentences marks them.

"just type swordfish when it asks", "Mutters Mädchenname für die Bank ist Okonkwo"
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from heapq import nlargest

from ingest.gate.named_secrets import names_a_secret
from ingest.gate.personal_data import numbers
from semantic_memory.domain.evidence import pieces
from semantic_memory.domain.language import is_english, other_script
from semantic_memory.domain.patterns import regex
from semantic_memory.judging.hints import hint, is_enough
from semantic_memory.judging.packaged import Mark, packaged

Span = tuple[int, int]

LONGEST = 240
"""Characters that are read at once, some of them beside a sentence's own."""
MOST = 64
"""Stretches of a text that are read: those that hint at a secret most."""
_LIKELY, _SURE, _VERY_SURE = 0.7, 0.85, 0.9
"""Probabilities that a secret must have, or another in its stretch: beside a noun for one, in other
words, and in languages of which the encoder has fewer words."""
_COMMON = "1234"
_OPENING = 60
"""Characters of a stretch that are read again before what was cut off of it."""
_MASKED = "secret"
_ENDS = frozenset("\"'“”„‘’«»`()[]{}<>,;")
_JOINS = frozenset(":=/")
"""Signs between a name and its value."""
_STOPS = ".!?:"
_ADDRESS = regex(r"\w://\S*\Z")
"""The beginning of an address up to a mark."""
_LATIN = "\u024f"


def told_secrets(text: str, *, surely: bool = False) -> Iterator[Span]:
    """Yield the places of the secrets that the sentences of a text tell, or `surely` tell.

    >>> said = "to get into the shed you press 0987"
    >>> [said[start:end] for start, end in told_secrets(said)]
    ['0987']
    """
    hinted = ((_hint(stretch), start, stretch) for start, stretch in stretches(text))
    for _, start, stretch in nlargest(MOST, (one for one in hinted if is_enough(one[0]))):
        for mark in _told(stretch, surely=surely):
            span = whole(text, start + mark.start, start + mark.end)
            if not _is_known(text, span):
                yield span


def _told(stretch: str, *, surely: bool) -> list[Mark]:
    """Return the secrets that a stretch tells, or `surely` tells.

    Where no noun names one, the words around it must tell it: of a common number in its place they
    would tell it too. No text is refused for those.
    """
    marks = [*_marks(stretch)]
    if not marks:
        return []
    surest = max(marks, key=lambda mark: mark.probability)
    if names_a_secret(stretch):
        is_told = surest.probability >= (_SURE if surely else _LIKELY)
    else:
        least = _SURE if is_english(stretch) else _VERY_SURE
        is_told = not surely and surest.probability >= least and _is_told_around(stretch, surest)
    return marks if is_told else []


def _is_told_around(stretch: str, mark: Mark) -> bool:
    """Return True if the words around a secret tell that it is one, whatever it looks like.

    An odd token looks like one anywhere: "I bought the lamp kzdd1879".
    """
    other = stretch[: mark.start] + _COMMON + stretch[mark.end :]
    end = mark.start + len(_COMMON)
    return any(one.start < end and mark.start < one.end for one in _marks(other))


def _is_known(text: str, span: Span) -> bool:
    """Return True for what is masked, part of an address, or a number that has its own policy."""
    start, end = span
    masked = f"[{_MASKED}]"
    if masked in text[start:end] or text[start - 1 : end + 1] == masked:
        return True
    first = max(0, start - LONGEST)
    if _ADDRESS.search(text[first:start]):
        return True
    known = numbers(text[first : end + LONGEST])
    return any(first + one.start <= start and end <= first + one.end for one in known)


def _hint(stretch: str) -> float:
    """Return how much a stretch hints at a secret, or the sentence of it that hints most.

    In scripts that the encoder has few words of, numbers look like secrets: none is read.
    """
    if other_script(stretch):
        return -math.inf
    return max(map(hint, {stretch, *pieces(stretch)}))


def stretches(text: str) -> Iterator[tuple[int, str]]:
    """Yield neighbouring sentences that are read together, each stretch with its place."""
    start, held = 0, ""
    for piece in pieces(text):
        for part in _cut(piece):
            if held and len(held) + len(part) > LONGEST:
                yield start, held
                start, held = start + len(held), ""
            held += part
    yield start, held


def whole(text: str, start: int, end: int) -> Span:
    """Return the place of a secret with the rest of its first and last word.

    >>> said = "it is Tiger-77!x, now"
    >>> whole(said, 8, 12), said[6:16]
    ((6, 16), 'Tiger-77!x')
    """
    first, last = start, end
    while first > max(0, start - LONGEST) and _is_inside(text[first - 1], _ENDS | _JOINS):
        first -= 1
    while last < min(len(text), end + LONGEST) and _is_inside(text[last], _ENDS):
        last += 1
    said = text[end:last].rstrip(_STOPS)
    return first, end + len(said)


def _is_inside(character: str, ends: frozenset[str]) -> bool:
    """Return True for a character of a word, in scripts that have spaces between them."""
    return not character.isspace() and character <= _LATIN and character not in ends


def _marks(stretch: str) -> Iterator[Mark]:
    """Yield the marked secrets of a stretch; what the encoder cuts off is read after it."""
    done, said = 0, stretch.rstrip()
    while done < len(said):
        before = said[:_OPENING] if done else ""
        read = packaged("sentences").read(before, said[done:], remember=False)
        for mark in read.marks:
            if mark.name == "secret":
                yield mark._replace(start=mark.start + done, end=mark.end + done)
        if not read.length:
            return
        done += read.length


def _cut(piece: str) -> Iterator[str]:
    """Cut an endless sentence, between words where it has some."""
    while len(piece) > LONGEST:
        end = piece.rfind(" ", 1, LONGEST) + 1 or LONGEST
        yield piece[:end]
        piece = piece[end:]
    yield piece
