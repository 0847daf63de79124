"""Look up words by meaning: opposites, classes of things, colours, synonyms.

The lists are short and written by hand. A missing word costs a decision that a language model can
still take; a wrong one would cost a memory, so only clear cases are listed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import product
from types import MappingProxyType

from semantic_memory.domain.english.tables import lines, mapping, words
from semantic_memory.domain.text import stem


def _stems(entry: str) -> frozenset[str]:
    return frozenset(map(stem, words(entry)))


def _opposites(entry: str) -> Mapping[str, frozenset[str]]:
    """Return the opposites of each stem in an entry with "words / words" in each line."""
    found: dict[str, set[str]] = defaultdict(set)
    for line in lines(entry):
        left, right = line.split("/")
        for one, other in product(map(stem, left.split()), map(stem, right.split())):
            found[one].add(other)
            found[other].add(one)
    return MappingProxyType({one: frozenset(others) for one, others in found.items()})


_OPPOSITES = _opposites("lexicon.opposites")
COLOURS = words("lexicon.colours")
CLASS_OF: Mapping[str, str] = MappingProxyType(
    {word: name for name, listed in mapping("lexicon.classes").items() for word in listed.split()}
)
"""The class of a thing: "pet" of a poodle."""
CLASS_NAMES = words("lexicon.class_names")
"""Words for a whole class: a person who has none of these has no member of it."""
GENERAL = _stems("lexicon.general")
"""Stems that say what kind of thing is liked, not which."""
SINGLE_VALUED = _stems("lexicon.single_valued")
"""Stems of nouns that have one value at a time."""
DIETS = mapping("lexicon.diets")
HAIR_OF = mapping("lexicon.hair")
"""Hair colours by the words for people who have them."""
WORDING = _stems("lexicon.wording")
"""Stems with which a claim is put into words: those alone make no difference to what it says."""
DISTINGUISHING: Mapping[str, frozenset[str]] = MappingProxyType(
    {kind: frozenset(listed.split()) for kind, listed in mapping("lexicon.distinguishing").items()}
)
"""Small words that make two statements different, by kind."""
SYNONYMS = mapping("lexicon.synonyms")
"""Words that count as another in comparisons."""


def opposites(stem: str) -> frozenset[str]:
    """Return the stems that can't be said of the same thing as this one.

    >>> sorted(opposites("wet")), sorted(opposites("tabl"))
    (['dry'], [])
    """
    return _OPPOSITES.get(stem, frozenset())
