"""The rules that every ledger follows: the next state of a fact, and of the lines that rest on it.

A line never survives the facts and messages that it rests on: a ledger enforces it in the
transaction in which a fact changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from semantic_memory.domain.changes import Cut, Evict, Forget, Update
from semantic_memory.domain.errors import ConcurrentUpdateError, NotFoundError
from semantic_memory.domain.facts import Category, Fact, Source, Status, Tombstone
from semantic_memory.domain.feed import EventKind
from semantic_memory.domain.fields import Sort
from semantic_memory.domain.messages import SessionInfo
from semantic_memory.domain.profile import (
    PROFILE_FIELDS,
    Line,
    Origin,
    prevails,
    said_in,
)
from semantic_memory.domain.text import lexical_text
from semantic_memory.domain.values import levels

MOST_RUNS = 1_000
"""Runs of jobs that are kept."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_WHILE_PINNED = "forgotten while pinned"
_HARDLY_STOOD = timedelta(days=1)


# ---------------------------------------------------------------- facts


def unknown(fact_id: str) -> NotFoundError:
    """Return the error for an id that names no fact, or a forgotten one."""
    return NotFoundError(f"no memory {fact_id!r}")


def updated(old: Fact, change: Update) -> Fact:
    """Return the next version of a fact. Raises NotFoundError and ConcurrentUpdateError."""
    fact = change.fact
    if old.status is Status.FORGOTTEN:
        raise unknown(fact.id)
    if old.version != fact.version:
        raise ConcurrentUpdateError(
            f"memory {fact.id!r} has version {old.version} by now, not {fact.version}: read it"
            " again, then change it"
        )
    return fact.model_copy(update={"version": old.version + 1})


def forgetting(old: Fact, change: Forget) -> Update:
    """Return the update that a forget amounts to."""
    tombstone = old.model_copy(update={"status": Status.FORGOTTEN})
    action = _WHILE_PINNED if old.is_pinned else "forgotten"
    return Update(tombstone, action, change.at, change.reason, change.by)


def cutting(old: Fact, change: Cut) -> Update:
    """Return the update that a cut amounts to."""
    left = old.model_copy(update={"content": change.content})
    return Update(left, "cut", change.at, change.reason, change.by)


def erased(fact: Fact) -> Fact:
    """Return a forgotten fact without its texts and sources: its id and its times."""
    return fact.model_copy(
        update={
            "content": "",
            "tags": (),
            "references": (),
            "source": Source(),
            "corroborations": (),
            "ended_by": None,
            "perhaps_changed": (),
            "follows": (),
            "rests_on": (),
            "metadata": {},
            "body": None,
        }
    )


def audited(fact: Fact, action: str, at: datetime, reason: str, by: str | None) -> Fact:
    """Return a forgotten fact as a listing shows it, from its latest change."""
    tombstone = Tombstone(
        at=at,
        reason=reason,
        by=by,
        was_pinned=action == _WHILE_PINNED,
        states=fact.version - 1,
    )
    return erased(fact).model_copy(update={"tombstone": tombstone})


_UNQUOTED = "the statement that decided it was forgotten"


def unquoted(fact: Fact, newer: Collection[str]) -> Fact:
    """Return a fact without what it quotes of these newer statements, and without links to them."""
    links = tuple(link for link in fact.perhaps_changed if link.newer not in newer)
    ended = fact.ended_by
    if ended is not None and ended.newer in newer:
        ended = ended.model_copy(update={"newer": None, "quote": None, "reason": _UNQUOTED})
    if ended == fact.ended_by and links == fact.perhaps_changed:
        return fact
    return fact.model_copy(update={"ended_by": ended, "perhaps_changed": links})


def archiving(fact: Fact, change: Evict) -> Update:
    """Return the update that evicts a fact."""
    evicted = fact.model_copy(update={"status": Status.ARCHIVED})
    return Update(evicted, "archived", change.at, f"over the cap of {change.cap:,} facts")


_KINDS = {
    Status.FORGOTTEN: EventKind.FORGOTTEN,
    Status.SUPERSEDED: EventKind.SUPERSEDED,
}


def kind_of_event(old: Fact | None, new: Fact) -> EventKind:
    """Return the kind of event that made `new` of `old`, or of nothing."""
    if old is None:
        return EventKind.OBSERVED if new.category is Category.CONVERSATION else EventKind.ADDED
    if new.status is old.status:
        return EventKind.UPDATED
    return _KINDS.get(new.status, EventKind.UPDATED)


def shows_successor(status: Status | None) -> bool:
    """Return True if the event that led to this status has a memory that replaces another."""
    return status in (Status.SUPERSEDED, Status.ARCHIVED)


def searched_text(fact: Fact) -> str:
    """Return the text of a fact that is searched by words."""
    return lexical_text(fact.text, fact.source.speaker, fact.created_at.timestamp())


def has_same_words(fact: Fact, other: Fact) -> bool:
    """Return True if two facts are searched by the same words."""
    one, two = ((each.text, each.source.speaker, each.created_at) for each in (fact, other))
    return one == two or searched_text(fact) == searched_text(other)


def places(sources: Iterable[Source]) -> tuple[str, ...]:
    """Return `session/message` of every message in `sources`, without a session `/message`."""
    return tuple(dict.fromkeys(f"{s.session_id or ''}/{m}" for s in sources for m in s.message_ids))


def placing(fact: Fact) -> Mapping[Sort, float]:
    """Return what a fact is sorted by in listings; a time in microseconds since 1970."""
    return {
        "time": (fact.created_at - _EPOCH) // timedelta(microseconds=1),
        "importance": fact.importance,
        "confidence": fact.confidence,
    }


def followed(start: str, depth: int, step: Callable[[Collection[str]], set[str]]) -> frozenset[str]:
    """Return what lies at most `depth` steps from `start`, itself aside; each is visited once."""
    seen = {start}
    front = {start}
    for _ in range(depth):
        front = step(front) - seen
        if not front:
            break
        seen |= front
    return frozenset(seen - {start})


# ---------------------------------------------------------------- lines


@dataclass(frozen=True, slots=True)
class EraseResting:
    """Erase the lines that rest on any of `sources`, past ones included."""

    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EndResting:
    """End the standing lines that rest on `source`."""

    source: str
    unless_on: str | None = None
    """A line that rests on this fact too continues: its writer knew of the change."""
    origin: Origin | None = None
    """Only lines of this origin."""


@dataclass(frozen=True, slots=True)
class HandOver:
    """Let the lines that rest on `source` rest on `heir` too."""

    source: str
    heir: str


def consequence(old: Fact, new: Fact) -> EraseResting | EndResting | HandOver | None:
    """Return the consequence of a fact's change for the lines of its user that rest on it."""
    if new.status is Status.FORGOTTEN:
        return EraseResting((old.id, *said_in([old])))
    if old.content != new.content:
        return EndResting(old.id)
    if old.status is not Status.ACTIVE or new.status is Status.ACTIVE:
        return None
    if new.status is Status.SUPERSEDED:
        return EndResting(old.id, unless_on=new.superseded_by)
    if new.superseded_by is not None:  # merged into another fact that says the same
        return HandOver(old.id, new.superseded_by)
    return EndResting(old.id, origin="derived")


def ended(line: Line, at: datetime) -> Line | None:
    """Return a line as it ends at `at`.

    None for a derived line that hardly stood: there are too many of these to keep them all.
    """
    if line.origin == "derived" and line.valid_from > at - _HARDLY_STOOD:
        return None
    return line.model_copy(update={"valid_to": max(line.valid_from, at)})


def is_grounded(line: Line, statuses: Iterable[Status]) -> bool:
    """Return True if a line may be written that rests on facts with these statuses.

    A derived line rests on active facts only, others on any that isn't forgotten.
    """
    if line.origin == "derived":
        return all(status is Status.ACTIVE for status in statuses)
    return Status.FORGOTTEN not in statuses


def replaced(line: Line, standing: Iterable[Line]) -> list[Line] | None:
    """Return the lines that `line` replaces among those that stand in its layer.

    None if one of them prevails over it. A line of the history replaces nothing, and neither does
    a derived line of the profile, which stands beside others of its field.
    """
    if line.layer not in PROFILE_FIELDS:
        return []
    others = list(standing)
    if line.origin == "derived":
        return None if any(other.origin != "derived" for other in others) else []
    return None if any(prevails(other, line) for other in others) else others


# ---------------------------------------------------------------- summaries


class SessionPart(NamedTuple):
    """Some facts of one category in one session."""

    session_id: str
    category: str
    number: int
    first_at: datetime
    last_at: datetime
    recorded_at: datetime
    """Earliest recording."""
    seen_at: datetime
    """Latest recording or use."""


def session_infos(parts: Iterable[SessionPart]) -> list[SessionInfo]:
    """Return the summary of each session, newest first."""
    sessions: dict[str, list[SessionPart]] = {}
    for part in parts:
        sessions.setdefault(part.session_id, []).append(part)
    infos = []
    for session_id, own in sessions.items():
        numbers: Counter[str] = Counter()
        for part in own:
            numbers[part.category] += part.number
        infos.append(
            SessionInfo(
                session_id=session_id,
                created_at=min(part.recorded_at for part in own),
                last_accessed_at=max(part.seen_at for part in own),
                messages=numbers[Category.CONVERSATION],
                first_at=min(part.first_at for part in own),
                last_at=max(part.last_at for part in own),
                by_category=dict(numbers),
                log_bytes=0,
            )
        )
    return sorted(infos, key=lambda info: (info.last_at, info.session_id), reverse=True)


def tag_counts(tagged: Iterable[tuple[Sequence[str], int]]) -> dict[str, int]:
    """Return the number of facts by tag, from the tags of a fact and the number of facts with them.

    A fact counts for the topics above its tags too: `work.deadlines` for `work`.
    """
    counts: Counter[str] = Counter()
    for tags, number in tagged:
        counts.update(dict.fromkeys((topic for tag in tags for topic in levels(tag)), number))
    return counts
