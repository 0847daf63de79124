"""What keeps two sentences from being the same, however alike their vectors are: pure rules."""

from __future__ import annotations

from semantic_memory.consolidation.lexicon import OPPOSITES
from semantic_memory.consolidation.statements import Statement
from semantic_memory.domain.text import stems


def disagreements(a: Statement, b: Statement) -> tuple[str, ...]:
    """Why `a` and `b` can't be merged; empty if nothing speaks against it."""
    return tuple(
        reason
        for reason, holds in (
            ("negation", a.negated != b.negated),
            ("numbers", a.numbers != b.numbers),
            ("dates", a.dates != b.dates),
            ("time of speaking", a.relative != b.relative),
            ("names", bool(missing_names(a, b) or missing_names(b, a))),
            ("question", a.question != b.question),
            ("hedged", a.hedged != b.hedged),
            ("opposites", bool(opposed(a, b))),
            ("roles", _other_roles(a, b)),
        )
        if holds
    )


def missing_names(a: Statement, b: Statement) -> frozenset[str]:
    """Names of `a` that `b` doesn't mention in any case."""
    return frozenset(name for name in a.names if name not in b.words and f"{name}'s" not in b.words)


def opposed(a: Statement, b: Statement) -> tuple[str, str] | None:
    """A word only in `a` and its opposite only in `b`."""
    left = {_stem(word): word for word in a.words - b.words}
    right = {_stem(word): word for word in b.words - a.words}
    for stem, word in left.items():
        for other_stem, other in right.items():
            if frozenset((stem, other_stem)) in OPPOSITES:
                return word, other
    return None


def _stem(word: str) -> str:
    return next(iter(stems(word)), word)


def _other_roles(a: Statement, b: Statement) -> bool:
    """Whether the words they share stand in another order, which no passive accounts for."""
    shared = a.content & b.content
    if len(shared) < 2:
        return False
    left = [stem for stem in dict.fromkeys(a.stems) if stem in shared]
    right = [stem for stem in dict.fromkeys(b.stems) if stem in shared]
    if a.passive != b.passive:
        # "chased by a cat" is the same as "a cat chases" only if the subject has changed
        return left[0] == right[0]
    return left != right and a.relative_clause == b.relative_clause
