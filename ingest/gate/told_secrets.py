"""Find secrets that are told in a sentence, as the judge of sentences marks them.

"just type swordfish when it asks", "Mutters Mädchenname für die Bank ist Okonkwo"
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from heapq import nlargest

from ingest.gate.named_secrets import joins_a_secret, may_name_a_secret, names_a_secret
from ingest.gate.personal_data import numbers
from semantic_memory.domain.evidence import pieces
from semantic_memory.domain.language import is_english, is_latin
from semantic_memory.domain.patterns import regex
from semantic_memory.judging.hints import CLEAR, hint, is_enough
from semantic_memory.judging.packaged import Mark, packaged

Span = tuple[int, int]

LONGEST = 240
"""Characters that are read at once, some of them beside a sentence's own."""
MOST = 64
"""Stretches of a text that are read: those that hint at a secret most."""
_FAINT, _JOINED, _MARKED = 0.25, 0.4, 0.5
"""Probabilities from which a word is part of a secret: joined with a noun for it, where nothing is
marked more clearly; joined with a noun for it; and elsewhere."""
_LIKELY, _SURE, _VERY_SURE = 0.7, 0.85, 0.9
"""Probabilities that a secret must have: beside a noun for one, to be sure there, and in other
words, where another in its stretch may have it."""
_COMMON = "1234"
_WORDS = regex(r"[^\W\d_]+")
_FEWEST = 2
"""Words that can tell what stands between them."""
_PLAIN = regex(r"(?:[^\W\d_]+ )?\d{1,2}|[^\s-]+(?:-[^\s-]+){4,}")
"""Numbers and names that are no secret by themselves: "note 28", "data-eu-west-1-blue-2"."""
_OPENING = 60
"""Characters of a stretch that are read again before what was cut off of it."""
_MASKED = "secret"
_ENDS = frozenset("\"'“”„‘’«»`()[]{}<>,;")
_JOINS = frozenset(":=/")
"""Signs between a name and its value."""
_STOPS = ".!?:"
_ADDRESS = regex(r"\w://\S*\Z")
"""The beginning of an address up to a mark."""
_UNSPACED = regex(r"[぀-ヿ㐀-鿿가-힣]")


def told_secrets(text: str, *, surely: bool = False) -> Iterator[Span]:
    """Yield the places of the secrets that the sentences of a text tell, or `surely` tell.

    >>> said = "to get into the shed you press 0987"
    >>> [said[start:end] for start, end in told_secrets(said)]
    ['0987']
    """
    hinted = (
        (found, start, stretch)
        for start, stretch in stretches(text)
        if (found := _hint(stretch)) > -math.inf
        if may_name_a_secret(stretch) or (is_enough(found, "secret") and not surely)
    )
    for _, start, stretch in nlargest(MOST, hinted):
        for mark in _told(stretch, surely=surely):
            span = whole(text, start + mark.start, start + mark.end)
            if not _is_known(text, span):
                yield span


def _told(stretch: str, *, surely: bool) -> list[Mark]:
    """Return the secrets that a stretch tells, or `surely` tells.

    Where no noun names one, or it is to be sure, the words around it must tell it: of a common
    number in its place they would tell it too. What no noun names isn't sure, and but in English
    needs a clear hint: any number looks like a secret in other languages.
    """
    read = [*_marks(stretch, _JOINED)] or [*_marks(stretch, _FAINT)]
    joined = [
        one for one in read if joins_a_secret(stretch[: whole(stretch, one.start, one.end)[0]])
    ]
    marks = [one for one in read if one.probability >= _MARKED or one in joined]
    if not marks:
        return []
    surest = max(marks, key=lambda mark: mark.probability)
    if surely:
        sure = (one for one in marks if one.probability >= _SURE)
        return [one for one in sure if _is_named(stretch, one) and _is_told_around(stretch, one)]
    told = [one for one in marks if one.probability >= _LIKELY or one in joined]
    if names_a_secret(stretch) or joined:
        return told
    if surest.probability < _VERY_SURE or _PLAIN.fullmatch(
        stretch, *whole(stretch, surest.start, surest.end)
    ):
        return []
    is_clear = is_english(_without(stretch, surest)) or _hint(stretch) >= CLEAR
    return told if is_clear and _is_told_around(stretch, surest) else []


def _is_named(stretch: str, mark: Mark) -> bool:
    """Return True if a noun for a secret is in the sentence of a mark."""
    end = 0
    for piece in pieces(stretch):
        start, end = end, end + len(piece)
        if start <= mark.start < end:
            return names_a_secret(piece)
    return False


def _is_told_around(stretch: str, mark: Mark) -> bool:
    """Return True if the words around a secret tell that it is one, whatever it looks like.

    An odd token looks like one anywhere: "I bought the lamp kzdd1879".
    """
    start, end = whole(stretch, mark.start, mark.end)
    if len(_WORDS.findall(f"{stretch[:start]} {stretch[end:]}")) < _FEWEST:
        return False
    return any(
        one.start < start + len(_COMMON) and start < one.end and one.probability >= _LIKELY
        for one in _marks(_without(stretch, mark), _JOINED)
    )


def _without(stretch: str, mark: Mark) -> str:
    """Return a stretch with a common number in the place of a mark."""
    start, end = whole(stretch, mark.start, mark.end)
    return stretch[:start] + _COMMON + stretch[end:]


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
    if not is_latin(stretch):
        return -math.inf
    return max(hint(one, "secret") for one in {stretch, *pieces(stretch)})


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
    return not (character.isspace() or character in ends or _UNSPACED.match(character))


def _marks(stretch: str, least: float) -> Iterator[Mark]:
    """Yield the secrets of a stretch that are marked with a probability of `least`.

    What the encoder cuts off is read after it.
    """
    done, said = 0, stretch.rstrip()
    while done < len(said):
        before = said[:_OPENING] if done else ""
        read = packaged("sentences").read(before, said[done:], least=least)
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
