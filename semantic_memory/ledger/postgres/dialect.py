"""The terms of PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Collection

from semantic_memory.domain.conditions import Valued
from semantic_memory.domain.lexical import Term
from semantic_memory.ledger.postgres import texts
from semantic_memory.ledger.sql.dialect import Clause, Dialect, Key
from semantic_memory.ledger.sql.spelling import expression


class PostgresDialect(Dialect):
    """The terms of PostgreSQL; the function `details` is of the ledger's schema."""

    own = Key("user_id", "num")
    locking = " FOR UPDATE"
    changes = "SELECT coalesce(sum(revision), 0)::bigint FROM users"
    references = (
        "CROSS JOIN LATERAL jsonb_array_elements_text(details(f.detail) -> 'references') r(value)"
    )
    by_place = ""
    corroborations = "jsonb_array_length(details(f.detail) -> 'corroborations')"
    stems_table = "words"
    stems = (
        "(SELECT string_agg(array_to_string(array_fill(u.stem, ARRAY[u.count]), ' '), ' ')"
        " FROM unnest(s.stems, s.counts) u(stem, count) WHERE u.count > 0)"  # the owner's is 0
    )

    def unindexed(self, column: str) -> str:
        """Return a column for a condition by which no index should be chosen."""
        return column

    def holds(self, text: str, part: str) -> str:
        """Return the test of whether one text, an expression, holds another."""
        return f"strpos({text}, {part}) > 0"

    def greater(self, one: str, other: str) -> str:
        """Return the greater of two values."""
        return f"greatest({one}, {other})"

    def listed(self, texts: str) -> str:
        """Return the aggregate of an expression's values, separated by spaces."""
        return f"string_agg({texts}, ' ')"

    def among(self, value: str, values: Collection[str] | Collection[int]) -> Clause:
        """Return the clause that a value is one of any number."""
        return f"{value} = ANY(?)", [sorted(values)]

    def worded(self, user_id: str, term: Term) -> Clause:
        """Return the clause of a user's facts whose texts hold a term."""
        matches, pattern = (
            ("~", expression(term)) if term.is_pattern else ("LIKE", texts.pattern(term))
        )
        held = f"w.user_id = ? AND w.forms @@ ?::tsquery AND w.written {matches} ?"
        clause = f"f.num IN (SELECT w.num FROM words w WHERE {held})"
        return clause, [user_id, texts.query(user_id, term), pattern]

    def valued(self, condition: Valued) -> Clause:
        """Return the clause on a value of the metadata, which is never NULL."""
        # `->` with a text finds keys of objects only, and no places in arrays.
        found = "details(f.detail) -> 'metadata'" + " -> ?::text" * len(condition.path)
        path: list[str] = [*condition.path]
        value = condition.value
        if condition.operator is None:
            return f"{found} IS NOT NULL", path
        if value is None or isinstance(value, bool):
            return f"coalesce({found} = ?::jsonb, FALSE)", [*path, json.dumps(value)]
        if isinstance(value, str):
            kind, cast = "string", 'text COLLATE "C"'
        else:
            kind, cast = "number", "numeric"
        written = value if isinstance(value, str) else json.dumps(value)
        compared = f"(({found}) #>> '{{}}')::{cast} {condition.operator} ?::{cast}"
        return (
            f"CASE WHEN jsonb_typeof({found}) = '{kind}' THEN {compared} ELSE FALSE END",
            [*path, *path, written],
        )


POSTGRES = PostgresDialect()
