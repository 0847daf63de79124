"""Correct words of change with a slip of the keys: "swiched", "transfered"."""

from __future__ import annotations

from collections.abc import Iterator

from semantic_memory.domain.english.tables import phrase_list
from semantic_memory.domain.english.words import is_word
from semantic_memory.domain.patterns import regex

_WORD = regex(r"[a-z]{6,}")
_WHOLE = regex(r"(?<![*\w])[a-z]{7,}(?![*\w])")
_ENTRIES = ("now", "perhaps", "replaced", "turned", "ends.behind", "ends.before", "ends.changes")


def _slips() -> Iterator[tuple[str, str]]:
    """Yield words of change with a letter left out or two letters turned round."""
    listed = (one for entry in _ENTRIES for one in phrase_list(f"renewals.{entry}"))
    for word in sorted({word for one in listed for word in _WHOLE.findall(one)}):
        for place in range(1, len(word) - 1):
            before, behind = word[:place], word[place + 1 :]
            yield before + behind, word
            yield before + behind[0] + word[place] + behind[1:], word


_SLIPS = {slip: word for slip, word in _slips() if slip != word}


def without_slips(folded: str) -> str:
    """Return a folded text with its words of change as they are meant.

    >>> without_slips("we swiched, it stated")
    'we switched, it stated'
    """
    return _WORD.sub(lambda found: _meant(found[0]), folded)


def _meant(word: str) -> str:
    meant = _SLIPS.get(word)
    return word if meant is None or is_word(word) else meant
