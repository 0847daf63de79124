"""Compile phrases, as the data files have them, into the sources of patterns.

    [x]      x may be left out          "favo[u]rite", "any[ ]way[s]", "[so |and ]that"
    (a|b)    a or b                     "good (morning|night)"
    *        more letters               "haha*", "*ly"
    *        by itself: any word        "a * fan of"
    ...      one or more words          "from ... to"
    +        the letter once or more    "hm+"
    #        a digit                    "have #"

A space matches any single white space.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from semantic_memory.domain.patterns import regex

_GROUP = regex(r"\((?P<one_of>[^()\[\]]*)\)|\[(?P<optional>[^()\[\]]*)\]")
_WORD = r"(?<![^ |(\[])\*(?![^ |)\]])"
_SIGN = regex(rf"(?P<word>{_WORD})|(?P<more>\*)|(?P<words>\.\.\.)|(?P<repeated>\w)\+")

# Each sign is one character of Unicode's private use area until the pattern is written.
_ANY_WORD, _MORE, _WORDS, _REPEATED = "\ue000", "\ue001", "\ue002", 0xE100
_SOURCES = str.maketrans(
    {
        " ": r"\s",
        "#": r"\d",
        ".": r"\.",
        "-": r"\-",
        "$": r"\$",
        _ANY_WORD: r"\w+",
        _MORE: r"\w*",
        _WORDS: r"[\w' ]+?",
        **{chr(_REPEATED + ord(letter)): f"{letter}+" for letter in "abcdefghijklmnopqrstuvwxyz"},
    }
)


def one_of(phrases: Iterable[str]) -> str:
    """Return the source of a pattern that matches any of the phrases, the longest first.

    >>> one_of(["like", "likes", "love[s]"])
    '(?:l(?:ikes?|oves?))'
    >>> re.match(one_of(["of", "of course"]), "of course")[0]
    'of course'
    """
    written = {spelling for phrase in phrases for spelling in spellings(_encoded(phrase))}
    return f"(?:{_joined(sorted(written))})"


def any_of(*patterns: str) -> str:
    """Return the source of a pattern that tries each of the patterns, in their order.

    >>> any_of("a+", "b")
    '(?:a+|b)'
    """
    return f"(?:{'|'.join(patterns)})"


def whole(pattern: str) -> str:
    """Return the source of a pattern that matches whole words, or endings such as "'re".

    >>> re.findall(whole(one_of(["we", "'re"])), "we know they're wet")
    ['we', "'re"]
    """
    return rf"(?:\b|(?=')){pattern}\b"


def spellings(phrase: str) -> Iterator[str]:
    """Yield every way of writing a phrase.

    >>> list(spellings("favo[u]rite (book|film)"))
    ['favourite book', 'favourite film', 'favorite book', 'favorite film']
    """
    group = _GROUP.search(phrase)
    if group is None:
        yield phrase
        return
    choices = (group["one_of"] or group["optional"]).split("|")
    for choice in choices if group["optional"] is None else [*choices, ""]:
        yield from spellings(phrase[: group.start()] + choice + phrase[group.end() :])


def _encoded(phrase: str) -> str:
    """Return a phrase with each sign as one character."""

    def encoded(sign: re.Match[str]) -> str:
        match sign.lastgroup:
            case "word":
                return _ANY_WORD
            case "more":
                return _MORE
            case "words":
                return _WORDS
            case _:
                return chr(_REPEATED + ord(sign["repeated"]))

    return _SIGN.sub(encoded, phrase)


def _joined(spellings: Sequence[str]) -> str:
    """Return the source of a pattern for sorted spellings, each beginning written once."""
    if len(spellings) == 1:
        return spellings[0].translate(_SOURCES)
    shared = _shared(spellings[0], spellings[-1])
    rests = [spelling[shared:] for spelling in spellings]
    branches = [_joined(list(group)) for _, group in groupby(filter(None, rests), itemgetter(0))]
    source = "|".join(branches)
    if len(branches) > 1 or (not rests[0] and len(source) > 1):
        source = f"(?:{source})"
    return spellings[0][:shared].translate(_SOURCES) + source + ("" if rests[0] else "?")


def _shared(one: str, other: str) -> int:
    """Return the number of characters with which both begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))
