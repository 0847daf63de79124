"""Load the words and phrases of the data files.

A file in ``data/`` holds one subject as TOML. An entry is named by file and key: "calendar.months".
Word lists are split at white space; phrase lists at commas and line ends, and their phrases are
compiled as `notation` says. Each file is read once.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache, reduce
from importlib import resources
from operator import getitem
from types import MappingProxyType
from typing import Any

from semantic_memory.domain.english.notation import any_of, one_of, phrase, spellings, whole
from semantic_memory.domain.patterns import deferred, regex


def words(*entries: str) -> frozenset[str]:
    """Return the words of one or more word lists.

    >>> sorted(words("fragments.plurals"))[:3]
    ['children', 'family', 'folks']
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

    >>> regex(phrases("calendar.day_parts")).findall("this morning or at night")
    ['morning', 'night']
    """
    return deferred(lambda: one_of(one for entry in entries for one in split(_entry(entry))))


@cache
def phrases_with_choices(entry: str) -> str:
    """Return the source of a pattern that tries the phrases of a list in order.

    Unlike `phrases` it doesn't write out every choice: a phrase with many groups has thousands of
    spellings, whose pattern takes seconds to compile.

    >>> regex(phrases_with_choices("setters.ways.sets")).search("they put it up to 30")[0]
    'put it up to'
    """
    return deferred(lambda: any_of(*phrase_of(entry)))


def phrase_lists(entry: str) -> tuple[str, ...]:
    """Return for each list of an array the source of a pattern that tries its phrases in order.

    >>> [re.findall(source, "she joined") for source in phrase_lists("attributes.employer.begins")]
    [[], ['joined']]
    """
    return tuple(any_of(*map(phrase, split(listed))) for listed in _entry(entry))


def phrase_list(entry: str) -> list[str]:
    """Return the phrases of a list.

    >>> phrase_list("facets.vehicle.values")
    ['carless']
    """
    return split(_entry(entry))


def phrase_of(entry: str, **slots: str) -> tuple[str, ...]:
    """Return the source of a pattern for each phrase of a list, with patterns for its slots.

    >>> [re.search(source, "she died")["who"] for source in phrase_of("facets.home.values")]
    []
    """
    return tuple(phrase(one, **slots) for one in split(_entry(entry)))


def split(phrases: str) -> list[str]:
    """Return the phrases of a list.

    >>> split("good morning, hi+")
    ['good morning', 'hi+']
    """
    return [one.strip() for one in re.split(r"[,\n]", phrases) if one.strip()]


def lines(entry: str) -> tuple[str, ...]:
    """Return the lines of an entry."""
    return tuple(line.strip() for line in _entry(entry).splitlines() if line.strip())


def keys(name: str) -> tuple[str, ...]:
    """Return the keys of a file or of a table in it, in their order.

    >>> keys("attributes"), keys("attributes.home")
    (('home', 'employer', 'occupation'), ('value', 'begins'))
    """
    return tuple(_entry(name))


def mapping(entry: str) -> Mapping[str, str]:
    """Return a table of the data files.

    >>> mapping("spelling.slang")["wanna"]
    'want to'
    """
    return MappingProxyType(_entry(entry))


def rows(entry: str) -> Sequence[Mapping[str, str]]:
    """Return an array of tables of the data files.

    >>> rows("replies.forms")[1]["statement"]
    'I am {answer}'
    """
    return tuple(map(MappingProxyType, _entry(entry)))


def substitution(entry: str) -> Callable[[str], str]:
    """Return a function that replaces each phrase of a table, in any case, as the table says.

    >>> substitution("spelling.slang")("Gonna paint")
    'going to paint'
    """
    meant = cache(
        lambda: {
            spelling: meaning
            for written, meaning in mapping(entry).items()
            for spelling in spellings(written)
        }
    )
    pattern = regex(whole(deferred(lambda: one_of(meant()))), re.IGNORECASE)

    def replaced(found: re.Match[str]) -> str:
        return meant()[" ".join(found[0].lower().split())]

    return lambda text: pattern.sub(replaced, text)


def _entry(name: str) -> Any:
    file, *keys = name.split(".")
    return reduce(getitem, keys, _file(file))


@cache
def _file(name: str) -> dict[str, Any]:
    text = (resources.files(__package__) / "data" / f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
