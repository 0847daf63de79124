"""Measure what becomes of single statements: a fact, the right one, or nothing.

Every item of `data/gold/statements.jsonl` is told to a store by a user of its own, at its own time,
and flushed. A fact belongs to the item if it came from one of the item's messages, not from the
context before them. An expected fact is found if one fact holds a word of each of its groups and
none of what it must lack; polarity, category and date are judged on the fact that found it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Literal

from pydantic import Field

from eval.gold import Half, share
from eval.standing import trouble
from eval.wording import gives_date, holds, holds_all, is_negated, is_negative
from ingest.gate import Gate
from semantic_memory.domain.extraction import Candidate
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.messages import Message, Role
from semantic_memory.domain.ports import Extractor, Progress
from semantic_memory.domain.values import Content, Identifier, Name, Timestamp, Value
from semantic_memory.memory import SemanticMemory
from semantic_memory.testing import FrozenClock

Groups = tuple[tuple[str, ...], ...]

_SESSION = "told"


class Said(Value):
    """One message of an item."""

    role: Role
    content: Content
    name: Name | None = None


class Expected(Value):
    """One fact that an item should give."""

    has: Groups = Field(min_length=1)
    """Groups of alternatives: the fact holds at least one of each."""
    lacks: tuple[str, ...] = ()
    categories: tuple[Category, ...] = Field(min_length=1)
    """The categories that are right."""
    negative: bool | None = None
    """True if the fact denies, None where either wording is right."""
    optional: bool = False
    """True for what may be stored but needn't be."""
    date: str | None = Field(default=None, pattern=r"^\d{4}(-\d\d(-\d\d)?)?$")

    def matches(self, text: str) -> bool:
        """Return True if `text` says this fact, whatever its polarity and date."""
        return holds_all(text, self.has) and not any(holds(text, words) for words in self.lacks)


class Item(Value):
    """A statement or a short exchange, and the facts that it should give."""

    id: Identifier
    half: Half
    kind: str
    setting: Literal["work", "private"]
    tone: Literal["plain", "chat"] = Field(alias="register")
    context: tuple[Said, ...] = ()
    messages: tuple[Said, ...] = Field(min_length=1)
    at: Timestamp
    facts: tuple[Expected, ...]
    alone: tuple[str, ...] = ()
    """The antecedent: a fact that was found holds one of these, or it doesn't stand alone."""


@dataclass(frozen=True, slots=True)
class Judged:
    """An expected fact and the fact that says it, if there is one."""

    expected: Expected
    fact: Fact | Candidate | None

    @property
    def polarity(self) -> bool | None:
        """Return True if the polarity is right; None where it isn't judged."""
        if self.fact is None or self.expected.negative is None:
            return None
        text = self.fact.content
        return is_negative(text) if self.expected.negative else not is_negated(text)

    @property
    def category(self) -> bool | None:
        """Return True if the category is right."""
        return None if self.fact is None else self.fact.category in self.expected.categories

    @property
    def date(self) -> bool | None:
        """Return True if the fact gives the expected date; None where there is none to give."""
        if self.fact is None or self.expected.date is None:
            return None
        return gives_date(self.fact.content, self.expected.date)

    @property
    def right(self) -> int:
        """Number of properties that are right, to choose among facts that say the same."""
        return sum(one is True for one in (self.polarity, self.category, self.date))


@dataclass(frozen=True, slots=True)
class Outcome:
    """An item and the facts that the store drew from it."""

    item: Item
    facts: Sequence[Fact | Candidate]

    @property
    def found(self) -> list[Judged]:
        """Return every fact that is due, with the best of the facts that say it."""
        return [self._find(expected) for expected in self.item.facts if not expected.optional]

    @property
    def complete(self) -> bool:
        """Return True if every expected fact was found, and no fact where none is expected."""
        return all(one.fact for one in self.found) if self.found else not self.facts

    def expects(self, fact: Fact | Candidate) -> bool:
        """Return True if `fact` says something that the item should give."""
        return any(expected.matches(fact.content) for expected in self.item.facts)

    def trouble(self, fact: Fact | Candidate) -> str | None:
        """Return the reason why `fact` doesn't stand alone, or None."""
        if (
            self.item.alone
            and self.expects(fact)
            and not holds_all(fact.content, [self.item.alone])
        ):
            return "lacks its antecedent"
        return trouble(fact.content)

    def _find(self, expected: Expected) -> Judged:
        matching = [Judged(expected, fact) for fact in self.facts if expected.matches(fact.content)]
        return max(matching, key=lambda one: one.right, default=Judged(expected, None))


def tell(
    memory: SemanticMemory, clock: FrozenClock, items: Sequence[Item], progress: Progress
) -> list[Outcome]:
    """Tell each item to the store as a user of its own; return the facts drawn from each.

    `clock` is the store's clock; it is set to the time of each item, the earliest first.
    """
    outcomes: dict[str, Outcome] = {}
    for moment, own in groupby(sorted(items, key=_time), key=_time):
        clock.moment = moment
        told = [*own]
        for item in told:
            memory.observe(_messages(item), user_id=item.id, session_id=_SESSION)
        memory.flush()
        for item in told:
            ids = {message.id for message in _messages(item)[len(item.context) :]}
            facts = [fact for fact in extracted(memory, item.id) if ids & {*fact.message_ids}]
            outcomes[item.id] = Outcome(item, facts)
        progress("telling", len(outcomes), len(items))
    return [outcomes[item.id] for item in items]


def outcome(item: Item, extractor: Extractor, gate: Gate) -> Outcome:
    """Return what an extractor and the gate make of an item, without a store."""
    messages = _messages(item)
    ids = {message.id for message in messages[len(item.context) :]}
    admitted = gate.admit(extractor.extract(messages, ()).candidates, messages).admitted
    return Outcome(item, [one for one in admitted if ids & {*one.message_ids}])


def extracted(memory: SemanticMemory, user_id: str) -> list[Fact]:
    """Return the facts of a user that stand, without the messages themselves."""
    return [
        fact
        for fact in memory.list(user_id=user_id, limit=None)
        if fact.category is not Category.CONVERSATION
    ]


def figures(outcomes: Sequence[Outcome]) -> dict[str, float | None]:
    """Return every measure over `outcomes`; None where nothing was there to measure."""
    telling = [one for one in outcomes if one.found]
    found = [one for outcome in telling for one in outcome.found]
    given = [(outcome, fact) for outcome in outcomes for fact in outcome.facts]
    return {
        "items": len(outcomes),
        "facts given": len(given),
        "expected facts found": share(one.fact is not None for one in found),
        "nothing where nothing is due": share(not one.facts for one in outcomes if not one.found),
        "several facts, all found": share(one.complete for one in telling if len(one.found) > 1),
        "given facts that are expected": share(one.expects(fact) for one, fact in given),
        "given facts that stand alone": share(one.trouble(fact) is None for one, fact in given),
        "polarity right": _judged(found, lambda one: one.polarity),
        "category right": _judged(found, lambda one: one.category),
        "date right": _judged(found, lambda one: one.date),
    }


def row(outcome: Outcome) -> dict[str, object]:
    """Return an item's row, to be read by a person."""
    item = outcome.item
    return {
        "id": item.id,
        "half": item.half,
        "kind": item.kind,
        "context": [one.content for one in item.context],
        "messages": [one.content for one in item.messages],
        "complete": outcome.complete,
        "expected": [
            {
                "has": one.expected.has,
                "found": one.fact.content if one.fact else None,
                "polarity": one.polarity,
                "category": one.category,
                "date": one.date,
            }
            for one in outcome.found
        ],
        "given": [
            {
                "content": fact.content,
                "category": fact.category,
                "expected": outcome.expects(fact),
                "trouble": outcome.trouble(fact),
            }
            for fact in outcome.facts
        ],
    }


def _messages(item: Item) -> list[Message]:
    """Return the item's messages after those of its context, a minute apart, the last at `at`."""
    said = [*item.context, *item.messages]
    return [
        Message(
            id=f"m{place}",
            role=one.role,
            name=one.name,
            content=one.content,
            created_at=item.at - timedelta(minutes=len(said) - 1 - place),
        )
        for place, one in enumerate(said)
    ]


def _time(item: Item) -> datetime:
    return item.at


def _judged(found: Sequence[Judged], verdict: Callable[[Judged], bool | None]) -> float | None:
    return share(right for one in found if (right := verdict(one)) is not None)
