"""Superseded facts by where they were said: from RAM as from the ledger."""

import random

import pytest

from semantic_memory.domain.changes import Add, Forget, Update
from semantic_memory.domain.facts import Fact, Source, Status
from semantic_memory.ledger.sqlite import SqliteLedger
from semantic_memory.retrieval.ended import HeldFacts
from semantic_memory.retrieval.exact import ExactIndex
from semantic_memory.testing import InMemoryIndex
from tests.conftest import NOW, make_fact

_SESSIONS = ("s0", "s1", "s2")
_PLACES = [f"{session}/m{number}" for session in _SESSIONS for number in range(5)]
_POSITIONS = [(session, number) for session in _SESSIONS for number in range(4)]


@pytest.fixture
def ledger(tmp_path):
    ledger = SqliteLedger(tmp_path / "ledger.sqlite3")
    yield ledger
    ledger.close()


def _source(dice: random.Random) -> Source:
    first = dice.randrange(4)
    return Source(
        session_id=dice.choice((*_SESSIONS, None)),
        message_ids=tuple(f"m{first + more}" for more in range(dice.choice((1, 1, 2)))),
        position=first,
    )


def _state(dice: random.Random, number: int) -> Fact:
    return make_fact(
        number,
        user_id="u2" if number % 5 == 0 else "u1",
        status=dice.choice((Status.SUPERSEDED, Status.SUPERSEDED, Status.ACTIVE)),
        source=_source(dice),
        corroborations=tuple(_source(dice) for _ in range(dice.choice((0, 0, 1)))),
    )


@pytest.mark.parametrize("limit", [1_000, 5], ids=["in RAM", "outgrown"])
@pytest.mark.parametrize("seed", range(5))
def test_they_are_those_of_the_ledger_after_every_change(ledger, seed, limit):
    dice = random.Random(seed)
    index = ExactIndex(ledger, InMemoryIndex(), budget_bytes=10**7, limit=limit)
    held = HeldFacts(ledger, index)
    ledger.apply([Add(_state(dice, number)) for number in range(20)])
    for _ in range(15):
        (fact,) = ledger.get([dice.choice(sorted(ledger.ids("u1")))])
        other = _state(dice, 1)
        changed = {name: getattr(other, name) for name in ("status", "source", "corroborations")}
        update = Update(fact.model_copy(update=changed), "x", NOW)
        ledger.apply([update if dice.random() < 0.8 else Forget(fact.id, NOW)])
        for user_id in ("u1", "u2", "u3"):
            asked = (
                dice.sample(_SESSIONS, 2),
                dice.sample(_PLACES, 5),
                dice.sample(_POSITIONS, 3),
            )
            assert held.superseded_in(user_id, *asked) == ledger.superseded_in(user_id, *asked)
            assert held.superseded_in(user_id, _SESSIONS, _PLACES, _POSITIONS) == (
                ledger.superseded_in(user_id, _SESSIONS, _PLACES, _POSITIONS)
            )
    assert ledger.superseded_in("u1", _SESSIONS, _PLACES, ())
