"""Restoring a fact that was archived, merged, superseded or quarantined."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from typing import Protocol

from semantic_memory.consolidation.beliefs import restored, told_apart
from semantic_memory.consolidation.merging import merged, without
from semantic_memory.consolidation.superseding import unlinked
from semantic_memory.domain.changes import Change, Update
from semantic_memory.domain.facts import Fact, Status
from semantic_memory.domain.ports import FactHistory, Facts


class FactLedger(Facts, FactHistory, Protocol):
    """The roles of the ledger that a restoration reads."""


def restoration(ledger: FactLedger, fact: Fact, reason: str, now: datetime) -> list[Change]:
    """Return the changes that make `fact` active again, apart from the facts that replaced it.

    Links between them that one perhaps changed the other go too.

    Sources, tags and confidence that a merge took over from it are taken back, also from the facts
    that the merged one was merged into later.
    """
    back, others = told_apart(restored(fact, now), list(_relieved(ledger, fact)))
    for other in others:
        back = unlinked(back, other.id)
    others = [unlinked(other, back.id) for other in others]
    return [
        Update(back, "restored", now, reason),
        *(Update(other, "told apart", now, reason) for other in others),
    ]


def absorbed_into(ledger: FactLedger, fact: Fact) -> list[Fact]:
    """Return the facts that were merged into `fact`, and into those."""
    found: list[Fact] = []
    waiting = [fact]
    while waiting:
        parts = [
            part
            for part in ledger.replaced(waiting.pop().id, fact.user_id)
            if part.status is Status.ARCHIVED and part not in found
        ]
        found += parts
        waiting += parts
    return found


def _relieved(ledger: FactLedger, fact: Fact) -> Iterator[Fact]:
    """Yield the successors of `fact`, each without the evidence merged into it from `fact`."""
    seen = {fact.id}
    part, smaller = fact, None  # a part of what replaced it, as it was and as it would be
    merges = True
    while part.superseded_by is not None and part.superseded_by not in seen:
        found = ledger.get([part.superseded_by], part.user_id)
        if not found:
            return
        (whole,) = found
        seen.add(whole.id)
        merges &= part.status is Status.ARCHIVED
        left = _without(ledger, whole, part, smaller) if merges else whole
        yield left
        part, smaller = whole, left


def _without(ledger: FactLedger, whole: Fact, part: Fact, smaller: Fact | None) -> Fact:
    """Return `whole` as if merged with `smaller`, or nothing, in the place of `part`."""
    at = _absorbed_at(ledger, part)
    before = [
        earlier.fact
        for earlier, later in pairwise(ledger.history(whole.id))
        if later.action == "merged" and later.at == at
    ]
    if not before:
        return whole
    rest = [
        other
        for other in ledger.replaced(whole.id, whole.user_id)
        if other.id != part.id and _absorbed_at(ledger, other) == at
    ]
    kept = [before[-1], *rest, *([] if smaller is None else [smaller])]
    taken = merged([before[-1], *rest, part])
    return without(whole, taken, merged(kept) if len(kept) > 1 else before[-1])


def _absorbed_at(ledger: FactLedger, fact: Fact) -> datetime | None:
    steps = [step.at for step in ledger.history(fact.id) if step.action == "absorbed"]
    return steps[-1] if steps else None
