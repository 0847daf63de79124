"""Superseding: the choice between two conflicting facts, and the state of the other one.

A fact ends another only if it is trusted as much and about as certain. Otherwise both stay, and
each is marked as contested by the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from semantic_memory.domain.facts import Cause, Fact, Status
from semantic_memory.domain.trust import Trust

_LESS_SURE = 0.3
"""Most confidence by which a fact may lie below one that it ends."""
_ROUNDING = 1e-6
_LONGEST_QUOTE = 300
_STEP = timedelta(microseconds=1)


def may_retire(winner: Fact, loser: Fact) -> bool:
    """Return True if `winner` may end the validity of `loser`.

    It must be trusted as much, be about as certain, and be stated no earlier: what an agent or a
    tool learned since may be true. An assistant has no other source than its user, whose earlier
    statement therefore ends what it says.
    """
    return (
        winner.trust >= loser.trust
        and winner.confidence >= loser.confidence - _LESS_SURE - _ROUNDING
        and (
            winner.trust is loser.trust
            or winner.stated_at >= loser.stated_at
            or loser.trust is Trust.ASSISTANT
        )
    )


def dated_by_log(facts: Sequence[Fact], now: datetime) -> list[Fact]:
    """Return facts, given in the order written, with dates to compare them by.

    What is dated ahead of now was said while a clock was wrong, and would win over all that is said
    later. It counts as said right after what was written before it. To be compared only: what is
    written keeps the dates of the original.
    """
    ahead = [fact.created_at > now or fact.stated_at > now for fact in facts]
    if not any(ahead):
        return [*facts]
    sure = (fact.stated_at for fact, wrong in zip(facts, ahead, strict=True) if not wrong)
    last = min(sure, default=now) - len(facts) * _STEP
    found = []
    for fact, wrong in zip(facts, ahead, strict=True):
        if not wrong:
            last = max(last, fact.stated_at)
        elif fact.created_at <= now:  # only its confirmation came while the clock was wrong
            fact = fact.model_copy(update={"confirmed_at": None})
        else:
            last += _STEP
            fact = fact.model_copy(update={"created_at": last, "confirmed_at": None})
        found.append(fact)
    return found


def superseded(loser: Fact, winner: Fact, cause: Cause) -> Fact:
    """Return `loser` superseded, its validity ending with the latest statement of `winner`."""
    return loser.model_copy(
        update={
            "status": Status.SUPERSEDED,
            "superseded_by": winner.id,
            "valid_to": max(loser.valid_from, winner.stated_at),
            "ended_by": cause,
            "perhaps_changed": _without(loser, cause.newer),
        }
    )


def perhaps_changed(older: Fact, cause: Cause) -> Fact:
    """Return `older` linked to the newer statement of `cause`, the latest decision last.

    An earlier link to the same statement is replaced.
    """
    links = (*_without(older, cause.newer), cause)
    return older.model_copy(update={"perhaps_changed": links})


def unlinked(older: Fact, newer: str) -> Fact:
    """Return `older` without its link to a newer statement."""
    return older.model_copy(update={"perhaps_changed": _without(older, newer)})


def cause(
    winner: Fact,
    decided_by: str,
    reasons: Iterable[str],
    at: datetime,
    probability: float | None = None,
) -> Cause:
    """Return the cause by which `winner` ends or changes another fact, quoting its beginning."""
    said = winner.content  # the whole statement, where it isn't a long message
    return Cause(
        newer=winner.id,
        decided_by=decided_by,
        reason="; ".join(reasons),
        quote=said if len(said) <= _LONGEST_QUOTE else f"{said[: _LONGEST_QUOTE - 1]}…",
        probability=probability,
        at=at,
    )


def _without(fact: Fact, newer: str | None) -> tuple[Cause, ...]:
    return tuple(link for link in fact.perhaps_changed if newer is None or link.newer != newer)


def contested(fact: Fact, rival: Fact) -> Fact:
    """Return `fact` marked as contested by `rival`."""
    known = dict.fromkeys((*fact.contested_by, rival.id))
    return fact.model_copy(update={"contested_by": tuple(known)})
