"""The terms of SQLite."""

from __future__ import annotations

import json
from collections.abc import Collection

from semantic_memory.domain.conditions import Valued
from semantic_memory.domain.lexical import Term
from semantic_memory.ledger.sql.dialect import Clause, Dialect, Key
from semantic_memory.ledger.sql.spelling import expression, longest_part
from semantic_memory.ledger.sqlite import forms


class SqliteDialect(Dialect):
    """The terms of SQLite, with its functions of JSON and its full-text index."""

    own = Key("num")
    locking = ""
    changes = (
        "SELECT coalesce(sum(revision), 0)"
        " + (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'changes apart') FROM users"
    )
    references = "JOIN json_each(f.detail, '$.references') r ON TRUE"
    by_place = "INDEXED BY facts_by_place"
    corroborations = "json_array_length(f.detail, '$.corroborations')"
    stems_table = "stems"
    stems = "s.text"

    def unindexed(self, column: str) -> str:
        """Return a column for a condition by which no index should be chosen."""
        return f"+{column}"

    def holds(self, text: str, part: str) -> str:
        """Return the test of whether one text, an expression, holds another."""
        return f"instr({text}, {part})"

    def greater(self, one: str, other: str) -> str:
        """Return the greater of two values."""
        return f"max({one}, {other})"

    def listed(self, texts: str) -> str:
        """Return the aggregate of an expression's values, separated by spaces."""
        return f"group_concat({texts}, ' ')"

    def among(self, value: str, values: Collection[str] | Collection[int]) -> Clause:
        """Return the clause that a value is one of any number."""
        return f"{value} IN (SELECT value FROM json_each(?))", [json.dumps(sorted(values))]

    def worded(self, user_id: str, term: Term) -> Clause:
        """Return the clause of a user's facts whose texts hold a term."""
        held = "SELECT rowid FROM forms WHERE forms MATCH ?"
        bound = [forms.match(user_id, term)]
        if term.is_pattern:
            held += " AND instr(text, ?) AND ' ' || text || ' ' REGEXP ?"  # the first is cheap
            bound += [longest_part(term), expression(term)]
        return f"f.num IN ({held})", bound

    def valued(self, condition: Valued) -> Clause:
        """Return the clause on a value of the metadata, which is never NULL."""
        path = ".".join(["$.metadata", *(f'"{step}"' for step in condition.path)])
        kind = "json_type(f.detail, ?)"
        value = condition.value
        if condition.operator is None:
            return f"{kind} IS NOT NULL", [path]
        if value is None or isinstance(value, bool):
            return f"{kind} IS ?", [path, json.dumps(value)]
        kinds = "('text')" if isinstance(value, str) else "('integer', 'real')"
        # SQLite reads both numbers from JSON, so that both are rounded alike.
        compared = f"json_extract(f.detail, ?) {condition.operator} json_extract(?, '$')"
        bound = json.dumps(value, ensure_ascii=False)
        return f"coalesce({kind} IN {kinds} AND {compared}, 0)", [path, path, bound]


SQLITE = SqliteDialect()
