"""Figures, names and denials of a statement: what two statements of one thing must share."""

from __future__ import annotations

import re

from semantic_memory.domain.patterns import regex

_FIGURE = regex(r"\d+(?:[.,:/-]\d+)*")
_WORD = regex(r"[^\W\d_][\w'’-]*")
_STARTS = regex(r"(?:^|[.!?:\"(]\s*|\n)$")
_DENIAL = regex(
    r"\b(?:not?|never|none|nobody|nothing|without|neither|nor|no longer|cannot)\b|n['’]t\b",
    re.IGNORECASE,
)
_COUNTS = {
    word: str(count)
    for count, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
        " fifteen sixteen seventeen eighteen nineteen twenty".split()
    )
    if word != "one"  # most often a pronoun
}


def figures(text: str) -> frozenset[str]:
    """Return the numbers of a statement, spelled ones as digits.

    >>> sorted(figures("Two dogs, 4 and 7.5"))
    ['2', '4', '7.5']
    """
    found = set(_FIGURE.findall(text))
    found |= {_COUNTS[word] for word in text.casefold().split() if word in _COUNTS}
    return frozenset(found)


def names(text: str) -> frozenset[str]:
    """Return the capitalised words inside sentences, in lower case.

    >>> sorted(names("Tom moved to Leeds. He likes Leeds"))
    ['leeds']
    """
    return frozenset(
        word[0].casefold()
        for word in _WORD.finditer(text)
        if word[0][0].isupper()
        and not _STARTS.search(text[max(0, word.start() - 3) : word.start()])
        and word[0].split("'")[0].split("’")[0] != "I"
    )


def denies(text: str) -> bool:
    """Return True if a statement denies something."""
    return len(_DENIAL.findall(text)) % 2 == 1


def disagree(one: str, other: str) -> bool:
    """Return True if two statements can't say the same: other figures, names, or a denial.

    >>> disagree("We have two dogs", "we've got 2 dogs")
    False
    >>> disagree("My flight is on the 4th", "my flight is on the 5th")
    True
    """
    if figures(one) != figures(other) or denies(one) != denies(other):
        return True
    own = {word[0].casefold() for word in _WORD.finditer(one)}
    others = {word[0].casefold() for word in _WORD.finditer(other)}
    return bool(names(one) - others) and bool(names(other) - own)
