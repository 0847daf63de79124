"""Cut a folded text into the clauses that claims are read from.

A claim needs no whole sentence, so the text is cut at every mark and at most conjunctions.
`statements.statements` is the careful one: what it cuts must stand alone as a fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from semantic_memory.domain.english.hedges import is_unreal
from semantic_memory.domain.english.notation import any_of
from semantic_memory.domain.english.tables import phrases

_LEAD = re.compile(rf"^(?:{phrases('clauses.leads')}\b[\s:]*)+")
_MARK = r"[.!?;:](?=\s|$)|,(?!\d{3}\b)|\s[-–—]\s"
_CUT = re.compile(
    any_of(
        _MARK,
        rf"\s{phrases('clauses.cutting')}\s",
        rf"\sand\s(?={phrases('clauses.behind_and')}\b)",
    )
)


def assertions(folded: str) -> Iterator[str]:
    """Yield the clauses of a folded text that assert something: no questions, wishes, conditions.

    >>> list(assertions("well, i love jazz and i live in oslo, but i wish it was rome. do you?"))
    ['i love jazz', 'i live in oslo']
    """
    start = 0
    for mark in [*_CUT.finditer(folded), None]:
        end = mark.start() if mark else len(folded)
        clause = _LEAD.sub("", folded[start:end].strip(" ,.;:!\"'"))
        asks = mark is not None and mark[0].startswith("?")
        if len(clause) > 2 and not asks and not is_unreal(clause):
            yield clause
        start = mark.end() if mark else end
