"""Copy a store between a data directory and a database, and compare both.

It goes user by user: first the logs and states of the user's sessions, which may be written twice,
then all rows of the ledger in one transaction. A user who has a row of counters in the target is
done; so a move that was cut off is finished by running it again. Until both have been compared, the
target says that it is incomplete, and isn't opened.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from semantic_memory.domain.errors import ConfigurationError, StoreCorruptError
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.ports import KeyValues, Progress
from semantic_memory.domain.ports.log import CopiedLog
from semantic_memory.domain.ports.states import CopiedStates, Saved
from semantic_memory.ledger.sql.copying import MOVING, Rows, Sum, copy_user, sums

_WINDOW = "window"  # name of the state that has a place in the log


class Moved(NamedTuple):
    """Outcome of a move: what both stores have."""

    users: int
    sessions: int
    memories: int
    rows: int
    """Rows of all tables, as they were compared."""
    unknown_logs: int
    """Logs that don't tell whose they are, and stay behind."""
    unknown_states: int
    """Sessions without messages whose checkpoints don't tell whose they are, and stay behind."""


@dataclass(frozen=True, slots=True)
class Side:
    """A store as the source or the target of a move; nobody else has it open."""

    name: str
    """The directory, or the database without a password."""
    rows: Rows
    ledger: KeyValues
    log: CopiedLog
    states: CopiedStates


def refuse_half_moved(ledger: KeyValues) -> None:
    """Raise ConfigurationError if a move to this store isn't complete."""
    if source := ledger.meta(MOVING):
        raise ConfigurationError(
            f"the move of {source} to this store was cut off: finish it with the same"
            " `semantic-memory admin migrate --to`, or start again with an empty target"
        )


def move(
    source: Side,
    target: Side,
    progress: Progress | None = None,
    beside: Callable[[], None] | None = None,
) -> Moved:
    """Copy a store; the source stays as it is, but for the numbers of events in a database.

    `beside` copies what belongs to the store and isn't in its ledger, while the target is still
    marked as incomplete; it may be called again.
    Raises ConfigurationError unless the target is empty, or has a part of the same source;
    StoreCorruptError if both differ in the end.
    """
    refuse_half_moved(source.ledger)
    source.rows.settle()
    _begin(source, target)
    sessions = _sessions(source)
    users = sorted({*source.rows.users(), *sessions})
    done = target.rows.begun_users()
    for number, user_id in enumerate(users):
        if progress is not None:
            progress("moving", number, len(users))
        if user_id not in done:
            offsets = {
                key.session_id: _copy_session(source, target, key)
                for key in sessions.get(user_id, ())
            }
            copy_user(source.rows, target.rows, user_id, offsets)
    target.rows.write_store(source.rows.values(), source.rows.runs())
    if progress is not None:
        progress("moving", len(users), len(users))
    counted = _compared(source, target, sessions)
    if beside is not None:
        beside()
    target.ledger.set_meta(MOVING, "")
    return Moved(
        users=len(users),
        sessions=sum(map(len, sessions.values())),
        memories=counted["facts"].rows,
        rows=sum(one.rows for one in counted.values()),
        unknown_logs=sum(one.session is None for one in source.log.summaries()),
        unknown_states=source.states.unnamed(key for keys in sessions.values() for key in keys),
    )


def _begin(source: Side, target: Side) -> None:
    """Note the source in a target that is empty or has a part of it."""
    before = target.ledger.meta(MOVING)
    if before == source.name:
        return
    if before or target.rows.users() or target.rows.values() or any(target.log.sessions()):
        raise ConfigurationError(
            f"{target.name} has a store, or a part of another one: name a target that is empty, or"
            f" that has the beginning of this move of {source.name}"
        )
    target.ledger.set_meta(MOVING, source.name)


def _sessions(side: Side) -> Mapping[str, list[SessionKey]]:
    """Return the sessions of each user that have a log, a cursor or a state."""
    found: dict[str, set[SessionKey]] = {}
    placed = map(SessionKey._make, side.rows.sessions())
    for key in (*side.log.sessions(), *placed, *side.states.sessions()):
        found.setdefault(key.user_id, set()).add(key)
    return {user_id: sorted(keys) for user_id, keys in found.items()}


def _copy_session(source: Side, target: Side, key: SessionKey) -> Mapping[int, int]:
    """Copy a session's log and states; return the offsets of the copied log."""
    offsets: Mapping[int, int] = {}
    if source.log.size(*key):
        offsets = target.log.restore(*key, source.log.entries(*key))
    for name, state in source.states.saved(key):
        target.states.restore(key, name, _moved(name, state, offsets))
    return offsets


def _moved(name: str, state: Saved, offsets: Mapping[int, int]) -> Saved:
    """Return a state with a window's place in the copied log."""
    place = state.data.get("position")
    if name != _WINDOW or place is None or place not in offsets:
        return state
    return state._replace(data={**state.data, "offset": offsets[place]})


def _compared(
    source: Side, target: Side, sessions: Mapping[str, list[SessionKey]]
) -> dict[str, Sum]:
    """Return the sums of the source. Raises StoreCorruptError that names what differs."""
    counted = sums(source.rows)
    copied = sums(target.rows)
    differing = [name for name, one in counted.items() if copied[name] != one]
    for keys in sessions.values():
        differing += [
            f"session {key.session_id!r} of {key.user_id!r}"
            for key in keys
            if _digest(source, key) != _digest(target, key)
        ]
    if differing:
        raise StoreCorruptError(
            f"{target.name} differs from {source.name} in {', '.join(differing)}: was the source"
            " changed meanwhile? Stop what has it open, empty the target, and move it again"
        )
    return counted


def _digest(side: Side, key: SessionKey) -> bytes:
    """Return a digest of a session's log and of its states, but for places in the log."""
    found = hashlib.blake2b()
    for part in _parts(side, key):
        found.update(repr(part).encode("utf-8", "surrogatepass"))
    return found.digest()


def _parts(side: Side, key: SessionKey) -> Iterator[object]:
    if side.log.size(*key):
        yield from side.log.entries(*key)
    for name, (version, data) in side.states.saved(key):
        own = "offset" if name == _WINDOW else None
        yield name, version, {one: value for one, value in sorted(data.items()) if one != own}
