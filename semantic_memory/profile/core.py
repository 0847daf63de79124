"""Derive the core of a user's profile: the facts that nearly every answer may need.

The core is a closed list of slots, filled by the readings of a judge. A fact gets in only if it is
the owner's own clear statement of a lasting state. If a newer statement about the same slot isn't
understood, the older leaves the core and stands in the notes with its date: an empty core is better
than a wrong one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from semantic_memory.consolidation.candidates import Read
from semantic_memory.domain.english.due import due_on
from semantic_memory.domain.facts import Category, Fact, prevailing
from semantic_memory.domain.profile import CORE_FIELDS, CoreField
from semantic_memory.domain.readings import NEAR_THE_OWNER, Reading
from semantic_memory.domain.scope import Scope
from semantic_memory.domain.trust import Trust
from semantic_memory.judging.first_person import in_first_person
from semantic_memory.language.clauses import clauses, is_of_speaker, sentences
from semantic_memory.language.own_speech import MOST_OWN

FIELD_OF_SLOT: Mapping[str, CoreField] = {
    "name": "name",
    "address": "name",
    "pronouns": "name",
    "allergy": "allergies",
    "diet": "diet",
    "health": "health",
    "medication": "health",
    "home": "home",
    "partner": "family",
    "family": "family",
    "pet": "family",
    "job": "work",
    "employer": "work",
    "language": "languages",
    "deadline": "deadlines",
}
"""The slots of the core, and the field that shows each."""
_ONE_AT_A_TIME = frozenset(
    {"name", "address", "pronouns", "home", "partner", "job", "employer", "diet"}
)
"""Slots with one value at a time: the latest statement counts, whatever it says."""
_STATES = frozenset({"state", "habit", "preference"})
_LIKELY = 0.5
"""Probability of its slots together from which a fact counts as a statement of them."""
_CLEAR = 0.6
"""Probability of each reading from which a fact is a clear statement."""
_OWN = 0.5
"""Probability of being about the owner from which a fact is the owner's."""
_ALSO = 0.08
"""Probability from which a fact counts as a statement of a slot beside its likeliest one."""
_OF_ANOTHER = 0.2
"""The same below which a fact of another subject is someone else's."""
ORDER = 0.75
"""Probability from which a sentence is a standing order."""
SOON = timedelta(days=7)
"""Time ahead within which a deadline is in the core."""


class _Stated(NamedTuple):
    fact: Fact
    reading: Reading


def derive_core(
    facts: Sequence[Fact],
    read: Read,
    most: int,
) -> dict[CoreField, tuple[Fact, ...]]:
    """Return at most `most` facts of each slot and scope, pinned ones first, then the latest.

    `read` returns the reading of a fact. The result doesn't depend on the order of `facts`.
    """
    by_slot: dict[tuple[str, Scope], list[_Stated]] = defaultdict(list)
    orders: list[Fact] = []
    for fact in own_statements(facts):
        reading = read(fact)
        if reading is None:
            continue
        if is_standing_order(reading):
            orders.append(fact)
            continue
        stated = _Stated(fact, reading)
        slots = _slots(reading)
        if sum(slots.values()) >= _LIKELY and not _is_of_another(stated):
            for slot in slots:
                by_slot[slot, fact.scope].append(stated)
    fields: dict[CoreField, list[Fact]] = {name: [] for name in CORE_FIELDS}
    stating = _fields_by_fact(by_slot)
    for (slot, _), of_slot in by_slot.items():
        field = FIELD_OF_SLOT[slot]
        doubted = {one.fact.id for one in of_slot if _is_doubted(one.fact, field, stating)}
        fields[field] += _standing(slot, of_slot, doubted)[:most]
    fields["instructions"] = list(_first_of_each_scope(sorted(orders, key=_worth), most))
    once = {name: {fact.id: fact for fact in own}.values() for name, own in fields.items()}
    return {name: tuple(sorted(own, key=_worth)) for name, own in once.items()}


def fields_of(fact: Fact, read: Read) -> frozenset[CoreField]:
    """Return the fields of the core that a fact speaks of, or a message in any of its clauses.

    A statement about somebody else is one of the field of family.
    """
    fields = {
        "family" if _is_of_another(one) else FIELD_OF_SLOT.get(one.reading.slot)
        for one in _clauses_of(fact, read)
    }
    return frozenset(field for field in fields if field is not None)


def is_of_pet(fact: Fact, read: Read) -> bool:
    """Return True if a fact, or a clause of a message, is read to be about a pet."""
    return any(one.reading.slot == "pet" for one in _clauses_of(fact, read))


def _clauses_of(fact: Fact, read: Read) -> list[_Stated]:
    told = [fact]
    if fact.category is Category.CONVERSATION:
        spoken = [one.text for said in sentences(fact.content) for one in clauses(said)]
        told = [fact.model_copy(update={"content": text}) for text in spoken]
    return [_Stated(one, reading) for one in told if (reading := read(one)) is not None]


def own_statements(facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts that the owner of the memory stated and nothing outweighs, by id."""
    return _of_owner(_trusted(facts))


def is_standing_order(reading: Reading) -> bool:
    """Return True if a sentence is an order for all answers to come."""
    return reading.kind == "standing_order" and reading.standing_order >= ORDER


def in_turn(
    fields: Mapping[CoreField, Sequence[Fact]], now: datetime
) -> list[tuple[CoreField, Fact]]:
    """Return the facts of the core that hold at `now`, the most needed ones first.

    The first fact of every field comes before the second of any, so that a small budget has some
    of each, but for allergies, which come all at once: one that is missing may harm. Of deadlines
    only those within SOON.
    """
    shown = {
        name: [fact for fact in facts if name != "deadlines" or is_due_soon(fact, now)]
        for name, facts in fields.items()
    }
    turns = max(map(len, shown.values()), default=0)
    return [
        (name, fact)
        for turn in range(turns)
        for name in CORE_FIELDS
        for fact in _of_turn(name, shown.get(name, []), turn)
    ]


def is_due_soon(fact: Fact, now: datetime) -> bool:
    """Return True if a fact names a day from today to SOON ahead."""
    day = due_on(fact.content, fact.created_at.date())
    return day is not None and now.date() <= day <= (now + SOON).date()


def _of_turn(name: CoreField, facts: Sequence[Fact], turn: int) -> Sequence[Fact]:
    if name == "allergies":
        return [] if turn else facts
    return facts[turn : turn + 1]


def _slots(reading: Reading) -> dict[str, float]:
    """Return the slots that a sentence may state, with their probabilities.

    None of one about a relative that isn't clearly about who belongs to the family: what else is
    true of them may be private.
    """
    likely = {**reading.other_slots, reading.slot: reading.slot_probability}
    slots = {
        slot: likely[slot]
        for slot in likely
        if slot in FIELD_OF_SLOT and (slot == reading.slot or likely[slot] >= _ALSO)
    }
    of_relative = "family" in slots and reading.about_self < _OF_ANOTHER
    belongs = slots.get("family", 0.0) + slots.get("home", 0.0)
    if of_relative and not {"partner", "pet"} & slots.keys() and belongs < _CLEAR:
        return {}
    return slots


def _fields_by_fact(
    by_slot: Mapping[tuple[str, Scope], Sequence[_Stated]],
) -> dict[str, set[CoreField]]:
    found: dict[str, set[CoreField]] = defaultdict(set)
    for (slot, _), stated in by_slot.items():
        for one in stated:
            found[one.fact.id].add(FIELD_OF_SLOT[slot])
    return found


def _is_doubted(fact: Fact, field: CoreField, stating: Mapping[str, Collection[CoreField]]) -> bool:
    """Return True if a newer statement perhaps changed what a fact states in a field.

    Of a fact in several fields, one about another of them leaves the rest certain.
    """
    if len(stating[fact.id]) < 2:
        return bool(fact.perhaps_changed)
    return any(field in stating.get(one.newer or "", {field}) for one in fact.perhaps_changed)


def _standing(slot: str, stated: Sequence[_Stated], doubted: Collection[str]) -> list[Fact]:
    """Return the facts of a slot that may stand in the core, the first ones first."""
    ordered = sorted(stated, key=lambda one: _worth(one.fact))
    if slot in _ONE_AT_A_TIME:
        latest = max(one.fact.stated_at for one in ordered)
        ordered = [one for one in ordered if one.fact.is_pinned or one.fact.stated_at == latest]
    return [
        one.fact
        for one in ordered
        if one.fact.is_pinned or (one.fact.id not in doubted and _is_clear(slot, one))
    ]


def _is_clear(slot: str, stated: _Stated) -> bool:
    """Return True if a fact is its owner's own clear statement of a lasting state."""
    fact, reading = stated
    about = (
        reading.about_self >= _OWN
        or (slot in NEAR_THE_OWNER and reading.about != "other")
        or is_of_speaker(in_first_person(fact))  # "My wife and I live in Rome"
    )
    is_state = reading.kind in _STATES or slot == "deadline"
    return about and is_state and min(reading.keep, sum(_slots(reading).values())) >= _CLEAR


def _is_of_another(stated: _Stated) -> bool:
    """Return True if a fact states a value of somebody else, which says nothing of the owner's."""
    fact, reading = stated
    return (
        reading.slot not in NEAR_THE_OWNER
        and reading.about_self < _OF_ANOTHER
        and not is_of_speaker(in_first_person(fact))
    )


def _trusted(facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts of the user's own trust that no other fact outweighs, in order of id."""
    known = {fact.id: fact for fact in facts}
    return [
        fact
        for fact in sorted(facts, key=lambda fact: fact.id)
        if fact.trust >= Trust.USER
        and len(fact.content) <= MOST_OWN  # a longer text is a document
        and prevailing([fact, *(known[one] for one in fact.contested_by if one in known)])[0]
        is fact
    ]


def _of_owner(facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts that the owner of the memory said, or that nobody said.

    Where several people speak, the owner is the one after whom the user id is named.
    """
    speakers = {fact.source.speaker for fact in facts if fact.source.role == "user"}
    if len(speakers) < 2:
        return list(facts)
    return [
        fact
        for fact in facts
        if fact.source.speaker is None or fact.source.speaker.casefold() == fact.user_id.casefold()
    ]


def _first_of_each_scope(facts: Iterable[Fact], most: int) -> Iterator[Fact]:
    """Yield the first `most` facts of each scope: no agent's push out those that others need."""
    taken: Counter[Scope] = Counter()
    for fact in facts:
        taken[fact.scope] += 1
        if taken[fact.scope] <= most:
            yield fact


def _worth(fact: Fact) -> tuple[bool, float, str]:
    return not fact.is_pinned, -fact.stated_at.timestamp(), fact.id
