"""A judge of pairs for tests: one value of a statement swapped for another is a change."""

from typing import Literal

from semantic_memory.judging.ports import Verdict
from semantic_memory.judging.reading import FactReader
from semantic_memory.testing import ScriptedPairJudge, ScriptedSentenceJudge

_SHARED = 3  # first words that both have, as "I live in" in "I live in Oslo"
_MOST = 2  # further words


def plain_change(older: str, newer: str) -> Literal["over", "same"] | None:
    """Return `over` for "I live in Bergen" and "I live in Oslo now."."""
    one, other = (text.strip(" .").removesuffix(" now").split() for text in (older, newer))
    if sorted(_told(one)) == sorted(_told(other)):
        return "same"
    shared = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    few = max(len(one), len(other)) <= shared + _MOST
    return "over" if shared >= _SHARED and few else None


def _told(words: list[str]) -> list[str]:
    return [word.lower() for word in words if word != "do"]


def plain_pair_judge() -> ScriptedPairJudge:
    """Return a judge that knows plain changes only."""
    return ScriptedPairJudge(plain_change)


READ = FactReader(ScriptedSentenceJudge())
"""Reads every fact as a lasting state of its owner, of no slot."""
OVER = Verdict(1.0, 0.0, "scripted", is_final=True)
