"""Choose between "a" and "an"."""

from __future__ import annotations

from semantic_memory.domain.english.tables import listed

_SPOKEN_WITH_Y = listed("articles.spoken_with_y")


def indefinite(word: str) -> str:
    """Return the indefinite article before a word.

    >>> indefinite("nurse"), indefinite("Umbrella"), indefinite("ukulele")
    ('a', 'an', 'a')
    """
    lowered = word.lower()
    return "an" if lowered[:1] in "aeiou" and not lowered.startswith(_SPOKEN_WITH_Y) else "a"
