"""Costs of language models, by user and task, and a limit for a task and a day.

The ledger keeps both, so that a restart forgets no spending.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

from pydantic import TypeAdapter

from semantic_memory.domain.errors import BudgetReachedError
from semantic_memory.domain.events import BudgetReached, Event, ModelCalled
from semantic_memory.domain.ports import Clock, KeyValues
from semantic_memory.domain.reports import BudgetState, Spend
from semantic_memory.domain.values import Value
from semantic_memory.llm.chat import ChatModel, ChatRequest, Completion

_charged: ContextVar[str] = ContextVar("charged", default="")
_USER = "spend "  # prefix of keys in the ledger's meta, before a user's id
_TODAY = "spend-today "  # before a task


@contextmanager
def charged_to(user_id: str) -> Iterator[None]:
    """Charge the calls of models within to a user."""
    token = _charged.set(user_id)
    try:
        yield
    finally:
        _charged.reset(token)


def charged() -> str:
    """Return the user that calls are charged to; empty for nobody."""
    return _charged.get()


class _Spent(Value):
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0

    @property
    def tokens(self) -> int:
        """Number of tokens, in and out."""
        return self.input_tokens + self.output_tokens

    def and_(self, call: ModelCalled) -> _Spent:
        """Return the sum with a call."""
        return _Spent(
            calls=self.calls + 1,
            input_tokens=self.input_tokens + call.input_tokens,
            output_tokens=self.output_tokens + call.output_tokens,
            cost_usd=self.cost_usd + (call.cost_usd or 0.0),
        )


class _Day(Value):
    day: str = ""
    spent: _Spent = _Spent()


_TASKS = TypeAdapter(dict[str, _Spent])


class SpendingLedger(KeyValues, Protocol):
    """The part of the ledger that keeps spending."""

    def exclusive(self, *user_ids: str) -> AbstractContextManager[None]:
        """Keep others from writing meanwhile."""
        ...


class SpendBook:
    """Spending of a store, kept in its ledger. Thread-safe."""

    def __init__(self, ledger: SpendingLedger, clock: Clock) -> None:
        self._ledger = ledger
        self._clock = clock

    def record(self, call: ModelCalled) -> None:
        """Add a call to the spending of its user and of the day."""
        name = f"{_USER}{call.user_id}"
        today = f"{_TODAY}{call.purpose}"
        with self._ledger.exclusive(name):
            tasks = self._tasks(self._ledger.meta(name))
            tasks[call.purpose] = tasks.get(call.purpose, _Spent()).and_(call)
            self._ledger.set_meta(name, _TASKS.dump_json(tasks).decode())
        with self._ledger.exclusive(today):
            day = _Day(day=self._day(), spent=self.today(call.purpose).and_(call))
            self._ledger.set_meta(today, day.model_dump_json())

    def today(self, task: str) -> _Spent:
        """Return what a task has spent since midnight, UTC."""
        stored = self._ledger.meta(f"{_TODAY}{task}")
        day = _Day.model_validate_json(stored) if stored else _Day()
        return day.spent if day.day == self._day() else _Spent()

    def spending(self) -> list[Spend]:
        """Return what each user's tasks have cost, the costliest first."""
        found = [
            Spend(user_id=key.removeprefix(_USER), task=task, **spent.model_dump())
            for key, stored in self._ledger.metas(_USER).items()
            for task, spent in self._tasks(stored).items()
        ]
        return sorted(found, key=lambda one: (one.cost_usd, one.input_tokens), reverse=True)

    def midnight(self) -> datetime:
        """Return the time at which a new day begins."""
        now = self._clock.now().astimezone(UTC)
        return (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)

    def _day(self) -> str:
        return self._clock.now().astimezone(UTC).date().isoformat()

    @staticmethod
    def _tasks(stored: str | None) -> dict[str, _Spent]:
        return _TASKS.validate_json(stored) if stored else {}


def erase_spending(ledger: KeyValues, user_id: str) -> None:
    """Erase what is kept of a user's spending."""
    if ledger.meta(f"{_USER}{user_id}"):
        ledger.set_meta(f"{_USER}{user_id}", "")


@dataclass(frozen=True, slots=True)
class Budget:
    """Most that a task may spend in a day, in tokens and in US dollars."""

    task: str
    tokens: int | None = None
    usd: float | None = None

    def state(self, book: SpendBook) -> BudgetState:
        """Return what has been spent of it today."""
        spent = book.today(self.task)
        reached = (self.tokens is not None and spent.tokens >= self.tokens) or (
            self.usd is not None and spent.cost_usd >= self.usd
        )
        return BudgetState(
            task=self.task,
            tokens=spent.tokens,
            most_tokens=self.tokens,
            cost_usd=spent.cost_usd,
            most_usd=self.usd,
            reached_until=book.midnight() if reached else None,
        )


class Budgeted:
    """A `ChatModel` that is asked no more today once a budget is spent.

    The call that reaches the budget is made, so it may be exceeded by one call for each thread.
    """

    def __init__(
        self,
        model: ChatModel,
        budget: Budget,
        book: SpendBook,
        observe: Callable[[Event], None],
    ) -> None:
        self._model = model
        self._budget = budget
        self._book = book
        self._observe = observe
        self._told: datetime | None = None

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._model.name

    def complete(self, request: ChatRequest) -> Completion:
        """Return the model's answer. Raises BudgetReachedError, and as the model does."""
        state = self._budget.state(self._book)
        if state.reached_until is not None:
            if self._told != state.reached_until:
                self._told = state.reached_until
                self._observe(BudgetReached(state.task, state.tokens, state.cost_usd))
            raise BudgetReachedError(
                f"the daily budget of {state.task} is spent: {state.tokens:,} tokens, USD"
                f" {state.cost_usd:.2f}; it is renewed at {state.reached_until:%Y-%m-%d %H:%M} UTC"
            )
        return self._model.complete(request)
