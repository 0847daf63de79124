"""Tell commands from statements: "explain recursion", "convert 3 cups to ml", "tell me more"."""

from __future__ import annotations

from collections.abc import Sequence

from semantic_memory.domain.english.tables import words
from semantic_memory.domain.english.words import WORD, Form, can_be_noun, forms

_BEHIND = words("commands.behind", "predications.determiners")
_COPULA = words("predications.copula")
_STANDING_VERBS = words("predications.standing_verbs")


def is_command(clause: str) -> bool:
    """Return whether a clause opens with the verb of a command.

    >>> is_command("explain recursion to us"), is_command("draw 2 circles"), is_command("tell me")
    (True, True, True)
    >>> is_command("free tier ends in May"), is_command("order 66 is late"), is_command("dogs bark")
    (False, False, False)
    """
    spoken = WORD.findall(clause.lower())[:4]
    if len(spoken) < 2 or Form.BASE not in forms(spoken[0]) or spoken[1] in _COPULA:
        return False
    if spoken[1] in _BEHIND or _is_amount(spoken[1:]):
        return True
    return not can_be_noun(spoken[0]) and not any(map(_is_finite, spoken[1:3]))


def _is_finite(word: str) -> bool:
    return forms(word) == {Form.THIRD} or word in _STANDING_VERBS


def _is_amount(spoken: Sequence[str]) -> bool:
    """Return True for a number of things: "3 cups", "20 big bags"."""
    return spoken[0].isdigit() and any(
        word.endswith("s") and can_be_noun(word) and word not in _STANDING_VERBS
        for word in spoken[1:]
    )
