"""Read which products a clause says that somebody uses, by kind: browsers, banks, languages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from types import MappingProxyType
from typing import NamedTuple

from semantic_memory.domain.english.notation import any_of, one_of
from semantic_memory.domain.english.tables import keys, phrase_list, phrase_of, words
from semantic_memory.domain.english.words import Form, forms
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import stems

SEVERAL = words("products.ways.several")
"""Kinds of products of which somebody may use several at once."""
_SELF = regex(r"\b(?:i|we)\b")
_OF_A_THING = regex(r"(?:is|runs?|in|on|with|to|into)\b")
_LEARNT = words("products.ways.learnt")
# "the whole office went over", "everything builds"
_ALL = regex(
    rf"(?:and |so |but )*(?:(?:the |our )?(?:whole|entire) [a-z]+"
    rf"|{one_of(words('products.ways.everybody'))} (?:is|has|went|now|just|[a-z]+s)\b)"
)
_IS_MINE = regex(r" is (?:now )?(?:my|our) ")


class Use(NamedTuple):
    """A product in use."""

    product: str
    own: bool
    """True if the user uses it: "we switched to linear", "on lebara now"."""
    of_a_thing: bool
    """True if a thing of the user's is or runs on it: "our wiki is in confluence"."""
    before: str
    """The words before what tells of the use: "our wiki"."""

    @property
    def stems(self) -> frozenset[str]:
        """The stems of the product's name."""
        return frozenset(filter(None, stems(self.product)))


@cache
def _kinds() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the wordings of each kind, which are written at their first use."""
    return tuple(_written())


def _written() -> Iterator[tuple[str, re.Pattern[str]]]:
    for kind in keys("products.kinds"):
        ways = "products.used.learnt" if kind in _LEARNT else "products.used.by_them"
        named = one_of(phrase_list(f"products.kinds.{kind}"))
        told = any_of(*(_unnamed(one) for one in phrase_of(ways, product=named)))
        yield kind, regex(rf"(?<![\w'])(?:{told})(?![\w'])")


def _unnamed(source: str) -> str:
    """Return the source of a wording whose product isn't a named group, so that many can meet."""
    return source.replace("(?P<product>", "(")


def _use(match: re.Match[str]) -> Use:
    before = match.string[: match.start()]
    opening = before.split()[:1]
    own = (
        _SELF.search(before) is not None
        or _ALL.match(before) is not None
        or _IS_MINE.search(match[0]) is not None
        or all(not forms(word).isdisjoint({Form.PAST, Form.ING}) for word in opening)
    )
    of_a_thing = _OF_A_THING.match(match[0]) is not None and opening in (["my"], ["our"])
    return Use(next(filter(None, match.groups())), own, of_a_thing, before)


@lru_cache(maxsize=16_384)
def uses(plain: str) -> Mapping[str, Use]:
    """Return the products that a folded clause says are used, by their kinds.

    >>> uses("we track bugs in jira")["tickets"]
    Use(product='jira', own=True, of_a_thing=False, before='we track bugs ')
    >>> uses("firefox is my browser now")["browser"].product
    'firefox'
    """
    found = ((kind, pattern.search(plain)) for kind, pattern in _kinds())
    return MappingProxyType({kind: _use(match) for kind, match in found if match})
