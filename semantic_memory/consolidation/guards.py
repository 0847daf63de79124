"""Keep apart sentences that aren't the same, however alike their vectors are: pure rules."""

from __future__ import annotations

from semantic_memory.consolidation.statements import Statement
from semantic_memory.domain.english.lexicon import DISTINGUISHING, opposites
from semantic_memory.domain.english.words import Form, forms
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import stem

_GOING_ON = regex(r"\b(?:am|is|are) [a-z]+ing\b")
_BE = frozenset({"am", "is", "are", "be", "been", "being"})
_THEN = {
    frozenset({"am", "is", "are"}): frozenset({"was", "were"}),
    frozenset({"have", "has"}): frozenset({"had"}),
}
"""Forms of the past by those of the present."""
_DIRECTION = "direction"
_IF_BOTH = frozenset({_DIRECTION, "period", "order", "frequency"})
"""Kinds of words that tell statements apart only if each has one that the other lacks."""


def disagreements(a: Statement, b: Statement) -> tuple[str, ...]:
    """Return why `a` and `b` can't be merged; empty if nothing speaks against it."""
    return tuple(
        reason
        for reason, holds in (
            ("negation", a.negated != b.negated),
            ("numbers", a.numbers != b.numbers),
            ("codes", a.codes != b.codes),
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


def distinctions(a: Statement, b: Statement) -> tuple[str, ...]:
    """Return the kinds of small words that tell `a` and `b` apart, however much else they share.

    "I should back up", "my brother-in-law", "every other Monday", "Noor is my mentor".
    """
    found = [
        kind
        for kind, words in DISTINGUISHING.items()
        if (left := a.words & words) != (right := b.words & words)
        and (kind not in _IF_BOTH or (left - right and right - left))
        and (kind != _DIRECTION or a.content == b.content)
    ]
    if _finishes(a, b) or _finishes(b, a) or _was(a, b) or _was(b, a):
        found.append("tense")
    if a.kin != b.kin:
        found.append("people")
    if a.owners & b.words or b.owners & a.words:
        found.append("owners")
    return tuple(found)


def missing_names(a: Statement, b: Statement) -> frozenset[str]:
    """Return the names of `a` that `b` doesn't mention in any case."""
    return frozenset(name for name in a.names if name not in b.words and f"{name}'s" not in b.words)


def opposed(a: Statement, b: Statement) -> tuple[str, str] | None:
    """Return a word only in `a` and its opposite only in `b`, if there is such a pair."""
    left = sorted(a.words - b.words)
    right = {stem(word): word for word in sorted(b.words - a.words)}
    return min(
        ((word, right[other]) for word in left for other in opposites(stem(word)) & right.keys()),
        default=None,
    )


def _finishes(a: Statement, b: Statement) -> bool:
    """Return whether what goes on in one is past in the other: "is studying", "studied"."""
    return bool(b.past and _GOING_ON.search(a.plain) and not _BE & b.words)


def _was(a: Statement, b: Statement) -> bool:
    """Return whether what is so in one was so in the other: "lives in rome", "lived in rome"."""
    if a.past or not b.past:
        return False
    for now, then in _THEN.items():
        if now & a.words and then & b.words and not (now & b.words or then & a.words):
            return True
    if _BE & b.words:
        return False  # "is chased by a cat"
    present = {stem(one) for one in a.words - b.words if Form.THIRD in forms(one)}
    return any(stem(one) in present for one in b.words - a.words if Form.PAST in forms(one))


def _other_roles(a: Statement, b: Statement) -> bool:
    """Return whether the shared words stand in another order, which no passive accounts for."""
    shared = a.content & b.content
    if len(shared) < 2:
        return False
    left = [stem for stem in dict.fromkeys(a.stems) if stem in shared]
    right = [stem for stem in dict.fromkeys(b.stems) if stem in shared]
    if a.passive != b.passive:
        # "chased by a cat" is the same as "a cat chases" only if the subject has changed
        return left[0] == right[0]
    return left != right and a.relative_clause == b.relative_clause
