"""Measure one ranking over two owners: a user's memory, of which a team has a part.

Each history is divided between the user and a team, session by session and fact by fact. Every
question is asked of the whole memory, of both owners in one ranking, and of each owner by itself,
taking results of both in turn, as an agent has to that names one owner at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, zip_longest

from eval.datasets import DataSet, History, Memory
from eval.experiment import Bench
from eval.results import mean
from eval.run import ask
from eval.systems import Found
from eval.systems.ours import Ours
from semantic_memory.domain.ports import Progress

MEASURES = ("Recall@5", "Recall@10", "nDCG@10", "MRR@10")
SHARES = (2, 5)
"""The user has every second, or every fifth, session and fact; the team has the others."""
_TEAM = "team-of-"

Way = Callable[[Ours, str, str, int, datetime], Sequence[Found]]


@dataclass(frozen=True, slots=True)
class Figure:
    """A measure of one way to ask."""

    store: str
    way: str
    measure: str
    value: float


@dataclass(frozen=True, slots=True)
class Asked:
    """A filled store, asked in one way."""

    store: Ours
    way: Way

    def take_in(self, histories: Sequence[History], progress: Progress) -> None:
        """Store everything."""
        self.store.take_in(histories, progress)

    def search(self, user_id: str, query: str, k: int, asked_at: datetime) -> Sequence[Found]:
        """Return the first hits of the way."""
        return self.way(self.store, user_id, query, k, asked_at)

    def close(self) -> None:
        """Close the store."""
        self.store.close()


def whole(store: Ours, user_id: str, query: str, k: int, at: datetime) -> Sequence[Found]:
    """Ask for the user's memory alone."""
    return store.search(user_id, query, k, at)


def merged(store: Ours, user_id: str, query: str, k: int, at: datetime) -> Sequence[Found]:
    """Ask for both memories in one ranking."""
    return store.search(user_id, query, k, at, spaces=[_TEAM + user_id])


def in_turn(store: Ours, user_id: str, query: str, k: int, at: datetime) -> Sequence[Found]:
    """Ask for each memory by itself, and take the hits of both in turn."""
    both = (store.search(owner, query, k, at) for owner in (user_id, _TEAM + user_id))
    return [hit for pair in zip_longest(*both) for hit in pair if hit is not None][:k]


DIVIDED: Mapping[str, Way] = {"one ranking": merged, "in turn": in_turn}


def sweep(dataset: DataSet, shared: Bench, progress: Progress) -> Iterator[Figure]:
    """Yield the figures of the whole memory, and of each way to ask of a divided one."""
    yield from _measured("whole", dataset.histories, {"search": whole}, dataset, shared, progress)
    for share in SHARES:
        parts = list(chain.from_iterable(divided(one, share) for one in dataset.histories))
        yield from _measured(f"1 of {share} own", parts, DIVIDED, dataset, shared, progress)


def _measured(
    name: str,
    histories: Sequence[History],
    ways: Mapping[str, Way],
    dataset: DataSet,
    shared: Bench,
    progress: Progress,
) -> Iterator[Figure]:
    store = Ours(shared.scratch / name.replace(" ", "-"), shared.embedder)
    try:
        store.take_in(histories, progress)
        for way, search in ways.items():
            rows = ask(Asked(store, search), dataset, shared.counter, progress, step=way)
            answerable = [row for row in rows if row.answerable]
            for measure in MEASURES:
                yield Figure(name, way, measure, mean(answerable, measure, dataset.level))
    finally:
        store.close()


def divided(history: History, share: int) -> Iterator[History]:
    """Yield the user's part, every `share`-th session or fact, and the team's."""
    pieces = list(_pieces(history))
    team = [piece for number, piece in enumerate(pieces) if number % share]
    for owner, own in ((history.user_id, pieces[::share]), (_TEAM + history.user_id, team)):
        if own:
            yield replace(history, user_id=owner, memories=list(chain.from_iterable(own)))


def _pieces(history: History) -> Iterator[list[Memory]]:
    for session_id, run in history.runs():
        if session_id is None:
            yield from ([fact] for fact in run)
        else:
            yield run
