"""Find proper names: capitalised words that aren't merely first in a sentence."""

from __future__ import annotations

import re

from semantic_memory.domain.english.numbers import is_spelled
from semantic_memory.domain.english.tables import phrases, words
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import STOP_WORDS

_HEADLINE = 0.6
"""Share of capitalised words above which a text is a headline, whose capitals mean nothing."""

_NAME = regex(r"[^\W\d_][\w'’&+#-]*")
_SPEAKER = frozenset({"I", "I'm", "I've", "I'd", "I'll"})
_NO_NAMES = STOP_WORDS | words("names.no_names")
_TOLD_OF_USER = words("names.told_of_user")
_BEHIND_NAME = regex(
    rf"\s+(?:{phrases('names.behind_name')}|[a-z]+[^s\W]s|[a-z]+ed|and [A-Z]\w+)\b"
)


def names(text: str) -> list[str]:
    """Return the names of a text, casefolded, without "'s".

    >>> names("Yesterday Maya met Tom's sister in Oslo")
    ['maya', 'tom', 'oslo']
    >>> names("Likes tea"), names("Maya likes tea"), names("My Great Big Headline")
    ([], ['maya'], [])
    """
    capitalised = _NAME.findall(text)
    capitals = sum(word[0].isupper() for word in capitalised)
    if len(capitalised) > 3 and capitals > _HEADLINE * len(capitalised):
        return []
    return [name for found in _NAME.finditer(text) if (name := _name(found, text))]


def _name(found: re.Match[str], text: str) -> str | None:
    word = found[0]
    if not word[0].isupper() or word in _SPEAKER:
        return None
    folded = word.replace("’", "'").casefold().removesuffix("'s")
    if folded in _NO_NAMES:
        return None
    before = text[: found.start()].rstrip()
    if before and before[-1] not in '.!?:"“':
        return folded
    is_name = folded not in _TOLD_OF_USER and (
        word.endswith(("'s", "’s"))
        or any(letter.isupper() for letter in word[1:])
        or (_BEHIND_NAME.match(text, found.end()) and not is_spelled(folded))
    )
    return folded if is_name else None
