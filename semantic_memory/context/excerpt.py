"""Show the part of a text that matters: around the question's words, or what it states."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import figures, stem_set
from semantic_memory.language.clauses import without_opener
from semantic_memory.language.identity import denies

CUT = "[...]"
"""Stands for what was left out."""

_PIECES = regex(r"\n|(?<=[.!?;])\s+")
_ENDS = regex(r"(?<=[.!?])\s+")
_FEWEST_STEMS = 3
"""Content words of a sentence that says something whatever was asked."""
_COVERED = 0.6
"""Share of a fact's content words in the sentence that it was drawn from."""
_KNOWN = 0.67
"""Share of a sentence's content words in other lines, from which on they tell it."""
_OF_NOBODY = stem_set("the user and others, the assistant")
_LONGEST = 300  # characters of a piece without a line break or the end of a sentence


def excerpt(text: str, wanted: Collection[str], characters: int) -> str:
    """Return a part of `text` of at most about so many characters, around the `wanted` stems.

    The part begins and ends with whole lines or sentences; a short text stays whole.
    """
    if len(text) <= characters:
        return text
    pieces = _pieces(text)
    worth = [len(set(wanted) & stem_set(text[start:end])) for start, end in pieces]
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


def telling(text: str, wanted: Collection[str] = (), known: frozenset[str] = frozenset()) -> str:
    """Return the sentences of a message that state something, or that have `wanted` stems.

    Questions and exclamations of a word or two that have none are left out, unless nothing else is
    there, and so are sentences that the `known` stems tell: nothing may be left then.
    A line of one sentence, as of a list or of code, stays.

    >>> telling("Thanks, Mel! I went to Oslo by train. How about you?", {"train"})
    'I went to Oslo by train.'
    """
    lines = text.split("\n")
    told = [_told(line, wanted, known) for line in lines]
    if told == lines:
        return text
    return "\n".join(filter(None, told)) or ("" if known else text)


def _told(line: str, wanted: Collection[str], known: frozenset[str]) -> str:
    parts = _ENDS.split(line)
    new = [part for part in parts if not known or not _is_known(part, known)]
    if len(parts) > 1 or known:
        new = [part for part in new if _tells(part, wanted)]
    return " ".join(new)


def _is_known(sentence: str, known: frozenset[str]) -> bool:
    own = stem_set(sentence)
    return len(own & known) >= _KNOWN * len(own)


def _tells(sentence: str, wanted: Collection[str]) -> bool:
    own = stem_set(sentence)
    if not own.isdisjoint(wanted):
        return True
    if sentence.endswith("?"):
        return False
    return len(own) >= _FEWEST_STEMS or (bool(own) and not sentence.endswith("!"))


def source_of(content: str, message: str, resolved: Callable[[str], str]) -> str | None:
    """Return the sentence of a message that a fact was drawn from.

    None if the fact isn't in the words of any sentence. `resolved` resolves the relative days of a
    sentence, as those of the fact are.

    >>> source_of("The user lives in Oslo.", "Hi! I live in Oslo with Maya.", str)
    'I live in Oslo with Maya.'
    """
    own = content_stems(content)
    parts = message.split("\n") if "\n" in message else _ENDS.split(message)
    best = max(parts, key=lambda part: len(own & stem_set(part)))
    read = resolved(best)
    is_drawn = len(own & stem_set(read)) >= _COVERED * len(own)
    return best if is_drawn and figures(content) <= figures(read) else None


def content_stems(fact: str) -> frozenset[str]:
    """Return the stems of a fact without those that stand for the speaker."""
    return stem_set(fact) - _OF_NOBODY


def says_no_more(text: str, other: str, speaker: str = "") -> bool:
    """Return True if another text has all words of a text, its `speaker` apart, and denies alike.

    >>> says_no_more("Maya works in Oslo", "I'm Maya, I work in Oslo with Tom.")
    True
    >>> says_no_more("I don't work in Oslo", "I work in Oslo")
    False
    >>> says_no_more("Oh and I work in Oslo", "Maya works in Oslo")
    True
    """
    own = content_stems(without_opener(text)) - stem_set(speaker)
    return bool(own) and own <= stem_set(other) and denies(text) == denies(other)


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
