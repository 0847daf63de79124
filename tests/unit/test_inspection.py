"""Explanations of memories, and the map."""

from __future__ import annotations

import pytest

from semantic_memory import SemanticMemory, Status
from semantic_memory.domain.errors import InvalidInputError, NotFoundError
from semantic_memory.testing import FrozenClock
from tests.conftest import say


def test_retention_halves_with_the_half_life_and_starts_anew_when_confirmed(
    memory: SemanticMemory, clock: FrozenClock
):
    fact = memory.add("Compaction is leveled", user_id="u1", category="decision")
    clock.advance(days=30)
    explained = memory.history.explain(fact.id)
    assert explained.half_life_days == 30
    assert explained.retention == pytest.approx(0.5)
    memory.add("Compaction is leveled", user_id="u1", category="decision")
    assert memory.history.explain(fact.id).retention == pytest.approx(1.0)


def test_what_never_fades_has_no_half_life(memory: SemanticMemory, clock: FrozenClock):
    fact = memory.add("Likes tea", user_id="u1", category="preference")
    clock.advance(days=1_000)
    explained = memory.history.explain(fact.id)
    assert explained.half_life_days is None
    assert explained.retention == 1.0


@pytest.mark.parametrize("tags", [[], ["pinned"]])
def test_what_is_explained_is_what_ranks(memory: SemanticMemory, clock: FrozenClock, tags):
    fact = memory.add("Compaction is leveled", user_id="u1", category="project", tags=tags)
    for _ in range(2):
        clock.advance(hours=2)
        memory.context("Compaction", user_id="u1", budget=500)
    memory.flush()
    clock.advance(days=100)
    (hit,) = memory.search("Compaction is leveled", user_id="u1")
    explained = memory.history.explain(fact.id)
    assert explained.retention == pytest.approx(hit.parts.retention)
    assert (explained.half_life_days is None) == bool(tags)


def test_both_sides_of_a_replacement_name_the_other(memory: SemanticMemory, clock: FrozenClock):
    fact = memory.add("Lives in Oslo", user_id="u1")
    clock.advance(days=1)
    memory.update(fact.id, content="Lives in Berlin")
    clock.advance(days=1)
    memory.update(fact.id, content="Lives in Paris")
    now = memory.history.explain(fact.id)
    assert [one.content for one in now.replaced] == ["Lives in Oslo", "Lives in Berlin"]
    assert now.replaced_by is None
    before = memory.history.explain(now.replaced[0].id)
    assert before.replaced_by == now.fact
    assert before.replaced == ()
    memory.delete(fact.id)
    with pytest.raises(NotFoundError):
        memory.history.explain(fact.id)


def test_what_was_merged_names_what_took_it_in(memory: SemanticMemory):
    memory.transfer.add_many(
        [
            {"content": "I work as a storage engineer in Oslo"},
            {"content": "I do work as a storage engineer in Oslo"},
        ],
        user_id="u1",
    )
    memory.flush()
    memory.jobs.run(["dedup"])
    (kept,) = memory.list(user_id="u1")
    (taken,) = memory.list(user_id="u1", status="archived")
    assert memory.history.explain(kept.id).replaced == (taken,)
    assert memory.history.explain(taken.id).replaced_by == kept


def test_another_users_memory_is_not_explained(memory: SemanticMemory):
    fact = memory.add("Likes tea", user_id="u1")
    with pytest.raises(NotFoundError):
        memory.history.explain(fact.id, user_id="u2")


def test_a_listing_by_status_holds_that_status_only(memory: SemanticMemory, clock: FrozenClock):
    fact = memory.add("Lives in Oslo", user_id="u1")
    clock.advance(days=1)
    memory.update(fact.id, content="Lives in Berlin")
    (superseded,) = memory.list(user_id="u1", status=Status.SUPERSEDED)
    assert superseded.content == "Lives in Oslo"
    assert [one.content for one in memory.list(user_id="u1")] == ["Lives in Berlin"]
    assert memory.list(user_id="u1", status="archived") == []
    assert memory.list(user_id="u2", status="superseded") == []


def test_a_listing_of_what_was_believed_narrows_to_what_has_a_status_now(
    memory: SemanticMemory, clock: FrozenClock
):
    fact = memory.add("Lives in Oslo", user_id="u1")
    memory.add("Likes tea", user_id="u1")
    then = clock.now()
    clock.advance(days=1)
    memory.update(fact.id, content="Lives in Berlin")
    believed = {"as_of": then}
    assert len(memory.list(user_id="u1", filters=believed)) == 2
    (left,) = memory.list(user_id="u1", filters=believed, status="superseded")
    assert left.content == "Lives in Oslo"
    (kept,) = memory.list(user_id="u1", filters=believed, status="active")
    assert kept.content == "Likes tea"


def test_what_is_forgotten_is_in_no_listing_of_what_is_kept(memory: SemanticMemory):
    memory.delete(memory.add("Lives in Oslo", user_id="u1").id)
    for status in (None, *(one for one in Status if one is not Status.FORGOTTEN)):
        assert memory.list(user_id="u1", status=status) == []
    with pytest.raises(InvalidInputError, match="forgotten"):
        memory.list(user_id="u1", status="lost")


def test_a_map_holds_what_is_believed_facts_before_messages(memory: SemanticMemory):
    memory.observe(say("Hello there", "How are you?"), user_id="u1", session_id="s1")
    memory.flush()
    tea = memory.add("Likes tea", user_id="u1", category="preference")
    gone = memory.add("Likes coffee", user_id="u1", category="preference")
    memory.delete(gone.id)
    memory.add("Likes chess", user_id="u2")
    layout = memory.profile.layout(user_id="u1")
    assert len(layout.points) == 3
    assert layout.points[0].id == tea.id
    assert layout == memory.profile.layout(user_id="u1")
    assert [point.id for point in memory.profile.layout(user_id="u1", limit=1).points] == [tea.id]
    assert memory.profile.layout(user_id="nobody").points == ()
    for limit in (0, 5_001):
        with pytest.raises(InvalidInputError, match="limit"):
            memory.profile.layout(user_id="u1", limit=limit)


def test_maps_of_older_memories_continue_where_the_one_before_ends(memory: SemanticMemory):
    memory.observe(say("Hello there", "How are you?"), user_id="u1", session_id="s1")
    memory.flush()
    for number in range(4):
        memory.add(f"Likes tea number {number}", user_id="u1", category="preference")
    whole = memory.profile.layout(user_id="u1")
    assert whole.earlier is None
    for limit in range(1, 7):
        seen: list[str] = []
        behind: str | None = None
        while not seen or behind is not None:
            layout = memory.profile.layout(user_id="u1", limit=limit, behind=behind)
            seen += [point.id for point in layout.points]
            behind = layout.earlier
        assert seen == [point.id for point in whole.points]
    with pytest.raises(NotFoundError):
        memory.profile.layout(user_id="u2", behind=whole.points[0].id)


def test_the_text_of_a_point_is_cut(memory: SemanticMemory):
    memory.add("x" * 1_000, user_id="u1")
    (point,) = memory.profile.layout(user_id="u1").points
    assert point.text == "x" * 200
