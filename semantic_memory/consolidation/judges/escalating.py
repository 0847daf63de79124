"""A second opinion where the rules aren't sure: remembered, capped, left alone while it fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from semantic_memory.consolidation.relations import Pair, Relation, RelationJudge, Verdict
from semantic_memory.domain.errors import ProviderError
from semantic_memory.domain.events import BreakerOpened, Event, JudgingFellBack
from semantic_memory.domain.values import derived_id

_HOUR = 3_600.0
_MOST_KNOWN = 10_000


class Breaker(Protocol):
    """Keeps calls from an endpoint that keeps failing."""

    failures: int
    open_seconds: float

    def wait(self) -> float:
        """Seconds until calls are let through; 0 if they are now."""
        ...

    def succeeded(self) -> None:
        """A call went through."""
        ...

    def failed(self) -> bool:
        """A call failed; returns whether that opened it."""
        ...


class EscalatingJudge:
    """Asks `second` about pairs that `first` leaves unrelated with a certainty below `below`.

    In an hour about `per_hour` pairs at most, the least certain first within each call. What it
    doesn't ask about, and what `second` fails at, stays as `first` decided. Answers are remembered
    while the process lives. Thread-safe.
    """

    def __init__(
        self,
        first: RelationJudge,
        second: RelationJudge,
        *,
        name: str,
        breaker: Breaker,
        observe: Callable[[Event], None],
        per_hour: int = 200,
        below: float = 0.8,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._first = first
        self._second = second
        self._name = name
        self._breaker = breaker
        self._observe = observe
        self._per_hour = per_hour
        self._below = below
        self._now = now
        self._known: dict[str, Verdict] = {}
        self._left = per_hour
        self._until = float("-inf")
        self._lock = threading.Lock()

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """One verdict for each pair."""
        verdicts = self._first.judge(pairs)
        unsure = {
            number: _key(pairs[number])
            for number, verdict in enumerate(verdicts)
            if verdict.relation is Relation.UNRELATED and verdict.certainty < self._below
        }
        with self._lock:
            new = {key: n for n, key in unsure.items() if key not in self._known}
            asking = sorted(new.values(), key=lambda number: verdicts[number].certainty)
            self._ask([pairs[number] for number in asking[: self._allowed()]])
            for number, key in unsure.items():
                verdicts[number] = self._known.get(key, verdicts[number])
        return verdicts

    def _allowed(self) -> int:
        if self._now() >= self._until:
            self._left, self._until = self._per_hour, self._now() + _HOUR
        return 0 if self._breaker.wait() else self._left

    def _ask(self, pairs: Sequence[Pair]) -> None:
        if not pairs:
            return
        self._left -= len(pairs)
        try:
            answers = self._second.judge(pairs)
        except ProviderError as error:
            self._observe(JudgingFellBack(self._name, str(error), len(pairs)))
            if self._breaker.failed():
                breaker = self._breaker
                self._observe(BreakerOpened(self._name, breaker.failures, breaker.open_seconds))
            return
        self._breaker.succeeded()
        for pair, verdict in zip(pairs, answers, strict=True):
            self._known[_key(pair)] = verdict
        while len(self._known) > _MOST_KNOWN:
            del self._known[next(iter(self._known))]


def _key(pair: Pair) -> str:
    """What a verdict depends on: both texts in their order, and whether days lie between them."""
    days = pair.newer.created_at.date() > pair.older.created_at.date()
    return derived_id(pair.older.content, pair.newer.content, str(days))
