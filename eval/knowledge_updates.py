"""LongMemEval's knowledge updates: the block and the store after a statement has changed.

    python -m eval knowledge-updates longmemeval_s.json.gz

A question of this kind has evidence in an earlier and in a later session. A user is told these and
a few other sessions, both roles, session by session; then the question is asked. Statements are
known by the turns that the set marks, so a link of a turn may concern another of its sentences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from eval.datasets import History
from eval.datasets.longmemeval import load_longmemeval
from semantic_memory.domain.facts import Category, Fact, Status
from semantic_memory.domain.ports import Embedder, Progress
from semantic_memory.memory import SemanticMemory
from semantic_memory.settings import Settings
from semantic_memory.testing import FrozenClock

KIND = "knowledge-update"
OTHERS = 8
BUDGET = 600


@dataclass(frozen=True, slots=True)
class Outcome:
    """An update as the block and the store show it."""

    shown: tuple[bool, ...]
    """Lines of the block that come from evidence, in its order; True for the newest evidence."""
    changed: bool
    """True if an older statement is ended or marked."""
    followed: bool
    """True if a newer statement follows an older one."""
    turns: int
    """Number of the user's other turns."""
    touched: int
    """Number of those of which a statement is ended or marked."""


def outcomes(
    path: Path, embedder: Embedder, progress: Progress, *, others: int = OTHERS
) -> Iterator[Outcome]:
    """Tell each update among `others` other sessions, and ask its question."""
    updates = [
        history
        for history in load_longmemeval(path, "dialogue").histories
        if history.questions[0].kind == KIND and len(_evidence(history)) > 1
    ]
    for number, history in enumerate(updates, start=1):
        with TemporaryDirectory(prefix="semantic-memory-updates-") as scratch:
            yield _outcome(_reduced(history, others), embedder, Path(scratch))
        progress("updates", number, len(updates))


def shares(found: Sequence[Outcome]) -> dict[str, str]:
    """Return the figures in words."""

    def share(count: int, of: int) -> str:
        return f"{count} of {of} ({count / max(1, of):.1%})"

    updates = len(found)
    return {
        "newest statement in the block": share(sum(any(one.shown) for one in found), updates),
        "newest statement last": share(sum(one.shown[-1:] == (True,) for one in found), updates),
        "older one ended or marked": share(sum(one.changed for one in found), updates),
        "older one ended, marked or followed": share(
            sum(one.changed or one.followed for one in found), updates
        ),
        "other turns ended or marked": share(
            sum(one.touched for one in found), sum(one.turns for one in found)
        ),
    }


def _evidence(history: History) -> list[set[str]]:
    """Return the ids of the user's turns that answer, of each session, oldest session first."""
    relevant = history.questions[0].relevant
    runs = ({one.id for one in run} & relevant for _, run in history.runs())
    return [ids for ids in runs if ids]


def _reduced(history: History, others: int) -> History:
    """Keep the sessions with evidence, and as many others, spread evenly over the rest."""
    relevant = history.questions[0].relevant
    runs = [run for _, run in history.runs()]
    free = [place for place, run in enumerate(runs) if relevant.isdisjoint(one.id for one in run)]
    left_out = {*free} - {free[place * len(free) // others] for place in range(others) if free}
    kept = [one for place, run in enumerate(runs) if place not in left_out for one in run]
    return History(history.user_id, kept, history.questions)


def _outcome(history: History, embedder: Embedder, scratch: Path) -> Outcome:
    question, user = history.questions[0], history.user_id
    clock = FrozenClock(history.memories[0].said_at)
    settings = Settings.model_validate(
        {
            "data_dir": scratch / "store",
            "index": {"provider": "none"},
            "ingest": {"background": False},
            "upkeep": {"schedule": False},
        }
    )
    with SemanticMemory.open(settings=settings, embedder=embedder, clock=clock) as memory:
        for session, run in history.runs():
            clock.moment = max(clock.moment, run[0].said_at)
            memory.observe([one.message for one in run], user_id=user, session_id=session)
            memory.flush()
        clock.moment = max(clock.moment, question.asked_at)
        block = memory.context(question.text, user_id=user, budget=BUDGET).facts
        facts = [
            fact
            for status in (Status.ACTIVE, Status.SUPERSEDED, Status.ARCHIVED)
            for fact in memory.list(user_id=user, status=status, limit=None)
            if fact.category is not Category.CONVERSATION
        ]
    *before, newest = _evidence(history)
    older = set[str]().union(*before)
    changed = _turns(fact for fact in facts if fact.ended_by or fact.perhaps_changed)
    earlier = {one for fact in facts if newest & {*fact.message_ids} for one in fact.follows}
    rest = {one.id for one in history.memories if one.role == "user"} - older - newest
    return Outcome(
        shown=tuple(
            not newest.isdisjoint(fact.message_ids)
            for fact in block
            if not (older | newest).isdisjoint(fact.message_ids)
        ),
        changed=bool(older & changed),
        followed=bool(older & _turns(fact for fact in facts if fact.id in earlier)),
        turns=len(rest),
        touched=len(rest & changed),
    )


def _turns(facts: Iterator[Fact]) -> set[str]:
    return {one for fact in facts for one in fact.message_ids}
