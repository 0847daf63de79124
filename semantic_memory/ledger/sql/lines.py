"""Lines of profiles and histories, and the sources they rest on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from semantic_memory.domain.changes import EraseLines, Retire, Write
from semantic_memory.domain.facts import Fact, Status
from semantic_memory.domain.profile import Layer, Line, Origin
from semantic_memory.ledger import rules
from semantic_memory.ledger.rules import EndResting, EraseResting, HandOver
from semantic_memory.ledger.sql.dialect import Dialect
from semantic_memory.ledger.sql.part import Database, Part
from semantic_memory.ledger.sql.rows import maybe_micros, maybe_moment, micros, moment


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
_INSERT = (
    f"INSERT INTO lines ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"
    " RETURNING num"
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
            lines = lines_of(self._connections.dialect)
            return lines.read(db, f"{condition} ORDER BY l.layer, l.at, l.id", values)

    def past_lines(self, user_id: str, layer: Layer) -> list[Line]:
        """Return every line that stands or stood in a layer, in the order in which they came."""
        condition = "l.user_id = ? AND l.layer = ? ORDER BY l.valid_from, l.num"
        with self._connections.snapshot() as db:
            return lines_of(self._connections.dialect).read(db, condition, (user_id, layer))


@cache
def lines_of(dialect: Dialect) -> Lines:
    """Return what reads and writes lines in a dialect."""
    return Lines(dialect)


class Lines:
    """Reads and writes lines in the terms of one database."""

    def __init__(self, dialect: Dialect) -> None:
        self._key = dialect.own.columns
        sources = f"SELECT {dialect.listed('source')} FROM line_sources s"
        self._select = (
            f"SELECT {', '.join(f'l.{name}' for name in LineRow._fields[:-1])},"
            f" ({sources} WHERE {dialect.same('s', 'l')}) FROM lines l"
        )
        # sessions and messages are named per user: another user's may have the same name
        self._resting = (
            f"(SELECT s.num FROM line_sources s JOIN lines l ON {dialect.same('s', 'l')}"
            " WHERE s.source = ? AND l.user_id = ?)"
        )

    def read(self, db: Database, condition: str, values: Sequence[Any]) -> list[Line]:
        """Return the lines that meet a condition on `lines l`."""
        rows = db.execute(f"{self._select} WHERE {condition}", values)
        return [_to_line(LineRow._make(row)) for row in rows]

    def write(self, db: Database, change: Write | Retire | EraseLines) -> bool:
        """Write a change; return True if it had an effect."""
        match change:
            case Write(line):
                return self._write(db, line)
            case Retire(line_id, at):
                return bool(self._end(db, "l.id = ? AND l.valid_to IS NULL", (line_id,), at))
            case EraseLines():
                return self._erase(db, change)

    def follow(self, db: Database, old: Fact, new: Fact, at: datetime) -> None:
        """Carry out the consequence of a fact's change for the lines that rest on it."""
        match rules.consequence(old, new):
            case EraseResting(sources):
                query = f"DELETE FROM lines WHERE num IN {self._resting}"
                for source in sources:
                    db.execute(query, (source, old.user_id))
            case EndResting(source, unless_on, origin):
                condition = f"l.valid_to IS NULL AND l.num IN {self._resting}"
                values: list[Any] = [source, old.user_id]
                if unless_on is not None:
                    condition += f" AND l.num NOT IN {self._resting}"
                    values += [unless_on, old.user_id]
                if origin is not None:
                    condition += " AND l.origin = ?"
                    values.append(origin)
                self._end(db, condition, values, at)
            case HandOver(source, heir):
                self._rest(db, f"num IN {self._resting}", heir, source, old.user_id)

    def _write(self, db: Database, line: Line) -> bool:
        """Write a line, and end the ones it replaces."""
        if db.execute("SELECT 1 FROM lines WHERE id = ?", (line.id,)).fetchone():
            return False
        statuses = [
            Status(status)
            for fact_id in line.fact_ids
            for (status,) in db.execute("SELECT status FROM facts WHERE id = ?", (fact_id,))
        ]
        condition = "l.user_id = ? AND l.layer = ? AND l.valid_to IS NULL"
        replaced = rules.replaced(line, self.read(db, condition, (line.user_id, line.layer)))
        if replaced is None or not rules.is_grounded(line, statuses):
            return False
        for other in replaced:
            self._end(db, "l.id = ?", (other.id,), line.valid_from)
        values = (line.id, line.user_id, line.layer, line.text, line.origin, micros(line.at))
        times = (micros(line.valid_from), maybe_micros(line.valid_to))
        [(num,)] = db.execute(_INSERT, (*values, *times)).fetchall()
        for source in (*line.fact_ids, *line.said_in):
            self._rest(db, "num = ?", source, num)
        return True

    def _rest(self, db: Database, condition: str, source: str, *values: Any) -> None:
        """Let the lines that meet a condition rest on a source too."""
        db.execute(
            f"INSERT INTO line_sources ({self._key}, source) SELECT {self._key}, ? FROM lines"
            f" WHERE {condition} ON CONFLICT DO NOTHING",
            (source, *values),
        )

    def _erase(self, db: Database, change: EraseLines) -> bool:
        """Delete a user's lines of a time, whether they stand or not."""
        condition = "user_id = ?"
        values: list[Any] = [change.user_id]
        for comparison, bound in (("at >= ?", change.since), ("at < ?", change.until)):
            if bound is not None:
                condition += f" AND {comparison}"
                values.append(micros(bound))
        return db.execute(f"DELETE FROM lines WHERE {condition}", values).rowcount > 0

    def _end(self, db: Database, condition: str, values: Sequence[Any], at: datetime) -> int:
        """End the lines that meet a condition on `lines l`; return how many."""
        found = self.read(db, condition, values)
        for one in found:
            line = rules.ended(one, at)
            if line is None:
                db.execute("DELETE FROM lines WHERE id = ?", (one.id,))
            else:
                ends = maybe_micros(line.valid_to)
                db.execute("UPDATE lines SET valid_to = ? WHERE id = ?", (ends, one.id))
        return len(found)


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
