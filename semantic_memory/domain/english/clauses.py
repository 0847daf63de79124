"""Cut a folded text into the clauses that claims are read from.

A claim needs no whole sentence, so the text is cut at every mark and at most conjunctions.
`statements.statements` is the careful one: what it cuts must stand alone as a fact.
"""

from __future__ import annotations

from collections.abc import Iterator

from semantic_memory.domain.english.hedges import is_unreal
from semantic_memory.domain.english.notation import any_of
from semantic_memory.domain.english.tables import phrases
from semantic_memory.domain.patterns import regex

_LEAD = regex(rf"^(?:{phrases('clauses.leads')}\b[\s:]*)+")
_MARK = r"[.!?;:](?=\s|$)|,(?!\d{3}\b)|\s[-–—]\s"
_CUT = regex(
    any_of(
        _MARK,
        rf"\s{phrases('clauses.cutting')}\s",
        rf"\sand\s(?={phrases('clauses.behind_and')}\b)",
    )
)


def parts(folded: str) -> Iterator[tuple[str, bool]]:
    """Yield the clauses of a folded text, and whether they assert something.

    Questions, wishes and conditions don't.

    >>> list(parts("well, i love jazz, but i wish it was rome. do you?"))
    [('i love jazz', True), ('i wish it was rome', False), ('do you', False)]
    """
    start = 0
    for mark in [*_CUT.finditer(folded), None]:
        end = mark.start() if mark else len(folded)
        clause = _LEAD.sub("", folded[start:end].strip(" ,.;:!\"'"))
        asks = mark is not None and mark[0].startswith("?")
        if len(clause) > 2:
            yield clause, not asks and not is_unreal(clause)
        start = mark.end() if mark else end
