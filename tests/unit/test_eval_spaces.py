"""One ranking over a user's and a team's memory, measured."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from eval.datasets import History, Memory
from eval.spaces import DIVIDED, divided
from eval.systems import Found

AT = datetime(2026, 5, 10, tzinfo=UTC)


def memory(number: int, session: str | None = None) -> Memory:
    return Memory(f"m{number}", f"text {number}", AT, session)


MEMORIES = [memory(0, "s1"), memory(1, "s1"), memory(2), memory(3), memory(4, "s2"), memory(5)]


@pytest.mark.parametrize(
    ("share", "own"), [(2, ["m0", "m1", "m3", "m5"]), (4, ["m0", "m1", "m5"]), (9, ["m0", "m1"])]
)
def test_a_history_is_divided_by_sessions_and_facts(share: int, own: list[str]):
    user, team = divided(History("maya", MEMORIES, ()), share)
    assert [one.id for one in user.memories] == own
    assert {one.id for one in team.memories} == {one.id for one in MEMORIES} - {*own}
    assert (user.user_id, team.user_id) == ("maya", "team-of-maya")


def test_both_are_asked_in_one_ranking_or_in_turn():
    class Store:
        def __init__(self) -> None:
            self.asked: list[Any] = []

        def search(self, user: str, query: str, k: int, at: datetime, spaces: Any = ()) -> Any:
            self.asked.append((user, *spaces))
            return [Found([f"{user}{number}"], 1.0, "") for number in range(3)]

    store: Any = Store()
    asked = {name: way(store, "maya", "tea", 4, AT) for name, way in DIVIDED.items()}
    ids = [one for hit in asked["in turn"] for one in hit.ids]
    assert ids == ["maya0", "team-of-maya0", "maya1", "team-of-maya1"]
    assert store.asked == [("maya", "team-of-maya"), ("maya",), ("team-of-maya",)]
