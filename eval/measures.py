"""Measures of a ranking, by TREC's names; an empty ranking counts as zero.

`ranking` is a list of ids, best first; `relevant` are the ids that answer the question. With
r(i) = 1 if the i-th id is relevant:

    Success@k     1 if any of the first k is relevant
    Recall@k      share of the relevant among the first k
    AllRecall@k   1 if all of the relevant are among the first k
    MRR@k         1 / i of the first relevant one, 0 beyond k
    nDCG@k        sum r(i) / log2(i + 1), over what an ideal order would reach
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Sequence

Measure = Callable[[Sequence[str], Collection[str]], float]


def success(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return 1 if any relevant id is among the first `k`, else 0."""
    return float(any(found in relevant for found in ranking[:k]))


def recall(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return the share of relevant ids among the first `k`."""
    return len(set(ranking[:k]) & set(relevant)) / len(relevant)


def all_recall(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return 1 if all relevant ids are among the first `k`, else 0."""
    return float(set(relevant) <= set(ranking[:k]))


def mrr(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return the reciprocal rank of the first relevant id, 0 beyond `k`."""
    ranks = (rank for rank, found in enumerate(ranking[:k], start=1) if found in relevant)
    return 1.0 / next(ranks, math.inf)


def ndcg(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return the normalised discounted cumulative gain, with binary gains."""
    gained = sum(
        1.0 / math.log2(rank + 1)
        for rank, found in enumerate(ranking[:k], start=1)
        if found in relevant
    )
    ideal = sum(1.0 / math.log2(rank + 1) for rank in range(1, min(k, len(relevant)) + 1))
    return gained / ideal


_MEASURES = {
    "Success": success,
    "Recall": recall,
    "AllRecall": all_recall,
    "MRR": mrr,
    "nDCG": ndcg,
}


def measure(name: str) -> Measure:
    """Return the measure written as `name`, like `Recall@10`. Raises ValueError."""
    found = re.fullmatch(r"(\w+)@([1-9]\d*)", name)
    if found is None or found[1] not in _MEASURES:
        raise ValueError(f"unknown measure {name!r}: use one of {', '.join(_MEASURES)} with @k")
    function, k = _MEASURES[found[1]], int(found[2])
    return lambda ranking, relevant: function(ranking, relevant, k)
