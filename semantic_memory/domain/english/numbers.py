"""Tell spelled numbers from other words, and read them."""

from __future__ import annotations

import re

from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.english.tables import listed, words
from semantic_memory.domain.patterns import regex

_SPELLED = regex(rf"\b{one_of(words('numbers.small', 'numbers.large'))}\b")
_TEENS = (*listed("numbers.small"), *listed("numbers.large")[:7])  # one to nineteen
_TENS = listed("numbers.large")[7:15]  # twenty to ninety
_VALUES = {
    **{word: value for value, word in enumerate(_TEENS, start=1)},
    **{word: 10 * value for value, word in enumerate(_TENS, start=2)},
}
_BELOW_HUNDRED = regex(rf"\b(?:{one_of(_TENS)}[ -]{one_of(_TEENS[:9])}|{one_of(_VALUES)})\b")


def is_spelled(word: str) -> bool:
    """Return whether a word in lower case is a spelled number.

    >>> is_spelled("twelve"), is_spelled("few")
    (True, False)
    """
    return _SPELLED.fullmatch(word) is not None


def with_digits(text: str) -> str:
    """Return a text in lower case with its spelled numbers below a hundred in digits.

    >>> with_digits("the last twenty-four hours, or ninety minutes")
    'the last 24 hours, or 90 minutes'
    """

    def value(found: re.Match[str]) -> str:
        return str(sum(_VALUES[word] for word in re.split("[ -]", found[0])))

    return _BELOW_HUNDRED.sub(value, text)
