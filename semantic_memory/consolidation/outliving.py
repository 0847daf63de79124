"""Find states that a newer statement says are over, whatever its words: "the cast came off"."""

from __future__ import annotations

from semantic_memory.consolidation.claims import claims, conflicting
from semantic_memory.consolidation.replacing import Reason
from semantic_memory.consolidation.subjects import other_person, owners_of
from semantic_memory.consolidation.telling import Telling, is_cued, is_question
from semantic_memory.domain.english import renewals
from semantic_memory.domain.english.negation import NEGATIONS, denies
from semantic_memory.domain.english.outlived import body_parts, outcomes, states
from semantic_memory.domain.english.persons import OTHERS
from semantic_memory.domain.english.renewals import KIN, Clause
from semantic_memory.domain.english.tables import phrase_list
from semantic_memory.domain.patterns import regex
from semantic_memory.domain.text import stem

_LEAST = 0.1
_LEAST_TURNED = 0.25
_BESIDE = frozenset(map(stem, phrase_list("renewals.beside_denial")))
_NAMES = regex(r"\b(?:is|are) (?:called|named)\b|\bname is\b")
_BIRTH = "pregnant"  # ended by the arrival of somebody else
_WITH_A_PARTNER = frozenset({"single", "together", "engaged", "married", "with_others"})


def outlived(clause: Clause, new: Telling) -> Reason | None:
    """Find the event that ends a state of the user: "pregnant", then "our girl was born"."""
    held = states(clause.plain)
    if (
        not held
        or _NAMES.search(clause.plain)
        or renewals.is_of_the_past(clause.plain)
        or renewals.claims_nothing(clause.plain)
    ):
        return None
    for told, part in new.passages:
        if _claims(part):
            over = outcomes(told)
            for state in held & over.keys():
                if _is_of_the_same(clause, part, state, over[state]):
                    return Reason(f"over: {state}", _LEAST)
    return None


def contradicted(clause: Clause, new: Telling) -> Reason | None:
    """Find the opposite stance: "I can't stand olives", then "I love olives now"."""
    own = claims(clause.plain)
    if not own:
        return None
    for part in new.clauses:
        apart = not _claims(part) or not is_cued(part.plain) or other_person(clause, part)
        if not apart and (found := conflicting(own, claims(part.plain))):
            return Reason(f"turned: {found[0]}", _LEAST_TURNED)
    return None


def _claims(part: Clause) -> bool:
    return not (
        renewals.claims_nothing(part.plain)
        or renewals.is_of_the_past(part.plain)
        or renewals.is_to_come(part.plain)
        or is_question(part.plain)
        or part.plain.endswith("?")
    )


def _is_of_the_same(clause: Clause, part: Clause, state: str, who: str) -> bool:
    """Return whether an event may be the user's own, and of the same part of the body."""
    first, *of = who.split()
    own = first == "user" or first in clause.words or bool(body_parts(frozenset({first})))
    if not (own or (state == _BIRTH and first not in OTHERS)) or not KIN.isdisjoint((first, *of)):
        return False
    if state not in _WITH_A_PARTNER and other_person(clause, part):
        return False
    if not owners_of(part) <= {word.removesuffix("s") for word in clause.words}:
        return False
    hurt, well = body_parts(clause.words), body_parts(part.words)
    return not (hurt and well and hurt.isdisjoint(well))


def turned(clause: Clause, new: Telling) -> Reason | None:
    """Find what is denied now and wasn't, or no longer is: "I don't want to learn it any more"."""
    if renewals.is_of_the_past(clause.plain):
        return None
    denied = denies(clause.plain.split())
    for part in new.clauses:
        if denies(part.plain.split()) is denied or is_question(part.plain):
            continue
        if not renewals.turns_round(part.plain) or part.plain.endswith("?"):
            continue
        own, others = _about(clause), _about(part)
        if own and own == others and not other_person(clause, part):
            return Reason(f"turned: {' '.join(sorted(own))}", _LEAST_TURNED)
    return None


def _about(clause: Clause) -> frozenset[str]:
    return clause.content - _BESIDE - NEGATIONS
