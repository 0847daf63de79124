"""Candidates: the few pairs of a user's facts that are worth a judge's time.

For each new fact its nearest by vectors and those that state the same slot; of these, pairs of
statements that last, by one speaker. Nearly all pairs of a store are unrelated: what isn't compared
can't be ended wrongly.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.facts import Fact, Source
from semantic_memory.domain.readings import NEAR_THE_OWNER, Reading
from semantic_memory.domain.text import stems

_BLOCK_CELLS = 4_000_000  # size of a block of similarities: 16 MB
_LASTING = frozenset({"state", "habit", "preference", "decision", "standing_order"})
_DATED = frozenset({"deadline", "travel", "schedule", "budget", "goal"})
"""Slots of plans that something newer may change; other plans are wishes."""
_APPOINTED = frozenset({"deadline", "schedule"})
"""Slots of events that are to come."""
_BEGUN = frozenset(
    {"home", "job", "employer", "partner", "diet", "medication", "vehicle", "device"}
)
_OF_NOBODY = frozenset(stems("the user"))
_SEVERAL = frozenset({"device", "education", "family", "goal", "hobby", "possession", "travel"})
_SURELY_OWN = 0.8
"""Probability of being about the owner from which a statement surely is."""
SLOT = 0.35
"""Probability from which a slot is taken as stated."""
_OF_TWO = 0.5
"""Factor of the probability of a slot that a statement states beside another one."""
_SAME_SLOT = 0.25
"""Cosine by which a pair of one slot ranks above its similarity."""
SIMILARITY = 0.3
"""Cosine similarity from which two facts are compared."""
NEAREST = 8
"""Number of nearest facts considered for each fact."""
_OF_SLOT = 8
"""Number of facts of the same slot considered for each fact, the latest ones."""
_JUDGED = 4
"""Number of pairs judged for each fact, the likeliest ones."""
_LASTS = 0.4
"""Probability of being worth keeping from which an older statement may be ended."""
_ALONE = 0.5
"""Probability of standing alone that both statements need."""
_TELLING = 0.3
"""Probability of being worth keeping from which a newer statement may end one."""

Rows = tuple[int, int]
Read = Callable[[Fact], Reading | None]
"""Returns the reading of a fact; None if it is in a language that the judge can't read."""


def may_end(reading: Reading | None) -> bool:
    """Return True if a statement with this reading lasts, so that a newer one may end it.

    So does an event that begins a state, and an appointment: "I moved to Oslo" says where somebody
    lives, "the kick-off is on Wednesday at ten" may move. What needs the sentence before it states
    nothing by itself.
    """
    if reading is None:
        return True
    lasts = (
        reading.kind in _LASTING
        or (reading.kind == "event" and reading.slot in _BEGUN | _APPOINTED)
        or (reading.kind == "plan" and reading.slot in _DATED)
    )
    return lasts and reading.keep >= _LASTS and reading.alone >= _ALONE


def may_change(reading: Reading | None) -> bool:
    """Return True if a statement with this reading may end an older one."""
    return reading is None or (reading.keep >= _TELLING and reading.alone >= _ALONE)


def share_matter(older: Fact, newer: Fact) -> bool:
    """Return True if two facts share a word of content, apart from the names of who said them."""
    names = {stem for fact in (older, newer) for stem in stems(fact.source.speaker or "")}
    return bool((stems_of(older) & stems_of(newer)) - names - _OF_NOBODY)


def stems_of(fact: Fact) -> frozenset[str]:
    """Return the stems of a fact's words of content."""
    return frozenset(stems(fact.content))


def slot_of(reading: Reading | None) -> str | None:
    """Return the slot that a statement is read to state, if any."""
    if reading is None or reading.slot == "none" or reading.slot_probability < SLOT:
        return None
    return reading.slot


def shared_slot(one: Reading | None, other: Reading | None) -> float:
    """Return the lower probability of a slot that two statements share; 0 if they share none.

    Of what somebody has several at a time, such as hobbies, a new one says nothing of the others.
    Where the first statement may state another slot too, a change of one leaves the rest: "I'm
    diabetic and don't eat pork". Where both may tell a job or its employer, these are one slot.
    """
    if one is None or other is None:
        return 0.0
    if both_of_work := min(one.work, other.work):
        return both_of_work
    if not _state_the_same(one, other) or one.slot in _SEVERAL:
        return 0.0
    sure = min(one.slot_probability, other.slot_probability)
    return sure * _OF_TWO if one.other_slots else sure


def _state_the_same(one: Reading, other: Reading) -> bool:
    slot = slot_of(one)
    of_work = min(one.work, other.work)
    return bool(of_work) or (slot is not None and slot == slot_of(other))


def are_of_two_people(one: Reading | None, other: Reading | None) -> bool:
    """Return True if two statements state the same slot, one surely of the owner, one of another.

    Slots such as `partner` are about somebody else by themselves.
    """
    if one is None or other is None or not _state_the_same(one, other):
        return False
    return one.slot not in NEAR_THE_OWNER and differ_in_owner(one, other)


def differ_in_owner(one: Reading, other: Reading) -> bool:
    """Return True if one statement surely is about the owner, and the other surely isn't."""
    lower, higher = sorted((one.about_self, other.about_self))
    return lower <= 1.0 - _SURELY_OWN and higher >= _SURELY_OWN


def are_comparable(older: Fact, newer: Fact) -> bool:
    """Return True unless two different people said them, or the newer's extractor has decided.

    A message without a name was said by none of those with names. What was added tells no speaker,
    and is compared with everything. Statements of one message stand beside each other.
    """
    if newer.source.decided or not older.messages.isdisjoint(newer.messages):
        return False
    return may_be_of_one_speaker(older, newer)


def may_be_of_one_speaker(older: Fact, newer: Fact) -> bool:
    """Return True unless two different people said two facts."""
    one, other = older.source, newer.source
    return one.speaker == other.speaker or None in (_said_by(one), _said_by(other))


def _said_by(source: Source) -> str | None:
    """Return the speaker of a message, "" if it has no name; None of what was added."""
    return source.speaker or ("" if source.role == "user" else None)


def candidates(
    facts: Sequence[Fact],
    vectors: Matrix,
    reading: Callable[[int], Reading | None],
    firsts: Sequence[int],
    heads: Sequence[int],
) -> list[Rows]:
    """Return the pairs of rows to judge, the older row first; `facts` are in the order of telling.

    `firsts` are the rows to compare with `heads`, at most four pairs for each; `reading` returns
    the reading of a row.
    """
    found: set[Rows] = set()
    by_slot: dict[str, list[int]] = defaultdict(list)
    read = set(firsts)
    for row in heads:  # what no extraction has read is only read where it is near
        if (row in read or facts[row].reading) and (slot := slot_of(reading(row))):
            by_slot[slot].append(row)
    alone = len(firsts) < len(heads)
    for row, earlier, later in near_rows(vectors, firsts, heads):
        of_slot = by_slot[slot] if (slot := slot_of(reading(row))) else []
        # what is new is compared with what was said before it; what is new and old, with both
        for near, same in (
            (earlier, [other for other in of_slot if other < row][-_OF_SLOT:]),
            (later, [other for other in of_slot if other > row][:_OF_SLOT]),
        )[: 1 + alone]:
            scored: list[tuple[float, Rows]] = []
            for other in dict.fromkeys((*near, *same)):
                older, newer = min(row, other), max(row, other)
                one_slot = slot is not None and slot == slot_of(reading(other))
                if (
                    are_comparable(facts[older], facts[newer])
                    and (one_slot or share_matter(facts[older], facts[newer]))
                    and may_end(reading(older))
                    and may_change(reading(newer))
                    and not are_of_two_people(reading(older), reading(newer))
                ):
                    score = float(vectors[row] @ vectors[other]) + _SAME_SLOT * one_slot
                    scored.append((score, (older, newer)))
            scored.sort(key=lambda one: (-one[0], one[1]))
            found.update(pair for _, pair in scored[:_JUDGED])
    return sorted(found)


def near_rows(
    vectors: Matrix, firsts: Sequence[int], heads: Sequence[int]
) -> Iterator[tuple[int, list[int], list[int]]]:
    """Yield each row of `firsts` with its nearest rows before it, and those behind it."""
    columns = np.array(heads)
    others = vectors[columns]
    height = max(1, _BLOCK_CELLS // max(1, len(heads)))
    for start in range(0, len(firsts), height):
        block = list(firsts[start : start + height])
        similarities = vectors[block] @ others.T
        for number, row in enumerate(block):
            near = np.flatnonzero(similarities[number] >= SIMILARITY)
            near = near[np.argsort(-similarities[number, near], kind="stable")]
            rows = columns[near]
            yield (
                row,
                rows[rows < row][:NEAREST].tolist(),
                rows[rows > row][:NEAREST].tolist(),
            )
