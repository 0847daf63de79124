"""Tell moves of a household from moves to another tool, day or team: "moved to Postgres"."""

from __future__ import annotations

import re
from functools import cache
from itertools import takewhile

from semantic_memory.domain.english.notation import spellings
from semantic_memory.domain.english.tables import keys, phrase_list, words
from semantic_memory.domain.english.words import is_word
from semantic_memory.domain.patterns import regex

_PLACES = words("homes.places") | words("homes.named")
_BEHIND = words("homes.behind")
_MOVES = regex(
    r"\b(?:move[sd]?|moving|relocat(?:e[sd]?|ing)|(?:came|come|went|am|is|are)(?= back to)) "
    r"(?:(?:back|over|up|down|out|away) )?"
    r"to (?:(?:the|a|an|my|our) )?(?P<place>[^.;:!?,\n]{1,80})",
    re.IGNORECASE,
)


def moves_elsewhere(text: str) -> bool:
    """Return whether a text tells of moves, none of which may be one to another home.

    >>> moves_elsewhere("we moved to postgres last week"), moves_elsewhere("moved to window seats")
    (True, True)
    >>> moves_elsewhere("i went back to neovim"), moves_elsewhere("we went back to japan")
    (True, False)
    >>> moves_elsewhere("we moved to odense"), moves_elsewhere("i live in odense")
    (False, False)
    """
    moves = _MOVES.findall(text)
    return bool(moves) and not any(map(_may_be_home, moves))


@cache
def _elsewhere() -> frozenset[str]:
    """Return words for what isn't lived in, those of products among them."""
    products = {
        spelling
        for kind in keys("products.kinds")
        for product in phrase_list(f"products.kinds.{kind}")
        for spelling in spellings(product)
        if " " not in spelling
    }
    return words("homes.elsewhere") | products - words("homes.named")


def _may_be_home(place: str) -> bool:
    """Return whether the words behind "moved to" may name a place to live."""
    spoken = [word.strip("'\"()").removesuffix("'s") for word in place.lower().split()]
    named = list(takewhile(lambda word: word not in _BEHIND, spoken))[:4]
    if not _elsewhere().isdisjoint(named):
        return False
    return any(one in _PLACES or not (is_word(one) or one.isdigit()) for one in named)
