"""Tell which earlier facts a new one rests on, so that it is to be checked once they fall.

A fact rests on the one that states the reason that it gives ("because I work at Northwind"), and a
plan or habit on the one that introduces what it names ("I walk Pixel", "I have a dog called
Pixel"). Nothing ends by it: a wrong link costs a look.
"""

from __future__ import annotations

from semantic_memory.consolidation.candidates import Read, differ_in_owner, shared_slot
from semantic_memory.domain.english.names import names
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.readings import Reading
from semantic_memory.domain.text import stems
from semantic_memory.domain.values import normalised
from semantic_memory.judging.first_person import in_first_person
from semantic_memory.language.identity import denies
from semantic_memory.language.reasons import reason

_SLOTS = frozenset(
    {"education", "employer", "home", "job", "membership", "partner", "pet", "vehicle"}
)
"""Slots whose value has a name that plans are made with: a firm, a town, a dog. Names of devices
and hobbies are those of kinds."""
_OF_OTHERS = frozenset({"partner", "pet"})
_PLANS = frozenset({"plan", "habit"})
_SURE_SLOT = 0.85
"""Probability of such a slot, whichever it is, from which a fact introduces what it names."""
_MOST = 0.6
"""Share of the words of a reason that a fact of the same slot, or with its name, has to have."""


def may_rest(fact: Fact, reading: Reading | None) -> bool:
    """Return True if a fact gives a reason, or is a plan or habit; an event rests on nothing."""
    kind = None if reading is None else reading.kind
    return kind in _PLANS or (kind != "event" and gives_reason(fact))


def rests(fact: Fact, basis: Fact, read: Read) -> bool:
    """Return True if a fact that may rest on others gives one as its reason, or is a plan of it."""
    given = reason(in_first_person(fact))
    return (given is not None and _states(basis, given, fact, read)) or _introduces(
        basis, fact, read
    )


def gives_reason(fact: Fact) -> bool:
    """Return True if a fact gives a reason, which may be over where the rest of it isn't."""
    return reason(in_first_person(fact)) is not None


def _states(basis: Fact, given: str, fact: Fact, read: Read) -> bool:
    """Return True if `basis` has most words and all names of a reason, and is about the same.

    What a fact gives as its own reason, it doesn't state.
    """
    told = in_first_person(basis)
    told = told.replace(reason(told) or "", "")
    wanted, held = frozenset(stems(given)), frozenset(stems(told))
    named = frozenset(stems(" ".join(names(given))))
    shared = wanted & held
    if not shared or not named <= held or denies(given) != denies(told):
        return False
    alone = read(fact.model_copy(update={"content": given, "reading": None}))
    of_basis = read(basis)
    if alone is not None and of_basis is not None and differ_in_owner(alone, of_basis):
        return False
    if shared == wanted and (len(wanted) > 1 or normalised(given) == normalised(told)):
        return True
    is_close = bool(named) or shared_slot(of_basis, alone) > 0
    return is_close and len(shared) >= _MOST * len(wanted)


def _introduces(basis: Fact, plan: Fact, read: Read) -> bool:
    """Return True if `plan` is the owner's plan or habit, and names what `basis` introduces."""
    if _names(basis).isdisjoint(_names(plan)):
        return False
    introduced, planned = read(basis), read(plan)
    if introduced is None or planned is None:
        return False
    slots = {introduced.slot: introduced.slot_probability, **introduced.other_slots}
    return (
        introduced.slot in _SLOTS
        and sum(slots[one] for one in _SLOTS & slots.keys()) >= _SURE_SLOT
        and (introduced.about == "self" or introduced.slot in _OF_OTHERS)
        and introduced.kind in ("state", "event")
        and planned.about == "self"
        and planned.kind in _PLANS
    )


def _names(fact: Fact) -> frozenset[str]:
    return frozenset(names(in_first_person(fact)))
