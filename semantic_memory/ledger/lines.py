"""How lines of profiles and histories are kept, and what becomes of them with their sources.

A line never outlives what it rests on: that is seen to here, in the transaction in which a fact
changes, whoever changes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from sqlite3 import Connection
from typing import Any

from semantic_memory.domain.changes import EraseLines, Retire, Write
from semantic_memory.domain.facts import Fact, Status
from semantic_memory.domain.profile import PROFILE_FIELDS, Line, prevails, said_in
from semantic_memory.ledger import rows

_COLUMNS = "l.id, l.user_id, l.layer, l.text, l.origin, l.at, l.valid_from, l.valid_to"
_SELECT = (
    f"SELECT {_COLUMNS}, (SELECT group_concat(source, ' ') FROM line_sources s"
    " WHERE s.num = l.num) FROM lines l"
)
_HARDLY_STOOD = 86_400_000_000  # microseconds: a day
# sessions and messages are named per user: what one says isn't what another says
_RESTING = (
    "(SELECT s.num FROM line_sources s JOIN lines l ON l.num = s.num"
    " WHERE s.source = ? AND l.user_id = ?)"
)


def read(db: Connection, condition: str, values: Sequence[Any], order: str) -> list[Line]:
    """The lines that meet a condition on `lines l`."""
    found = db.execute(f"{_SELECT} WHERE {condition} ORDER BY {order}", values)
    return [_to_line(row) for row in found]


def standing(user_id: str, as_of: datetime | None) -> tuple[str, list[Any]]:
    """The condition on `lines l` for what stands, or stood at a time."""
    if as_of is None:
        return "l.user_id = ? AND l.valid_to IS NULL", [user_id]
    at = rows.micros(as_of)
    condition = "l.user_id = ? AND l.valid_from <= ? AND (l.valid_to IS NULL OR ? < l.valid_to)"
    return condition, [user_id, at, at]


def apply(db: Connection, change: Write | Retire | EraseLines) -> bool:
    """Write a change; returns whether it had an effect."""
    match change:
        case Write(line):
            return _write(db, line)
        case Retire(line_id, at):
            return _retire(db, line_id, at)
        case EraseLines():
            return _erase(db, change)


def _write(db: Connection, line: Line) -> bool:
    """Write a line, and end what it replaces."""
    if db.execute("SELECT 1 FROM lines WHERE id = ?", (line.id,)).fetchone():
        return False
    if not _is_grounded(db, line):
        return False
    if line.layer in PROFILE_FIELDS:
        condition = "l.user_id = ? AND l.layer = ? AND l.valid_to IS NULL"
        for other in read(db, condition, (line.user_id, line.layer), "l.num"):
            if prevails(other, line):
                return False
            _retire(db, other.id, line.valid_from)
    num = db.execute(
        "INSERT INTO lines (id, user_id, layer, text, origin, at, valid_from, valid_to)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            line.id,
            line.user_id,
            line.layer,
            line.text,
            line.origin,
            rows.micros(line.at),
            rows.micros(line.valid_from),
            None if line.valid_to is None else rows.micros(line.valid_to),
        ),
    ).lastrowid
    db.executemany(
        "INSERT OR IGNORE INTO line_sources (num, source) VALUES (?, ?)",
        [(num, source) for source in (*line.fact_ids, *line.said_in)],
    )
    return True


def _retire(db: Connection, line_id: str, at: datetime) -> bool:
    """End a line that stands."""
    row = db.execute(
        "SELECT num FROM lines WHERE id = ? AND valid_to IS NULL", (line_id,)
    ).fetchone()
    if row is None:
        return False
    _end(db, row[0], at)
    return True


def _erase(db: Connection, change: EraseLines) -> bool:
    """Delete a user's lines of a time, whether they stand or not."""
    condition = "user_id = ?"
    values: list[Any] = [change.user_id]
    for comparison, moment in (("at >= ?", change.since), ("at < ?", change.until)):
        if moment is not None:
            condition += f" AND {comparison}"
            values.append(rows.micros(moment))
    return db.execute(f"DELETE FROM lines WHERE {condition}", values).rowcount > 0


def follow(db: Connection, old: Fact, new: Fact, at: datetime) -> None:
    """Do to the lines that rest on a fact what its change asks for."""
    if new.status is Status.FORGOTTEN:
        for source in (old.id, *said_in([old])):
            db.execute(f"DELETE FROM lines WHERE num IN {_RESTING}", (source, old.user_id))
    elif old.content != new.content:
        _end_resting(db, old, at)
    elif old.status is Status.ACTIVE and new.status is not Status.ACTIVE:
        if new.status is Status.SUPERSEDED:
            _end_resting(db, old, at, unless_on=new.superseded_by)
        elif new.superseded_by is not None:  # merged into another that says the same
            db.execute(
                "INSERT OR IGNORE INTO line_sources"
                f" SELECT num, ? FROM lines WHERE num IN {_RESTING}",
                (new.superseded_by, old.id, old.user_id),
            )
        else:
            _end_resting(db, old, at, origin="derived")


def _end(db: Connection, num: int, at: datetime) -> None:
    """End a line. One that was derived and hardly stood leaves no trace: there are too many."""
    moment = rows.micros(at)
    db.execute(
        "DELETE FROM lines WHERE num = ? AND origin = 'derived' AND valid_from > ?",
        (num, moment - _HARDLY_STOOD),
    )
    db.execute("UPDATE lines SET valid_to = max(valid_from, ?) WHERE num = ?", (moment, num))


def _end_resting(
    db: Connection,
    fact: Fact,
    at: datetime,
    *,
    unless_on: str | None = None,
    origin: str | None = None,
) -> None:
    """End what rests on a fact; a line that rests on its successor too knows of the change."""
    query = f"SELECT num FROM lines WHERE valid_to IS NULL AND num IN {_RESTING}"
    values: list[Any] = [fact.id, fact.user_id]
    if unless_on is not None:
        query += f" AND num NOT IN {_RESTING}"
        values += [unless_on, fact.user_id]
    if origin is not None:
        query += " AND origin = ?"
        values.append(origin)
    for (num,) in db.execute(query, values).fetchall():
        _end(db, num, at)


def _is_grounded(db: Connection, line: Line) -> bool:
    refused = "status = 'forgotten'" if line.origin != "derived" else "status <> 'active'"
    return not any(
        db.execute(f"SELECT 1 FROM facts WHERE id = ? AND {refused}", (fact_id,)).fetchone()
        for fact_id in line.fact_ids
    )


def _to_line(row: tuple[Any, ...]) -> Line:
    """A line from its columns. They were validated on their way in."""
    sources = (row[8] or "").split()
    return Line.model_construct(
        id=row[0],
        user_id=row[1],
        layer=row[2],
        text=row[3],
        origin=row[4],
        at=rows.moment(row[5]),
        valid_from=rows.moment(row[6]),
        valid_to=None if row[7] is None else rows.moment(row[7]),
        fact_ids=tuple(source for source in sources if "/" not in source),
        said_in=tuple(source for source in sources if "/" in source),
    )
