"""A second opinion where the first judge isn't sure: cached, and capped for each sweep."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence

from semantic_memory.errors import ProviderError
from semantic_memory.maintenance.relations import Pair, Relation, RelationJudge, Verdict
from semantic_memory.models import derived_id

Cache = MutableMapping[str, Verdict]
"""Verdicts by `pair_key`; a dictionary, or anything that keeps them longer."""


class EscalatingJudge:
    """Asks `second` about pairs that `first` leaves unrelated with a certainty below `below`.

    Made anew for each sweep: it asks about `at_most` pairs, the least certain first within each
    call, and after a failure no more. What it doesn't ask about stays as `first` decided.
    """

    def __init__(
        self,
        first: RelationJudge,
        second: RelationJudge,
        *,
        cache: Cache,
        below: float = 0.8,
        at_most: int = 200,
    ) -> None:
        self._first = first
        self._second = second
        self._cache = cache
        self._below = below
        self._left = at_most
        self.asked = 0
        """Pairs that `second` was asked about."""
        self.failure: ProviderError | None = None
        """Why `second` isn't asked any more."""

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """One verdict for each pair."""
        verdicts = self._first.judge(pairs)
        unsure = [
            number
            for number, verdict in enumerate(verdicts)
            if verdict.relation is Relation.UNRELATED and verdict.certainty < self._below
        ]
        keys = {number: pair_key(pairs[number]) for number in unsure}
        asking = sorted(
            (number for number in unsure if keys[number] not in self._cache),
            key=lambda number: verdicts[number].certainty,
        )[: self._left]
        self._ask([pairs[number] for number in asking])
        for number in unsure:
            verdicts[number] = self._cache.get(keys[number], verdicts[number])
        return verdicts

    def _ask(self, pairs: Sequence[Pair]) -> None:
        if not pairs:
            return
        try:
            answers = self._second.judge(pairs)
        except ProviderError as error:
            self.failure, self._left = error, 0
            return
        self._left -= len(pairs)
        self.asked += len(pairs)
        self._cache.update(
            (pair_key(pair), verdict) for pair, verdict in zip(pairs, answers, strict=True)
        )


def pair_key(pair: Pair) -> str:
    """What a verdict depends on: both texts in their order, and whether days lie between them."""
    days = pair.newer.created_at.date() > pair.older.created_at.date()
    return derived_id(pair.older.content, pair.newer.content, str(days))
