"""A judge that asks a second judge about uncertain pairs, within a limit and with a cache."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from semantic_memory.domain.errors import ProviderError
from semantic_memory.domain.events import Event, JudgingFellBack
from semantic_memory.domain.values import derived_id
from semantic_memory.judging.ports import Pair, PairJudge, Verdict

_HOUR = 3_600.0
_MOST_KNOWN = 10_000
_SURE = 0.9
"""Probability from which a verdict of the first judge stands."""
_NEAR = 0.55
"""Cosine similarity from which the second judge is asked."""
_LIKELY = 0.2
"""Probability from which it is asked about pairs that are less near."""


class CascadeJudge:
    """Judge that asks `second` about pairs that `first` is unsure of.

    These are the near pairs that `first` can't read, or is sure of neither relation of. At most
    `per_hour` pairs an hour are asked about, the nearest first within each call. Those beyond, and
    those that `second` fails on, keep the verdict of `first` and are deferred: to be judged again.
    The last 10,000 answers of `second` are cached in memory. Thread-safe.
    """

    def __init__(
        self,
        first: PairJudge,
        second: PairJudge,
        *,
        name: str,
        observe: Callable[[Event], None],
        per_hour: int = 200,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._first = first
        self._second = second
        self._name = name
        self._emit = observe
        self._per_hour = per_hour
        self._now = now
        self._known: dict[str, Verdict] = {}
        self._left = per_hour
        self._until = float("-inf")
        self._lock = threading.Lock()

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict | None]:
        """Return one verdict for each pair."""
        verdicts = self._first.judge(pairs)
        unsure = {
            number: _key(pairs[number])
            for number, verdict in enumerate(verdicts)
            if _is_open(pairs[number], verdict)
        }
        with self._lock:
            new = {key: n for n, key in unsure.items() if key not in self._known}
            asking = sorted(new.values(), key=lambda number: -pairs[number].similarity)
            self._ask([pairs[number] for number in asking[: self._allowed()]])
            for number, key in unsure.items():
                verdicts[number] = self._known.get(key) or _deferred(verdicts[number])
        return verdicts

    def _allowed(self) -> int:
        if self._now() >= self._until:
            self._left, self._until = self._per_hour, self._now() + _HOUR
        return self._left

    def _ask(self, pairs: Sequence[Pair]) -> None:
        if not pairs:
            return
        self._left -= len(pairs)
        try:
            answers = self._second.judge(pairs)
        except ProviderError as error:
            self._emit(JudgingFellBack(self._name, str(error), len(pairs)))
            return
        for pair, verdict in zip(pairs, answers, strict=True):
            if verdict is not None:
                self._known[_key(pair)] = verdict
        while len(self._known) > _MOST_KNOWN:
            del self._known[next(iter(self._known))]


def _is_open(pair: Pair, verdict: Verdict | None) -> bool:
    if verdict is None:
        return pair.similarity >= _NEAR
    likely = max(verdict.over, verdict.same)
    return likely < _SURE and (pair.similarity >= _NEAR or likely >= _LIKELY)


def _deferred(verdict: Verdict | None) -> Verdict:
    return replace(verdict or Verdict(0.0, 0.0, "none"), is_deferred=True)


def _key(pair: Pair) -> str:
    """Return the cache key of a pair: both texts in order, and whether their dates differ."""
    days = pair.newer.created_at.date() > pair.older.created_at.date()
    return derived_id(pair.older.content, pair.newer.content, str(days))
