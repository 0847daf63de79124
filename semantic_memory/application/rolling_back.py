"""Roll back what came from one source: withdraw its memories, revive the facts that it retired."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from semantic_memory.domain.actor import actor
from semantic_memory.domain.changes import Change, Update
from semantic_memory.domain.facts import Fact, Status
from semantic_memory.domain.ports import Ledger

REASON = "its successor was rolled back"


def withdrawing(gone: Mapping[str, Fact], now: datetime, reason: str) -> Iterator[Change]:
    """Yield the changes that quarantine active memories, until `history.restore`."""
    for fact in gone.values():
        if fact.status is Status.ACTIVE:
            left = fact.model_copy(update={"status": Status.QUARANTINED})
            yield Update(left, "withdrawn", now, reason, actor())


def reviving(ledger: Ledger, gone: Mapping[str, Fact], now: datetime) -> Iterator[Change]:
    """Yield the changes that make the facts active again which `gone` alone had superseded.

    A fact whose successor was superseded by one that stays is superseded by that one then.
    """
    for successor in gone.values():
        for fact in ledger.replaced(successor.id, successor.user_id):
            if fact.id in gone or fact.status is not Status.SUPERSEDED:
                continue
            heir = _staying(ledger, successor, gone)
            update = (
                {
                    "status": Status.ACTIVE,
                    "valid_to": None,
                    "superseded_by": None,
                    "ended_by": None,
                }
                if heir is None
                else {"superseded_by": heir}
            )
            yield Update(fact.model_copy(update=update), "revived", now, REASON, actor())


def _staying(ledger: Ledger, fact: Fact, gone: Mapping[str, Fact]) -> str | None:
    """Return the id of the nearest successor of a fact that stays; None if it has none."""
    seen = {fact.id}
    successor = fact.superseded_by
    while successor is not None and successor in gone and successor not in seen:
        seen.add(successor)
        successor = gone[successor].superseded_by
    if successor is None or successor in seen or not ledger.get([successor], fact.user_id):
        return None
    return successor
