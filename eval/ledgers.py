"""Speed of the ledgers on SQLite and on PostgreSQL, side by side, call by call in turns.

Users' memories of some words each, with random vectors, which no ledger cares about.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import numpy as np

from semantic_memory.domain.changes import Add, FactVectors, Matrix, Touch
from semantic_memory.domain.facts import Category, Fact
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.ports import Ledger
from semantic_memory.ledger.postgres import PostgresLedger
from semantic_memory.ledger.sqlite import SqliteLedger

_NOW = datetime(2026, 5, 10, 12, tzinfo=UTC)
_DIMENSION = 384
_BATCH = 100
_VOCABULARY = [f"word{number:04}" for number in range(5_000)]

Call = Callable[[Ledger], object]


@dataclass(frozen=True, slots=True)
class Compared:
    """The median time of a call on each ledger, in milliseconds."""

    call: str
    sqlite: float
    postgres: float


def measure_ledgers(url: str, users: int, memories: int, rounds: int) -> Iterator[Compared]:
    """Fill a ledger of each kind, and yield the median of each call; the schema at `url` grows."""
    drawn = random.Random(0)
    names = [f"{uuid4().hex}-{number}" for number in range(users)]  # new ones to a schema in use
    with (
        tempfile.TemporaryDirectory() as directory,
        closing(SqliteLedger(Path(directory) / "ledger.sqlite3")) as sqlite,
        closing(PostgresLedger(url)) as postgres,
    ):
        for name in names:
            facts = [_fact(name, drawn) for _ in range(memories)]
            for start in range(0, memories, _BATCH):
                changes = [Add(one, _vectors(drawn)) for one in facts[start : start + _BATCH]]
                sqlite.apply(changes)
                postgres.apply(changes)
        for call, draw in _calls(drawn):
            taken: list[tuple[Ledger, list[float]]] = [(sqlite, []), (postgres, [])]
            for _ in range(rounds):
                run = draw(drawn.choice(names), sqlite)
                for ledger, times in taken:
                    start_at = time.perf_counter()
                    run(ledger)
                    times.append((time.perf_counter() - start_at) * 1e3)
            yield Compared(call, *(statistics.median(times) for _, times in taken))


def _calls(drawn: random.Random) -> Iterator[tuple[str, Callable[[str, Ledger], Call]]]:
    """Yield each call's name, and what draws its arguments for a user."""

    def some(user: str, ledger: Ledger, number: int) -> list[str]:
        return drawn.sample(ledger.ids(user), number)

    def words() -> list[str]:
        return [_word(drawn) for _ in range(3)]

    yield "apply, one memory", lambda user, _: _applied([Add(_fact(user, drawn))])
    yield (
        "apply, 100 memories with vectors",
        lambda user, _: _applied([Add(_fact(user, drawn), _vectors(drawn)) for _ in range(100)]),
    )
    yield (
        "apply, one touch",
        lambda user, ledger: _applied([Touch(some(user, ledger, 1)[0], used_at=_NOW)]),
    )
    yield "revision of a user", lambda user, _: lambda ledger: ledger.revision(user)
    yield "words, the best 100 of 3", lambda user, _: _found(user, words())
    yield "frequencies of 3 words", lambda user, _: _counted(user, words())
    yield "get, 10 memories", lambda user, ledger: _got(user, some(user, ledger, 10))
    yield "traits of 100", lambda user, ledger: _ranked(some(user, ledger, 100))
    yield "newest 20", lambda user, _: lambda ledger: ledger.newest(user, Filters(), 20)
    yield "delta of a whole user", lambda user, _: lambda ledger: ledger.delta(user, 0)


def _applied(changes: list[Add] | list[Touch]) -> Call:
    return lambda ledger: ledger.apply(changes)


def _found(user: str, words: list[str]) -> Call:
    return lambda ledger: ledger.words(user, words, limit=100)


def _counted(user: str, words: list[str]) -> Call:
    return lambda ledger: ledger.document_frequencies(user, words)


def _got(user: str, ids: list[str]) -> Call:
    return lambda ledger: ledger.get(ids, user)


def _ranked(ids: list[str]) -> Call:
    return lambda ledger: ledger.traits(ids)


def _word(drawn: random.Random) -> str:
    """Draw a word, the first ones of the vocabulary often."""
    return _VOCABULARY[int(len(_VOCABULARY) * drawn.random() ** 3)]


def _fact(user: str, drawn: random.Random) -> Fact:
    return Fact(
        id=uuid4().hex,
        user_id=user,
        content=" ".join(_word(drawn) for _ in range(20)),
        category=Category.PROJECT,
        created_at=_NOW,
        recorded_at=_NOW,
        valid_from=_NOW,
    )


def _vectors(drawn: random.Random) -> FactVectors:
    rows: Matrix = np.array([[drawn.gauss() for _ in range(_DIMENSION)]], np.float32)
    return FactVectors(rows / np.linalg.norm(rows), np.zeros((0, _DIMENSION), np.float32))
