"""Rules for facts that are stated again, edited or restored. Pure functions."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from pydantic import JsonValue

from semantic_memory.domain.changes import Add, Change, Update
from semantic_memory.domain.facts import CALLER, Cause, Fact, Source, Status
from semantic_memory.domain.scope import Scope
from semantic_memory.domain.values import derived_id, normalised

CONFIRMATION_GAIN = 0.02
"""Gain in confidence of a fact that is stated again."""
CONFIRMATION_SPACING = timedelta(days=1)
"""Least time between statements for a gain: what is repeated within a day is said once."""


class Believed(NamedTuple):
    """Changes that store new facts, and the ids under which they are stored."""

    changes: list[Change]
    ids: list[str]
    """Id of the memory that states each of the facts, in their order."""


def believed(
    facts: Iterable[Fact], known: Callable[[Fact], Fact | None], now: datetime
) -> Believed:
    """Return the changes that add new facts and confirm known ones.

    `known` looks up the active memory of the same scope with the same normalised content.
    """
    stored: dict[tuple[Scope, str], Fact | None] = {}
    becomes: dict[tuple[Scope, str], Fact] = {}
    ids = []
    for fact in facts:
        words = fact.scope, normalised(fact.content)
        if words not in stored:
            stored[words] = known(fact)
        old = becomes.get(words) or stored[words]
        becomes[words] = fact if old is None else confirmed(old, fact)
        ids.append(becomes[words].id)
    changes: list[Change] = [
        Add(new) if stored[words] is None else Update(new, "confirmed", now)
        for words, new in becomes.items()
        if new != stored[words]
    ]
    return Believed(changes, ids)


def confirmed(fact: Fact, again: Fact) -> Fact:
    """Return `fact` confirmed by `again`: higher confidence; sources, tags and metadata of both.

    Unchanged if `fact` has the source of `again` already, so that a replay confirms nothing. A less
    trusted statement adds its source and tags only; a more trusted one replaces trust and
    confidence.
    """
    if again.source.message_ids and again.source in fact.sources:
        return fact
    return fact.model_copy(
        update={
            **_strengthened(fact, again),
            "corroborations": _joined(fact, again),
            "tags": tuple(dict.fromkeys((*fact.tags, *again.tags))),
            "references": tuple(dict.fromkeys((*fact.references, *again.references))),
            "metadata": united([fact, again]),
            "body": again.body or fact.body,
        }
    )


def _strengthened(fact: Fact, again: Fact) -> dict[str, Any]:
    """Return the values that a statement as trusted as `fact`, or more, gives it."""
    if again.trust < fact.trust:
        return {}
    more = again.trust > fact.trust
    confidence = again.confidence if more else max(fact.confidence, again.confidence)
    if not more and confirms(fact, again):
        confidence = min(1.0, confidence + CONFIRMATION_GAIN)
    return {
        "confidence": confidence,
        "trust": again.trust,
        "importance": max(fact.importance, again.importance),
        "confirmed_at": max(fact.stated_at, again.created_at),
        "expires_at": latest([fact.expires_at, again.expires_at]),
    }


def confirms(fact: Fact, again: Fact) -> bool:
    """Return True if stating `fact` again makes it more certain.

    It must come a day later, and be the first of its session to do so, or the first of callers.
    """
    sessions = [source.session_id for source in fact.sources]
    known = sessions.count(again.source.session_id) - (sessions[0] == again.source.session_id)
    apart = abs(again.stated_at - fact.stated_at)
    return again.trust >= fact.trust and apart >= CONFIRMATION_SPACING and not known


def latest(times: Iterable[datetime | None]) -> datetime | None:
    """Return the latest of times of expiry, of which None stands for never."""
    found = list(times)
    return None if None in found else max(time for time in found if time is not None)


def revised(fact: Fact, changes: dict[str, Any], now: datetime) -> tuple[Fact, Fact | None]:
    """Return `fact` with `changes`, and its earlier state for `as_of` questions, if any.

    A change of content or body leaves such a state: a superseded fact with an id of its own.
    """
    new = fact.model_copy(update=changes)
    if new.text == fact.text or fact.valid_from >= now:
        return new, None
    before = fact.model_copy(
        update={
            "id": derived_id(fact.id, str(fact.version)),
            "status": Status.SUPERSEDED,
            "valid_to": now,
            "superseded_by": fact.id,
            "ended_by": Cause(newer=fact.id, decided_by=CALLER, reason="updated", at=now),
            "version": 1,
        }
    )
    links = {"perhaps_changed": (), "follows": (), "rests_on": ()}
    return new.model_copy(update={"valid_from": now, **links}), before


RESTORED_CONFIDENCE = 0.5
"""Least confidence of a fact restored from the archive, so that it isn't archived at once."""
OTHER_VALUES = "other_values"
"""Key in a fact's metadata: what the facts merged into it had under keys of its own, by key."""
_MOST_VALUES = 32  # of each key: the latest; the fact's history has all
_SIDES = "kept_apart"  # key in a fact's metadata; its value maps each dispute to the fact's side


def restored(fact: Fact, now: datetime) -> Fact:
    """Return `fact` active again, after it was superseded, merged, archived or quarantined."""
    faded = fact.status is Status.ARCHIVED and fact.superseded_by is None
    return fact.model_copy(
        update={
            "status": Status.ACTIVE,
            "valid_to": None,
            "superseded_by": None,
            "ended_by": None,
            "confidence": max(fact.confidence, RESTORED_CONFIDENCE) if faded else fact.confidence,
            "confirmed_at": max(now, fact.confirmed_at or now),
        }
    )


def quarantining(fact: Fact, error: str, now: datetime) -> Update:
    """Return the change that quarantines a memory which can't be read."""
    unread = fact.model_copy(update={"status": Status.QUARANTINED})
    return Update(unread, "quarantined", now, f"reading it fails: {error}")


def told_apart(fact: Fact, others: Sequence[Fact]) -> tuple[Fact, list[Fact]]:
    """Put `fact` and `others` on two sides of a dispute, so that they are never merged again.

    Nor does one supersede the other again. A merged fact takes over the sides of its parts.
    """
    dispute = derived_id(fact.id, str(fact.version))
    ids = {one.id for one in (fact, *others)}
    return _on_side(fact, dispute, 0, ids), [_on_side(one, dispute, 1, ids) for one in others]


def are_kept_apart(a: Fact, b: Fact) -> bool:
    """Return True if two facts are on different sides of a dispute."""
    own, others = sides(a), sides(b)
    return any(others.get(dispute, side) != side for dispute, side in own.items())


def sides(fact: Fact) -> Mapping[str, Any]:
    """Return the side of `fact` in each of its disputes."""
    known = fact.metadata.get(_SIDES)
    return known if isinstance(known, dict) else {}


def united(facts: Sequence[Fact]) -> dict[str, JsonValue]:
    """Return the metadata of facts that become one, the first of which stays.

    Where they differ, the first fact's value stays and the others are kept as `other_values`.
    """
    joined: dict[str, JsonValue] = {}
    told: list[tuple[str, JsonValue]] = []
    for fact in facts:
        for key, value in fact.metadata.items():
            if key not in (OTHER_VALUES, _SIDES):
                joined.setdefault(key, value)
                told.append((key, value))
        told += ((key, value) for key, own in other_values(fact).items() for value in own)
    others: dict[str, dict[str, JsonValue]] = {}  # by key, and as written: 1 isn't true
    for key, value in told:
        if _written(value) != _written(joined.get(key)):
            others.setdefault(key, {})[_written(value)] = value
    if others:
        kept: dict[str, JsonValue] = {
            key: [*own.values()][-_MOST_VALUES:] for key, own in others.items()
        }
        joined[OTHER_VALUES] = kept
    return with_sides(joined, facts)


def other_values(fact: Fact) -> Mapping[str, list[JsonValue]]:
    """Return the values that facts merged into this one had instead of its own, by key.

    A value that the caller keeps under that very key counts as one of them.
    """
    found = fact.metadata.get(OTHER_VALUES, {})
    if not isinstance(found, dict):
        return {OTHER_VALUES: [found]}
    return {key: own if isinstance(own, list) else [own] for key, own in found.items()}


def _written(value: JsonValue) -> str:
    return json.dumps(value, sort_keys=True)


def with_sides(metadata: Mapping[str, JsonValue], facts: Sequence[Fact]) -> dict[str, JsonValue]:
    """Return `metadata` with the sides of all of `facts`."""
    joined = {dispute: side for fact in facts for dispute, side in sides(fact).items()}
    return {**metadata, _SIDES: joined} if joined else dict(metadata)


def _on_side(fact: Fact, dispute: str, side: int, disputing: Collection[str]) -> Fact:
    """Return a fact on a side of a dispute, after none of those that are in it."""
    metadata = {**fact.metadata, _SIDES: {**sides(fact), dispute: side}}
    follows = tuple(one for one in fact.follows if one not in disputing)
    return fact.model_copy(update={"metadata": metadata, "follows": follows})


def _joined(fact: Fact, again: Fact) -> tuple[Source, ...]:
    told = [one for one in again.sources if one.message_ids or confirms(fact, again)]
    return tuple(dict.fromkeys((*fact.corroborations, *told)))
