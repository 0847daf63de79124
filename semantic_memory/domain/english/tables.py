"""Load the words and phrases of the data files.

A file in ``data/`` holds one subject as TOML. An entry is named by file and key: "calendar.months".
Word lists are split at white space; phrase lists at commas and line ends, and their phrases are
compiled as `notation` says. Each file is read once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, reduce
from operator import getitem
from types import MappingProxyType
from typing import Any

from semantic_memory.domain.data_files import data_of
from semantic_memory.domain.english.notation import one_of
from semantic_memory.domain.patterns import deferred


def words(*entries: str) -> frozenset[str]:
    """Return the words of one or more word lists.

    >>> sorted(words("calendar.weekdays"))[:2]
    ['Friday', 'Monday']
    """
    return frozenset(word for entry in entries for word in listed(entry))


def listed(entry: str) -> tuple[str, ...]:
    """Return the words of a word list in their order.

    >>> listed("calendar.months")[:2]
    ('January', 'February')
    """
    return tuple(_entry(entry).split())


@cache
def phrases(*entries: str) -> str:
    """Return the source of a pattern that matches any phrase of the lists, the longest first.

    It is written when a pattern with it is used, so only `regex` can read it.

    >>> from semantic_memory.domain.patterns import regex
    >>> regex(phrases("calendar.day_parts")).findall("this morning or at night")
    ['morning', 'night']
    """
    return deferred(lambda: one_of(one for entry in entries for one in phrase_list(entry)))


def phrase_list(entry: str) -> list[str]:
    """Return the phrases of a list.

    >>> phrase_list("calendar.day_parts")[:2]
    ['morning', 'afternoon']
    """
    return split(_entry(entry))


def split(phrases: str) -> list[str]:
    """Return the phrases of a list.

    >>> split("good morning, hi+")
    ['good morning', 'hi+']
    """
    return [one.strip() for one in re.split(r"[,\n]", phrases) if one.strip()]


def mapping(entry: str) -> Mapping[str, str]:
    """Return a table of the data files.

    >>> mapping("calendar.abbreviated_units")["h"]
    'hour'
    """
    return MappingProxyType(_entry(entry))


def _entry(name: str) -> Any:
    file, *keys = name.split(".")
    return reduce(getitem, keys, data_of(__package__, file))
