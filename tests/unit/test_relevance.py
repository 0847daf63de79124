"""Relevance as settings have it, and listings that are sorted by it."""

import pytest

from semantic_memory.settings import RelevanceSettings, Settings, UpkeepSettings

U = {"user_id": "u1"}


def with_relevance(open_memory, **values):
    return open_memory(settings=Settings(relevance=RelevanceSettings(**values)))


def parts(memory, query):
    (hit,) = memory.search(query, **U)
    return hit.parts


def listed(memory):
    return [fact.content for fact in memory.list(**U, sort="relevance")]


def test_the_floor_is_a_setting(open_memory, clock):
    memory = with_relevance(open_memory, floor=0.4)
    fact = memory.add("The cache is cold", **U, category="finding")
    clock.advance(days=400)
    assert parts(memory, "cache").retention == 0.4
    assert memory.history.explain(fact.id).retention == 0.4


def test_the_boost_and_its_half_life_are_settings(open_memory, clock):
    memory = with_relevance(open_memory, boost=1.0, boost_half_life_days=2)
    memory.add("The cache is cold", **U, category="finding")
    assert parts(memory, "cache").recency == 2.0
    clock.advance(days=2)
    assert parts(memory, "cache").recency == 1.5


@pytest.mark.parametrize(("share", "recency"), [(0.5, 1.25), (0.0, 1.0)])
def test_a_use_makes_a_memory_recent_by_a_share_that_is_a_setting(
    open_memory, clock, share, recency
):
    memory = with_relevance(open_memory, use_share=share)
    memory.add("The cache is cold", **U, category="finding")
    clock.advance(days=400)
    assert parts(memory, "cache").recency == pytest.approx(1.0)
    memory.context("cache", **U)
    memory.jobs.run(["usage"])
    assert parts(memory, "cache").recency == pytest.approx(recency)


def test_a_listing_by_relevance_follows_the_sweep(memory, clock):
    memory.add("The cache is cold", **U, category="finding", importance=0.9)
    memory.add("Likes tea", **U, category="preference", importance=0.5)
    memory.add("Perhaps likes golf", **U, category="preference", confidence=0.2)
    assert listed(memory) == ["The cache is cold", "Likes tea", "Perhaps likes golf"]
    clock.advance(days=60)
    assert listed(memory)[0] == "The cache is cold"
    (run,) = memory.jobs.run(["relevance"])
    assert (run.error, run.counts) == (None, {})
    assert listed(memory) == ["Likes tea", "Perhaps likes golf", "The cache is cold"]
    (first,) = memory.list(**U, sort="relevance", limit=1)
    rest = memory.list(**U, sort="relevance", after=first.id)
    assert [fact.content for fact in (first, *rest)] == listed(memory)


def test_weighing_reaches_no_index(memory, clock):
    memory.add("Likes tea", **U)
    memory.flush()
    before = memory.history.versions(memory.list(**U)[0].id)
    clock.advance(days=60)
    memory.jobs.run(["relevance"])
    assert memory.history.versions(memory.list(**U)[0].id) == before


def test_weighing_runs_at_its_interval():
    hourly, often = UpkeepSettings(), UpkeepSettings(relevance_minutes=5)
    assert hourly.intervals["relevance"].total_seconds() == 3_600
    assert often.intervals["relevance"].total_seconds() == 300


def test_as_product_ranks_by_the_plain_formula(memory, clock):
    memory.add("The build runs on Jenkins", user_id="u1", category="finding", importance=0.9)
    clock.advance(days=120)
    memory.add("A build was slow", user_id="u1", category="finding", importance=0.9)
    memory.flush()
    query = "What does the build run on, Jenkins?"
    assert "Jenkins" in memory.search(query, user_id="u1", k=1)[0].fact.content
    fresh, stale = memory.search(query, user_id="u1", k=2, as_product=True)
    assert "slow" in fresh.fact.content
    for hit in (fresh, stale):
        parts = hit.parts
        product = parts.importance * parts.retention * parts.recency * parts.match
        assert hit.score == pytest.approx(product)
    assert stale.parts.retention == pytest.approx(0.1)
    found = memory.search(query, user_id="u1", as_product=True, min_score=fresh.score)
    assert [hit.fact.id for hit in found] == [fresh.fact.id]
