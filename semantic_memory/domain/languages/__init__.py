"""Words of languages other than English: one TOML file a language, named by its ISO 639-1 code.

Word lists are split at white space, phrase lists at commas; a word that ends in ``*`` stands for
all words that begin so. Extend the files in ``data/``; a new file there is a new language.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from types import MappingProxyType

from semantic_memory.domain.data_files import data_of
from semantic_memory.domain.patterns import regex

UNSPACED = frozenset({"zh", "ja", "ko"})
"""Languages whose words aren't told by the spaces around them."""

_TELLING = ("function_words", "speaker", "verbs", "predicates")


@cache
def codes() -> tuple[str, ...]:
    """Return the codes of the languages that have a file.

    >>> codes()[:3]
    ('af', 'ca', 'cs')
    """
    folder = resources.files(__package__) / "data"
    files = (one.name for one in folder.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in files if name.endswith(".toml")))


def listed(code: str, key: str) -> tuple[str, ...]:
    """Return the words or phrases of a language's list; none if it has no such list.

    >>> listed("nl", "speaker")[:2], listed("nl", "no such list")
    (('ik', 'mij'), ())
    """
    text: str = data_of(__package__, code).get(key, "")
    parts = text.split(",") if "," in text else text.split()
    return tuple(" ".join(part.split()) for part in parts)


@cache
def function_words(code: str) -> frozenset[str]:
    """Return the function words of a language.

    >>> "mijn" in function_words("nl")
    True
    """
    return frozenset(listed(code, "function_words"))


@cache
def telling_words() -> MappingProxyType[str, tuple[str, ...]]:
    """Return for each word that shows a language the languages that have it.

    >>> telling_words()["mijn"], telling_words()["van"]
    (('nl',), ('af', 'hu', 'nl'))
    """
    known: dict[str, tuple[str, ...]] = {}
    for code in codes():
        for word in sorted({one for key in _TELLING for one in listed(code, key)}):
            known[word] = (*known.get(word, ()), code)
    return MappingProxyType(known)


@cache
def pattern(code: str, key: str) -> re.Pattern[str] | None:
    """Return a pattern that finds any entry of a language's list, in any case; None without one.

    In an entry ``…`` stands for words between. Languages that don't space their words, and Korean,
    which joins particles to them, find their entries anywhere.

    >>> bool(pattern("de", "speaker").search("Das ist meins")), bool(pattern("zh", "speaker"))
    (True, True)
    """
    entries = sorted(set(listed(code, key)), key=len, reverse=True)
    if not entries:
        return None
    whole = code not in UNSPACED
    sources = (re.escape(one).replace(r"\*", r"\w*").replace("…", r"\b.*") for one in entries)
    found = "|".join(sources)
    return regex(rf"(?<!\w)(?:{found})(?!\w)" if whole else found, re.IGNORECASE | re.DOTALL)
