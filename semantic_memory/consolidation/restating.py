"""Find another value in a statement of the same form: "cologne is where I live now"."""

from __future__ import annotations

from semantic_memory.consolidation.replacing import LEAST_SHARED, UNITS, Reason, listed
from semantic_memory.consolidation.subjects import other_person
from semantic_memory.consolidation.telling import (
    Telling,
    is_held_back,
    is_question,
    is_surely_cued,
)
from semantic_memory.domain.english import renewals
from semantic_memory.domain.english.negation import NEGATIONS, denies
from semantic_memory.domain.english.renewals import KIN, Clause, clause_of
from semantic_memory.domain.english.restatements import (
    DAYS,
    act,
    cleft,
    deed,
    denies_plan,
    is_planned,
    placing,
    possession,
    rate,
)
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import STOP_WORDS, stem

_OFTEN = frozenset(map(stem, ("once", "twice")))
_ADDRESS = frozenset(map(stem, ("address", "email", "contact", "mail")))
_MAIL = regex(r"\S@\S+\.\w")
_OWN = frozenset({"i", "we", "my", "our"})


def restated(clause: Clause, new: Telling) -> Reason | None:
    """Find another value in a form that has one value at a time."""
    if renewals.is_of_the_past(clause.plain) or renewals.is_besides(clause.plain):
        return None
    for part in new.clauses:
        if is_question(part.plain) or is_held_back(part.plain) or other_person(clause, part):
            continue
        if is_surely_cued(part.plain) and any(form(clause, part) for form in _FORMS):
            return Reason(f"restated: {listed(clause.content)}", LEAST_SHARED)
    return None


def abandoned(clause: Clause, new: Telling) -> Reason | None:
    """Find the denial of a plan: "we're releasing on Tuesday", then "we aren't releasing"."""
    if not is_planned(clause.plain) or denies(clause.plain.split()):
        return None
    for part in new.clauses:
        if not denies_plan(part.plain) or is_question(part.plain) or is_held_back(part.plain):
            continue
        about = part.content - NEGATIONS
        told = about | part.numbers | part.dates
        same = told <= _said(clause) and part.words & DAYS <= clause.words
        if about and same and not other_person(clause, part):
            return Reason(f"abandoned: {listed(about)}", LEAST_SHARED)
    return None


def _turned_round(clause: Clause, part: Clause) -> bool:
    """Find "chemistry is what I study now"."""
    found = cleft(part.plain)
    if found is None or _OWN.isdisjoint(clause.words) or not found.is_told_by(clause.plain):
        return False
    about = _stems(f"{found.noun} {renewals.without_now(found.rest)}")
    return bool(about) and about < _stems(clause.plain) and _is_other(found.value, clause)


def _placed(clause: Clause, part: Clause) -> bool:
    """Find "the offsite will be in vienna instead"."""
    one, other = placing(clause.plain), placing(part.plain)
    if one is None or other is None or _spoken(one.thing) != _spoken(other.thing):
        return False
    return _is_other_of_kind(other.place, clause_of(one.place))


def _possessed(clause: Clause, part: Clause) -> bool:
    """Find "friday is my day off now"."""
    one, other = possession(clause.plain), possession(part.plain)
    if one is None or other is None or one[1] != other[1] or not KIN.isdisjoint(one[1].split()):
        return False
    return _is_other(other[0], clause_of(one[0]))


def _paced(clause: Clause, part: Clause) -> bool:
    """Find "up to 30 km a week"."""
    one, other = rate(clause.plain), rate(part.plain)
    if one is None or other is None or _OWN.isdisjoint(clause.words):
        return False
    return (
        one.span == other.span
        and (one.unit == other.unit or not (one.unit and other.unit))
        and one.amount != other.amount
        and part.content - UNITS - _OFTEN <= clause.content
        and bool(part.content)
    )


def _done(clause: Clause, part: Clause) -> bool:
    """Find "we host on fly now"."""
    one, other = act(clause.plain), act(part.plain)
    if one is None or other is None or one[:2] != other[:2]:
        return False
    return _is_other_of_kind(other.value, clause_of(one.value))


def _taken_over(clause: Clause, part: Clause) -> bool:
    """Find "josh chairs the committee now"."""
    one, other = deed(clause.plain), deed(part.plain)
    return one is not None and other is not None and one[1:] == other[1:] and one.who != other.who


def _readdressed(clause: Clause, part: Clause) -> bool:
    """Find "my new address is jo@example.org" where another one was."""
    addresses = [{word for word in one.numbers if _MAIL.search(word)} for one in (clause, part)]
    return (
        all(addresses)
        and addresses[0].isdisjoint(addresses[1])
        and all("my" in one.words or "our" in one.words for one in (clause, part))
        and part.content - _ADDRESS <= clause.content
        and clause.content - _ADDRESS <= part.content
    )


_FORMS = (_turned_round, _placed, _possessed, _paced, _done, _taken_over, _readdressed)


def _spoken(text: str) -> frozenset[str]:
    return frozenset(text.split()) - STOP_WORDS


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, _spoken(text)))


def _said(clause: Clause) -> frozenset[str]:
    return clause.content | clause.numbers | clause.dates | _spoken(clause.plain)


def _is_other(value: str, clause: Clause) -> bool:
    """Return whether a value is another than what a clause says."""
    return bool(_spoken(value) - clause.words) and not _spoken(clause.plain) <= _spoken(value)


def _is_other_of_kind(value: str, clause: Clause) -> bool:
    """Return whether a value is another one than a clause gives, both or none with figures."""
    after = clause_of(value)
    return (
        bool(clause.dates) == bool(after.dates)
        and bool(clause.numbers) == bool(after.numbers)
        and _is_other(value, clause)
    )
