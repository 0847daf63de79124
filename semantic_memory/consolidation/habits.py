"""Find another time, place, company or frequency of what somebody does: "twice a week now"."""

from __future__ import annotations

from semantic_memory.consolidation.replacing import UNITS
from semantic_memory.domain.english import renewals
from semantic_memory.domain.english.circumstances import HAD, circumstances, frequency
from semantic_memory.domain.english.renewals import Clause
from semantic_memory.domain.english.restatements import RATE, rate
from semantic_memory.domain.english.tables import words
from semantic_memory.domain.english.tellers import base
from semantic_memory.domain.english.words import is_adverb
from semantic_memory.domain.text import STOP_WORDS, stem

_MERELY = words("restatements.habits.merely")
_TRAINING = frozenset(map(stem, words("restatements.habits.training")))
_TRAINS = stem("train")
_TIME = words("numbers.dimensions.time")
_OFTEN = frozenset(map(stem, ("once", "twice")))
_OWN = frozenset({"i", "we", "my", "our"})
_PARTICLES = frozenset("out up off over away".split())


def paced(clause: Clause, part: Clause) -> bool:
    """Find "up to 30 km a week"."""
    one, other = rate(clause.plain), rate(part.plain)
    if one is None or other is None or _OWN.isdisjoint(clause.words):
        return False
    return (
        one.span == other.span
        and (
            one.unit == other.unit
            or not (one.unit and other.unit)
            or {one.unit, other.unit} <= _TIME
        )
        and (one.amount, one.unit) != (other.amount, other.unit)
        and (one.amount != other.amount or bool(one.unit and other.unit))
        and bool(part.content)
        and _things(RATE.sub(" ", part.plain)) <= _things(RATE.sub(" ", clause.plain))
    )


def done_as_often(clause: Clause, part: Clause) -> bool:
    """Find "I deploy every day now" where it was once a month."""
    one, other = frequency(clause.plain), frequency(part.plain)
    if one is None or other is None or one.said == other.said:
        return False
    return _is_of_one_act(one.rest, other.rest)


def done_elsewhere(clause: Clause, part: Clause) -> bool:
    """Find "I walk the dog after work now" where it was before work."""
    return any(
        one.kind == other.kind
        and _said(one.said) != _said(other.said)
        and _is_of_one_act(one.rest, other.rest, HAD if one.kind == "served" else frozenset())
        for one in circumstances(clause.plain)
        for other in circumstances(part.plain)
    )


def _said(text: str) -> frozenset[str]:
    """Return the words of a circumstance, with "before" and "after", without articles."""
    return frozenset(map(stem, text.split())) - _OWN - {"the", "a"}


def _is_of_one_act(before: str, after: str, had: frozenset[str] = frozenset()) -> bool:
    """Return whether the newer of two texts is about nothing but what the older one tells of."""
    told, known = _things(after) - had, _things(before) - had
    particles = [_PARTICLES.intersection(one.split()) for one in (before, after)]
    return bool(told) and told <= known and particles[0] == particles[1]


def _things(plain: str) -> frozenset[str]:
    """Return the stems of what is done: "run" of "i only run now"."""
    spoken = (one.strip(",.") for one in renewals.without_now(plain).split())
    kept = (
        one for one in spoken if one not in STOP_WORDS and not is_adverb(one) and one not in _MERELY
    )
    things = frozenset(stem(base(one)) for one in kept) - UNITS - _OFTEN - _OWN
    return (things - _TRAINING) | {_TRAINS} if things & _TRAINING else things
