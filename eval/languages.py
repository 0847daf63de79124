"""Measure statements in other languages: pairs that must stay apart, facts, questions.

Every pair of `data/gold/languages.jsonl` is given to two users of its own: one adds both statements
as facts, the other says them in two sessions a month apart; then the jobs that merge and retire
run. The statements of a language are said by one user in one session, and its questions are asked
of that user.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from pydantic import model_validator

from eval.gold import share
from eval.statements import extracted
from semantic_memory.domain.facts import Category, Fact, Status
from semantic_memory.domain.messages import Message
from semantic_memory.domain.ports import Progress
from semantic_memory.domain.values import Content, Identifier, Value
from semantic_memory.memory import SemanticMemory
from semantic_memory.testing import FrozenClock

_START = datetime(2026, 3, 2, 9, tzinfo=UTC)
_APART = timedelta(days=30)
_JOBS = ("dedup", "conflicts")
_SESSIONS = ("first", "second")
_DEEPEST = 5
_GONE = (Status.SUPERSEDED, Status.QUARANTINED, Status.ARCHIVED)


class Item(Value):
    """Two statements, one statement that should become a fact, or a question."""

    id: Identifier
    kind: Literal["pair", "duplicate", "statement", "question"]
    language: str
    differs: str | None = None
    """The difference between the statements of a pair: person, value, number, ..."""
    statements: tuple[Content, Content] | None = None
    text: Content | None = None
    """The statement, or the question."""
    words: tuple[str, ...] = ()
    """Words of the statement that its fact keeps."""
    answer: Identifier | None = None
    """Id of the statement that answers the question."""

    @model_validator(mode="after")
    def _complete(self) -> Item:
        required = {
            "pair": self.statements,
            "duplicate": self.statements,
            "statement": self.text and self.words,
            "question": self.text and self.answer,
        }
        if not required[self.kind]:
            raise ValueError(f"of kind {self.kind} is incomplete")
        return self


@dataclass(frozen=True, slots=True)
class Outcome:
    """An item and its verdicts; None for those that its kind doesn't have."""

    item: Item
    added_apart: bool | None = None
    """True if both statements, added as facts, still stand as two."""
    told_apart: bool | None = None
    """True if no fact of either statement, told as messages, was merged or retired."""
    facts: Sequence[str] = ()
    """Contents of the facts extracted from the statement."""
    kept: bool | None = None
    rank: int | None = None
    """Rank of the statement that answers the question, 0 if it isn't among the first five."""


def tell(
    memory: SemanticMemory, clock: FrozenClock, items: Sequence[Item], progress: Progress
) -> list[Outcome]:
    """Give every item to the store; return the outcomes in order.

    `clock` is the store's clock; it moves on by two months.
    """
    told = {item.id: item for item in items if item.text and item.kind == "statement"}
    pairs = [item for item in items if item.statements]
    clock.moment = _START
    for item in told.values():
        memory.observe(
            [Message(id=item.id, role="user", content=item.text or "")],
            user_id=item.language,
            session_id=_SESSIONS[0],
        )
    for place, session in enumerate(_SESSIONS):
        clock.moment = _START + place * _APART
        for done, item in enumerate(pairs, start=1):
            text = (item.statements or ("", ""))[place]
            memory.add(text, user_id=_adding(item))
            message = Message(id=session, role="user", content=text)
            memory.observe([message], user_id=_telling(item), session_id=session)
            progress(f"telling, {session}", done, len(pairs))
        memory.flush()
    clock.moment = _START + 2 * _APART
    memory.jobs.run(_JOBS)
    return [_outcome(memory, item) for item in items]


def figures(outcomes: Sequence[Outcome]) -> dict[str, float | None]:
    """Return every measure over `outcomes`; None where nothing was there to measure."""
    pairs = [one for one in outcomes if one.item.kind == "pair"]
    doubles = [one for one in outcomes if one.item.kind == "duplicate"]
    ranks = [one.rank for one in outcomes if one.rank is not None]
    return {
        "pairs": len(pairs),
        "added: merged or retired": sum(one.added_apart is False for one in pairs),
        "told: merged or retired": sum(one.told_apart is False for one in pairs),
        "duplicates merged": share(one.added_apart is False for one in doubles),
        "statements kept": share(one.kept for one in outcomes if one.kept is not None),
        "Success@1": share(rank == 1 for rank in ranks),
        "Success@5": share(rank > 0 for rank in ranks),
    }


def row(outcome: Outcome) -> dict[str, object]:
    """Return an item's row, to be read by a person."""
    return {
        **outcome.item.model_dump(exclude_defaults=True),
        "added_apart": outcome.added_apart,
        "told_apart": outcome.told_apart,
        "facts": [*outcome.facts],
        "kept": outcome.kept,
        "rank": outcome.rank,
    }


def _outcome(memory: SemanticMemory, item: Item) -> Outcome:
    match item.kind:
        case "pair" | "duplicate":
            return Outcome(
                item,
                added_apart=len(extracted(memory, _adding(item))) == len(_SESSIONS),
                told_apart=_stand_apart(memory, _telling(item)),
            )
        case "statement":
            facts = [
                fact.content
                for fact in extracted(memory, item.language)
                if item.id in fact.message_ids
            ]
            kept = any(all(word in text.casefold() for word in item.words) for text in facts)
            return Outcome(item, facts=facts, kept=kept)
        case "question":
            return Outcome(item, rank=_rank(memory, item))


def _stand_apart(memory: SemanticMemory, user_id: str) -> bool:
    gone: list[Fact] = []
    for status in _GONE:
        gone += memory.list(user_id=user_id, status=status, limit=None)
    retired = [fact for fact in gone if fact.category is not Category.CONVERSATION]
    shared = [fact for fact in extracted(memory, user_id) if len(fact.message_ids) > 1]
    return not retired and not shared


def _rank(memory: SemanticMemory, item: Item) -> int:
    hits = memory.search(item.text or "", user_id=item.language, k=_DEEPEST)
    ranks = (rank for rank, hit in enumerate(hits, 1) if item.answer in hit.fact.message_ids)
    return next(ranks, 0)


def _adding(item: Item) -> str:
    return f"{item.id}-added"


def _telling(item: Item) -> str:
    return f"{item.id}-told"
