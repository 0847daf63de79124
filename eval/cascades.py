"""Facts that rest on another one, once that falls: the share of them that is to check.

Written cases: a basis, what rests on it, look-alikes that are apart from it, and how the basis
falls. What rests on it is `referenced` by the application, directly or in a `chain`. Or it only
says so in a conversation: `because` of a basis that was stated before, or one that is `unsaid` but
for that; or it is a `plan` or habit with what the basis introduces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, Self

from pydantic import model_validator

from eval.gold import Half, grouped, read_gold
from semantic_memory.domain.facts import Category, Fact, Status
from semantic_memory.domain.messages import Message
from semantic_memory.domain.ports import Embedder
from semantic_memory.domain.values import Value
from semantic_memory.memory import SemanticMemory
from semantic_memory.settings import Settings
from semantic_memory.testing import FrozenClock

FIRST = datetime(2026, 1, 5, 9, tzinfo=UTC)


class Case(Value):
    """A basis that falls in one of three ways."""

    half: Half
    kind: Literal["referenced", "chain", "because", "plan", "unsaid"]
    basis: str | None = None
    """Only of `unsaid` None: what rests on it states it."""
    rests: tuple[str, ...]
    apart: tuple[str, ...]
    said: str | None = None
    """A statement of the user that is meant to end it."""
    forgotten: str | None = None
    """The subject that is forgotten."""
    deleted: bool = False

    @model_validator(mode="after")
    def _falls_once(self) -> Self:
        if [bool(self.said), bool(self.forgotten), self.deleted].count(True) != 1:
            raise ValueError("say how the basis falls: one of said, forgotten and deleted")
        if (self.basis is None) != (self.kind == "unsaid") or (self.basis or self.said) is None:
            raise ValueError("give a basis, or, of `unsaid`, what the user says later")
        return self


@dataclass(frozen=True, slots=True)
class Outcome:
    """Fate of the facts that rest on a basis."""

    case: Case
    fell: bool
    found: int
    """Number of facts that rest on it and are to check, or perhaps changed."""
    wrong: int
    """Number of facts apart from it that are."""
    retired: int
    """Number of facts that rest on it and were ended without being asked about."""


def outcomes(
    embedder: Embedder, path: Path | None = None, half: Half | None = None
) -> Iterator[Outcome]:
    """Play the cases of a half, or all, each as a user of its own.

    Raises NotFoundError, InvalidInputError.
    """
    cases = [one for one in read_gold("cascade", Case, path) if half in (None, one.half)]
    with TemporaryDirectory(prefix="semantic-memory-cascade-") as scratch:
        clock = FrozenClock(FIRST)
        settings = Settings.model_validate(
            {
                "data_dir": Path(scratch) / "store",
                "index": {"provider": "none"},
                "ingest": {"background": False},
                "upkeep": {"schedule": False},
            }
        )
        with SemanticMemory.open(settings=settings, embedder=embedder, clock=clock) as memory:
            for number, case in enumerate(cases):
                yield _played(memory, clock, case, f"user-{number}")


def _played(memory: SemanticMemory, clock: FrozenClock, case: Case, user: str) -> Outcome:
    basis = None if case.basis is None else _basis(memory, clock, user, case.basis)
    if case.kind in ("referenced", "chain"):
        rests: list[str] = []
        for sentence in case.rests:
            under = rests[-1] if rests and case.kind == "chain" else basis.id if basis else ""
            rests.append(memory.add(sentence, user_id=user, references=[under]).id)
        apart = [memory.add(sentence, user_id=user).id for sentence in case.apart]
    else:
        rests = _told(memory, clock, user, case.rests, session="rests")
        apart = _told(memory, clock, user, case.apart, session="apart")
    clock.advance(days=20)
    if case.said is not None:
        _tell(memory, clock, user, case.said, session="later")
    elif case.forgotten is not None:
        memory.forget(user_id=user, entity=case.forgotten, keep_source=True, force=True)
    elif basis is not None:
        memory.delete(basis.id, keep_source=True)
    active = {fact.id: fact for fact in _facts(memory, user)}
    marked = {
        one.fact.id for one in memory.history.to_confirm(user_id=user) if one.fact.id in active
    }
    marked |= {fact.id for fact in active.values() if fact.review == "to check"}
    ended = {fact.id for fact in memory.list(user_id=user, status=Status.SUPERSEDED)}
    return Outcome(
        case,
        fell=basis is None or basis.id not in active,
        found=len(marked & {*rests}),
        wrong=len(marked & {*apart}),
        retired=len(ended & {*rests}),
    )


def _tell(
    memory: SemanticMemory, clock: FrozenClock, user: str, text: str, *, session: str
) -> None:
    clock.advance(minutes=1)
    said = [Message(role="user", content=text, created_at=clock.now())]
    memory.observe(said, user_id=user, session_id=session)
    memory.flush()


def _told(
    memory: SemanticMemory, clock: FrozenClock, user: str, sentences: Sequence[str], *, session: str
) -> list[str]:
    """Say sentences in a conversation; return the ids of the facts that were extracted."""
    before = {fact.id for fact in _facts(memory, user)}
    for sentence in sentences:
        _tell(memory, clock, user, sentence, session=session)
    return [fact.id for fact in _facts(memory, user) if fact.id not in before]


def _basis(memory: SemanticMemory, clock: FrozenClock, user: str, text: str) -> Fact:
    """Say a basis; return the fact that was extracted, or else add it, as an application would."""
    found = _told(memory, clock, user, [text], session="basis")
    return memory.get(found[0]) if found else memory.add(text, user_id=user)


def _facts(memory: SemanticMemory, user: str) -> list[Fact]:
    found = memory.list(user_id=user, limit=None)
    return [fact for fact in found if fact.category is not Category.CONVERSATION]


def shares(found: Sequence[Outcome]) -> Mapping[str, Mapping[str, float]]:
    """Return the figures of all cases whose basis fell, and of each kind of them."""
    fallen = [one for one in found if one.fell]
    figures = {}
    for kind, some in grouped(fallen, lambda one: one.case.kind).items():
        resting = sum(len(one.case.rests) for one in some)
        figures[kind] = {
            "cases": len(some),
            "resting facts": resting,
            "found": sum(one.found for one in some) / resting,
            "wrongly marked": sum(one.wrong for one in some),
            "silently retired": sum(one.retired for one in some),
        }
    return figures
