"""Show which statements of ordinary conversations are ended or marked: hardly any are over.

    python -m eval retired longmemeval_s.json.gz --format longmemeval --conversations 60

Each conversation is told to a store, session by session; a reader of the rows grades them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple

from eval.datasets import History
from eval.datasets.load import load
from semantic_memory.domain.facts import Cause, Fact, Status
from semantic_memory.memory import SemanticMemory

Form = Literal["locomo", "longmemeval", "realtalk"]


class Row(NamedTuple):
    """A statement that a newer one has ended, or has perhaps changed."""

    user: str
    effect: Literal["ended", "marked"]
    older: str
    newer: str
    decided_by: str
    probability: float | None


def told(memory: SemanticMemory, history: History) -> None:
    """Tell a conversation to a store, and wait until its facts are consolidated."""
    for session_id, run in history.runs():
        messages = [one.message for one in run]
        memory.observe(messages, user_id=history.user_id, session_id=session_id or "facts")
        memory.flush()


def changed(memory: SemanticMemory, user_id: str) -> Iterator[Row]:
    """Yield the ended and the marked statements of a user, each with what changed it."""
    for status in (Status.SUPERSEDED, Status.ACTIVE):
        for fact in memory.list(user_id=user_id, status=status, limit=None):
            causes: Iterable[Cause] = fact.perhaps_changed
            if status is Status.SUPERSEDED:
                causes = [fact.ended_by] if fact.ended_by else []
            for cause in causes:
                yield _row(fact, cause, "ended" if status is Status.SUPERSEDED else "marked")


def _row(fact: Fact, cause: Cause, effect: Literal["ended", "marked"]) -> Row:
    return Row(
        fact.user_id, effect, fact.content, cause.quote or "", cause.decided_by, cause.probability
    )


def measure(file: Path, form: Form, conversations: int, out: Path | None) -> Iterator[str]:
    """Yield a line for every ended or marked statement, then their numbers."""
    rows: list[Row] = []
    messages = facts = 0
    both_sides = load("longmemeval-dialogue" if form == "longmemeval" else form, file)
    for history in both_sides.histories[:conversations]:
        with (
            TemporaryDirectory() as scratch,
            SemanticMemory.open(Path(scratch) / "store") as memory,
        ):
            told(memory, history)
            found = list(changed(memory, history.user_id))
            facts += sum(
                fact.category != "conversation"
                for fact in memory.list(user_id=history.user_id, limit=None)
            )
        rows += found
        messages += sum(one.message.role == "user" for one in history.memories)
        for row in found:
            yield f"{row.effect} {row.probability or 1:.2f} | {row.older} | {row.newer}"
    if out is not None:
        out.write_text("".join(json.dumps(row._asdict()) + "\n" for row in rows), "utf-8")
    ended = sum(row.effect == "ended" for row in rows)
    yield (
        f"{ended} ended and {len(rows) - ended} marked of {facts} facts in {messages} messages of"
        " users"
    )
