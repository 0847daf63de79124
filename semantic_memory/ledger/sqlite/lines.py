"""Lines of profiles and histories, and the sources they rest on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from sqlite3 import Connection
from typing import Any, NamedTuple

from semantic_memory.domain.changes import EraseLines, Retire, Write
from semantic_memory.domain.facts import Fact, Status
from semantic_memory.domain.profile import Layer, Line, Origin
from semantic_memory.ledger import rules
from semantic_memory.ledger.rules import EndResting, EraseResting, HandOver
from semantic_memory.ledger.sqlite.part import Part
from semantic_memory.ledger.sqlite.rows import maybe_micros, maybe_moment, micros, moment


class LineRow(NamedTuple):
    """The columns of `lines`, and the sources of `line_sources` separated by spaces."""

    num: int
    id: str
    user_id: str
    layer: Layer
    text: str
    origin: Origin
    at: int
    valid_from: int
    valid_to: int | None
    sources: str | None


_COLUMNS = LineRow._fields[1:-1]
_SELECT = (
    f"SELECT {', '.join(f'l.{name}' for name in LineRow._fields[:-1])},"
    " (SELECT group_concat(source, ' ') FROM line_sources s WHERE s.num = l.num) FROM lines l"
)
_INSERT = f"INSERT INTO lines ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"
# sessions and messages are named per user: another user's may have the same name
_RESTING = (
    "(SELECT s.num FROM line_sources s JOIN lines l ON l.num = s.num"
    " WHERE s.source = ? AND l.user_id = ?)"
)


class LineReader(Part):
    """The role `ProfileLines`."""

    def lines(self, user_id: str, as_of: datetime | None = None) -> list[Line]:
        """Return the lines that stand, or stood at `as_of`, oldest first in each layer."""
        condition = "l.user_id = ? AND l.valid_to IS NULL"
        values: list[Any] = [user_id]
        if as_of is not None:
            at = micros(as_of)
            condition = "l.user_id = ? AND l.valid_from <= ?"
            condition += " AND (l.valid_to IS NULL OR ? < l.valid_to)"
            values += [at, at]
        with self._connections.snapshot() as db:
            return _read(db, f"{condition} ORDER BY l.layer, l.at, l.id", values)

    def past_lines(self, user_id: str, layer: Layer) -> list[Line]:
        """Return every line that stands or stood in a layer, in the order in which they came."""
        condition = "l.user_id = ? AND l.layer = ? ORDER BY l.valid_from, l.num"
        with self._connections.snapshot() as db:
            return _read(db, condition, (user_id, layer))


def write(db: Connection, change: Write | Retire | EraseLines) -> bool:
    """Write a change; return True if it had an effect."""
    match change:
        case Write(line):
            return _write(db, line)
        case Retire(line_id, at):
            return bool(_end(db, "l.id = ? AND l.valid_to IS NULL", (line_id,), at))
        case EraseLines():
            return _erase(db, change)


def follow(db: Connection, old: Fact, new: Fact, at: datetime) -> None:
    """Carry out the consequence of a fact's change for the lines that rest on it."""
    match rules.consequence(old, new):
        case EraseResting(sources):
            for source in sources:
                db.execute(f"DELETE FROM lines WHERE num IN {_RESTING}", (source, old.user_id))
        case EndResting(source, unless_on, origin):
            condition = f"l.valid_to IS NULL AND l.num IN {_RESTING}"
            values: list[Any] = [source, old.user_id]
            if unless_on is not None:
                condition += f" AND l.num NOT IN {_RESTING}"
                values += [unless_on, old.user_id]
            if origin is not None:
                condition += " AND l.origin = ?"
                values.append(origin)
            _end(db, condition, values, at)
        case HandOver(source, heir):
            db.execute(
                "INSERT OR IGNORE INTO line_sources"
                f" SELECT num, ? FROM lines WHERE num IN {_RESTING}",
                (heir, source, old.user_id),
            )


def _write(db: Connection, line: Line) -> bool:
    """Write a line, and end the ones it replaces."""
    if db.execute("SELECT 1 FROM lines WHERE id = ?", (line.id,)).fetchone():
        return False
    statuses = [
        Status(status)
        for fact_id in line.fact_ids
        for (status,) in db.execute("SELECT status FROM facts WHERE id = ?", (fact_id,))
    ]
    condition = "l.user_id = ? AND l.layer = ? AND l.valid_to IS NULL"
    replaced = rules.replaced(line, _read(db, condition, (line.user_id, line.layer)))
    if replaced is None or not rules.is_grounded(line, statuses):
        return False
    for other in replaced:
        _end(db, "l.id = ?", (other.id,), line.valid_from)
    values = (line.id, line.user_id, line.layer, line.text, line.origin, micros(line.at))
    times = (micros(line.valid_from), maybe_micros(line.valid_to))
    num = db.execute(_INSERT, (*values, *times)).lastrowid
    db.executemany(
        "INSERT OR IGNORE INTO line_sources (num, source) VALUES (?, ?)",
        [(num, source) for source in (*line.fact_ids, *line.said_in)],
    )
    return True


def _erase(db: Connection, change: EraseLines) -> bool:
    """Delete a user's lines of a time, whether they stand or not."""
    condition = "user_id = ?"
    values: list[Any] = [change.user_id]
    for comparison, bound in (("at >= ?", change.since), ("at < ?", change.until)):
        if bound is not None:
            condition += f" AND {comparison}"
            values.append(micros(bound))
    return db.execute(f"DELETE FROM lines WHERE {condition}", values).rowcount > 0


def _end(db: Connection, condition: str, values: Sequence[Any], at: datetime) -> int:
    """End the lines that meet a condition on `lines l`; return how many."""
    found = [LineRow._make(row) for row in db.execute(f"{_SELECT} WHERE {condition}", values)]
    for row in found:
        line = rules.ended(_to_line(row), at)
        if line is None:
            db.execute("DELETE FROM lines WHERE num = ?", (row.num,))
        else:
            db.execute(
                "UPDATE lines SET valid_to = ? WHERE num = ?",
                (maybe_micros(line.valid_to), row.num),
            )
    return len(found)


def _read(db: Connection, condition: str, values: Sequence[Any]) -> list[Line]:
    """Return the lines that meet a condition on `lines l`."""
    rows = db.execute(f"{_SELECT} WHERE {condition}", values)
    return [_to_line(LineRow._make(row)) for row in rows]


def _to_line(row: LineRow) -> Line:
    """Return the line of a row. Its values were validated on their way in."""
    sources = sorted((row.sources or "").split())
    return Line.model_construct(
        id=row.id,
        user_id=row.user_id,
        layer=row.layer,
        text=row.text,
        origin=row.origin,
        at=moment(row.at),
        valid_from=moment(row.valid_from),
        valid_to=maybe_moment(row.valid_to),
        fact_ids=tuple(source for source in sources if "/" not in source),
        said_in=tuple(source for source in sources if "/" in source),
    )
