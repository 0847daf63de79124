"""Lines of profiles and histories, and the sources they rest on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from semantic_memory.domain.changes import EraseLines, Retire, Write
from semantic_memory.domain.facts import Fact
from semantic_memory.domain.profile import Layer, Line
from semantic_memory.ledger import rules
from semantic_memory.ledger.memory.store import Part, Tables
from semantic_memory.ledger.rules import EndResting, EraseResting, HandOver


class LineReader(Part):
    """The role `ProfileLines`."""

    def lines(self, user_id: str, as_of: datetime | None = None) -> list[Line]:
        """Return the lines that stand, or stood at `as_of`, oldest first in each layer."""
        found = _lines(self._store.snapshot(), user_id, lambda line: _stands(line, as_of))
        return sorted(found, key=lambda line: (line.layer, line.at, line.id))

    def past_lines(self, user_id: str, layer: Layer) -> list[Line]:
        """Return every line that stands or stood in a layer, in the order in which they came."""
        found = _lines(self._store.snapshot(), user_id, lambda line: line.layer == layer)
        return sorted(found, key=lambda line: line.valid_from)


def write(tables: Tables, change: Write | Retire | EraseLines) -> bool:
    """Write a change; return True if it had an effect."""
    match change:
        case Write(line):
            return _write(tables, line)
        case Retire(line_id, at):
            line_or_none = tables.lines.get(line_id)
            if line_or_none is None or line_or_none.valid_to is not None:
                return False
            _end(tables, line_or_none, at)
            return True
        case EraseLines(user_id, since, until):
            return _erase(
                tables,
                user_id,
                lambda line: (
                    (since is None or since <= line.at) and (until is None or line.at < until)
                ),
            )


def follow(tables: Tables, old: Fact, new: Fact, at: datetime) -> None:
    """Carry out the consequence of a fact's change for the lines that rest on it."""
    match rules.consequence(old, new):
        case EraseResting(sources):
            _erase(tables, old.user_id, lambda line: not _sources(line).isdisjoint(sources))
        case EndResting(source, unless_on, origin):
            ending = _lines(
                tables,
                old.user_id,
                lambda line: (
                    line.valid_to is None
                    and source in _sources(line)
                    and unless_on not in _sources(line)
                    and origin in (None, line.origin)
                ),
            )
            for line in ending:
                _end(tables, line, at)
        case HandOver(source, heir):
            for line in _lines(tables, old.user_id, lambda line: source in _sources(line)):
                facts = (*line.fact_ids, heir)
                tables.lines[line.id] = rules.with_sources(line, facts, line.said_in)


def _write(tables: Tables, line: Line) -> bool:
    """Write a line, and end the ones it replaces."""
    if line.id in tables.lines:
        return False
    rows = (tables.facts.get(fact_id) for fact_id in line.fact_ids)
    statuses = [row.fact.status for row in rows if row is not None]
    standing = _lines(
        tables, line.user_id, lambda one: one.layer == line.layer and one.valid_to is None
    )
    replaced = rules.replaced(line, standing)
    if replaced is None or not rules.is_grounded(line, statuses):
        return False
    for other in replaced:
        _end(tables, other, line.valid_from)
    tables.lines[line.id] = rules.with_sources(line, line.fact_ids, line.said_in)
    return True


def _end(tables: Tables, line: Line, at: datetime) -> None:
    ended = rules.ended(line, at)
    if ended is None:
        del tables.lines[line.id]
    else:
        tables.lines[line.id] = ended


def _erase(tables: Tables, user_id: str, condition: Callable[[Line], bool]) -> bool:
    erased = _lines(tables, user_id, condition)
    for line in erased:
        del tables.lines[line.id]
    return bool(erased)


def _lines(tables: Tables, user_id: str, condition: Callable[[Line], bool]) -> list[Line]:
    """Return the user's lines that meet a condition, in the order written."""
    return [line for line in tables.lines.values() if line.user_id == user_id and condition(line)]


def _stands(line: Line, as_of: datetime | None) -> bool:
    if as_of is None:
        return line.valid_to is None
    return line.valid_from <= as_of and (line.valid_to is None or as_of < line.valid_to)


def _sources(line: Line) -> frozenset[str | None]:
    return frozenset((*line.fact_ids, *line.said_in))
