"""Search by words: BM25 over the memories of one user."""

from __future__ import annotations

from collections.abc import Sequence

from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.ports import Match
from semantic_memory.domain.text import stems
from semantic_memory.ledger.postgres.texts import stem_of
from semantic_memory.ledger.sql.owners import owner_token
from semantic_memory.ledger.sql.part import Part

# The owner narrows the match within the index; the user's id decides.
_HELD = """
    SELECT w.num, w.length, u.stem, u.count
    FROM words w CROSS JOIN LATERAL unnest(w.stems, w.counts) u(stem, count)
    WHERE w.user_id = ? AND w.stems @> ?::text[] AND w.stems && ?::text[]
        AND u.stem = ANY(?::text[])
"""
# k1 = 1.2 and b = 0.75, as FTS5 has them: https://www.sqlite.org/fts5.html#the_bm25_function
_SCORED = """
    WITH held AS MATERIALIZED ({held}),
    whole AS (
        SELECT texts, words::float / greatest(texts, 1) AS average FROM users WHERE user_id = ?
    ),
    frequent AS (
        SELECT stem,
            greatest(1e-6, ln(((texts - count(*) + 0.5) / (count(*) + 0.5))::float)) AS weight
        FROM held, whole GROUP BY stem, texts
    ),
    scored AS MATERIALIZED (
        SELECT num, sum(
            weight * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / average))
        ) AS score
        FROM held JOIN frequent USING (stem) CROSS JOIN whole GROUP BY num
    )
    SELECT f.id, s.score
    FROM scored s CROSS JOIN LATERAL (
        SELECT f.id FROM facts f WHERE f.num = s.num AND {condition} OFFSET 0
    ) f
    ORDER BY s.score DESC LIMIT ?
"""
# OFFSET 0 has each fact found by its key, even while the planner knows nothing of the tables.


class WordSearcher(Part):
    """The role `WordSearch`, by the statistics of each user's own memories."""

    def words(
        self, user_id: str, terms: Sequence[str], *, limit: int, filters: Filters = NO_FILTERS
    ) -> list[Match]:
        """Return the memories holding any of `terms`, by BM25, best first."""
        wanted = sorted({stem_of(stem) for term in terms for stem in stems(term)})
        if not wanted:
            return []
        condition, values = self._connections.dialect.where(user_id, filters.conditions())
        query = _SCORED.format(held=_HELD, condition=condition)
        held = (user_id, [owner_token(user_id)], wanted, wanted)
        with self._connections.snapshot() as db:
            rows = db.execute(query, (*held, user_id, *values, limit)).fetchall()
        return [Match(*row) for row in rows]

    def document_frequencies(
        self, user_id: str, terms: Sequence[str]
    ) -> tuple[int, dict[str, float]]:
        """Return the number of a user's memories, and about how many hold each stemmed word.

        The share of the user's own memories, forgotten ones included.
        """
        wanted = sorted({stem_of(term) for term in terms})
        query = "SELECT memories, facts FROM users WHERE user_id = ?"
        with self._connections.snapshot() as db:
            own, total = db.execute(query, (user_id,)).fetchone() or (0, 1)
            counted = f"SELECT stem, count(*) FROM ({_HELD}) h GROUP BY stem"
            held = (user_id, [owner_token(user_id)], wanted, wanted)
            return own, {stem: number * own / total for stem, number in db.execute(counted, held)}
