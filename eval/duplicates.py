"""Measure which pairs of a user's statements the rules merge, as the facts extracted from them.

    python -m eval.duplicates --rows

`data/gold/duplicates.jsonl` holds pairs that say the same in other words and pairs that only look
alike, written by somebody who knew no rule. A pair is merged if facts extracted from both are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from eval.beliefs import fact
from eval.extraction import read_lines
from eval.succession import Vectors
from ingest.extract.offline import OfflineExtractor
from semantic_memory.judging.rules import RuleJudge
from semantic_memory.consolidation.relations import Pair, Relation
from semantic_memory.domain.messages import Message

PAIRS = Path(__file__).parent.parent / "data" / "gold" / "duplicates.jsonl"


class Judged(NamedTuple):
    """Two statements, whether they say the same, and what became of their facts."""

    a: str
    b: str
    same: bool
    known: bool
    """Both led to a fact."""
    merged: bool


def judged(rows: Iterable[Mapping[str, Any]]) -> list[Judged]:
    """Judge pairs as the file has them."""
    extractor, vectors, judge = OfflineExtractor(), Vectors(), RuleJudge()

    def facts(text: str) -> list[str]:
        found = extractor.extract([Message(role="user", content=text)])
        return [one.content for one in found.candidates]

    def merged(a: list[str], b: list[str]) -> bool:
        cosines = vectors.of(a) @ vectors.of(b).T
        pairs = [
            Pair(fact(one), fact(other, day=30), float(cosines[place, beside]))
            for place, one in enumerate(a)
            for beside, other in enumerate(b)
        ]
        return any(verdict.relation is Relation.SAME for verdict in judge.judge(pairs))

    found = []
    for row in rows:
        a, b = facts(row["a"]), facts(row["b"])
        known = bool(a and b)
        found.append(Judged(row["a"], row["b"], row["same"], known, known and merged(a, b)))
    return found


def main(
    rows: Annotated[bool, typer.Option(help="Print the pairs that are merged wrongly.")] = False,
) -> None:
    """Print how many pairs are merged, rightly and wrongly."""
    found = judged(read_lines(PAIRS))
    for same, name in ((True, "say the same"), (False, "look alike")):
        part = [one for one in found if one.same is same]
        known = sum(one.known for one in part)
        merged = sum(one.merged for one in part)
        print(f"{len(part)} pairs {name}: {known} give facts on both sides, {merged} are merged")
    if rows:
        for one in found:
            if one.merged and not one.same:
                print(f"{one.a} | {one.b}")


if __name__ == "__main__":
    typer.run(main)
