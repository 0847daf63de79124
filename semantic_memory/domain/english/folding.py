"""Fold a text for comparison: lower case, contractions and spelled numbers written out.

Facts are told of "the user" or in the user's own words; folded, both read as "i" and "my".
"""

from __future__ import annotations

import unicodedata

from semantic_memory.domain.english.numbers import with_digits
from semantic_memory.domain.english.tables import substitution
from semantic_memory.domain.patterns import regex

_written_out = substitution("spelling.contractions")
_meant = substitution("spelling.idioms")
_OWNED_BY_USER = regex(r"\bthe user's\b|^user's\b")
_BEGINS_WITH_VERB = r"(?:[a-z]+s|[a-z]+ed|can|will|did|had|has|is)\b"
_TOGETHER = regex(r"\bthe user and others\b(?P<owned>'s)?")
_USER = regex(rf"\bthe user\b|^user\b(?=\s+{_BEGINS_WITH_VERB})")


def folded(text: str) -> str:
    """Return a text in lower case, with contractions and spelled numbers written out.

    >>> folded("The user doesn't have two dogs"), folded("I can't wait")
    ('i does not have 2 dogs', 'i look forward')
    """
    plain = unicodedata.normalize("NFKC", text).replace("’", "'").casefold()
    plain = _TOGETHER.sub(lambda found: "our" if found["owned"] else "we", plain)
    plain = _meant(_written_out(plain))
    return with_digits(_USER.sub("i", _OWNED_BY_USER.sub("my", plain)))
