"""Categories that an application declares, beside the built-in ones."""

import copy
import json
import pickle

import pytest

from semantic_memory import Category
from semantic_memory.domain.categories import Declared
from semantic_memory.domain.decay import prior_of
from semantic_memory.domain.errors import (
    ConfigurationError,
    InvalidInputError,
    RecordRefusedError,
)
from semantic_memory.domain.events import FactsExtracted
from semantic_memory.domain.filters import Filters
from semantic_memory.entrypoints.cli.listing import page
from semantic_memory.settings import IngestSettings, Settings, load
from tests.conftest import say
from tests.support.chat_models import endpoint
from tests.support.openai_server import answer, fact, serve

U = {"user_id": "u1"}
OWN = {
    "training": {"description": "Sessions, results and plans of sport", "half_life_days": 20},
    "small-talk": {},
}


def settings(**others) -> Settings:
    extraction = {"categories": OWN, **others.pop("extraction", {})}
    return Settings(extraction=extraction, ingest=IngestSettings(background=False), **others)


@pytest.fixture
def own(open_memory):
    return open_memory(settings=settings())


@pytest.fixture
def server():
    with serve() as server:
        yield server


# ---------------------------------------------------------------- the value


@pytest.mark.parametrize("name", ["training", "small-talk", "q3_goals", "a"])
def test_an_own_category_equals_its_name_wherever_it_is_copied(name: str):
    category = Category(name)
    assert category == name
    assert name in {category: 1}
    assert category.is_own
    assert category not in list(Category)
    assert pickle.loads(pickle.dumps(category)) == category
    assert copy.deepcopy(category) == category
    assert json.loads(json.dumps([category])) == [name]


@pytest.mark.parametrize("name", ["", "Training", "two words", "-a", "a-", "a" * 41, "é", "a.b"])
def test_a_name_that_is_none_is_no_category(name: str):
    with pytest.raises(ValueError, match="is not a valid Category"):
        Category(name)


def test_built_in_categories_are_one_object_each_after_pickling():
    assert all(pickle.loads(pickle.dumps(one)) is one for one in Category)
    assert not any(one.is_own for one in Category)


# ---------------------------------------------------------------- without a model


def test_a_fact_of_an_own_category_is_found_by_it(own):
    run = own.add("Ran ten miles on Sunday", **U, category="training")
    own.add("Ran out of coffee", **U, category="personal")
    assert own.get(run.id).category == "training"
    for filters in (
        {"categories": ["training"]},
        "category:training",
        "category:training,decision",
        "-category:personal,conversation",
        '{"either": [[{"categories": ["training"]}, {"categories": ["finding"]}]]}',
    ):
        assert [one.id for one in own.list(**U, filters=filters)] == [run.id], filters
        hits = own.search("Ran", **U, filters=filters)
        assert [hit.fact.id for hit in hits] == [run.id], filters


def test_own_categories_stay_facts_for_whoever_asks_for_facts(own):
    own.observe(say("I went running"), **U, session_id="s1")
    own.flush()
    run = own.add("Ran ten miles on Sunday", **U, category="training")
    assert [one.id for one in own.list(**U, filters="-category:conversation")] == [run.id]
    assert "Ran ten miles" in own.context("What did I run?", **U).text
    assert own.admin.stats().by_category_and_status["training/active"] == 1
    assert [one.category for one in own.events.list(**U)][-1] == "training"
    assert own.forget(**U, filters="category:training") == 1


@pytest.mark.parametrize("where", ["", "-category:finding", "-category:conversation"])
def test_a_listing_for_a_person_shows_own_categories_before_messages(own, where: str):
    run = own.add("Ran ten miles on Sunday", **U, category="training")
    own.observe(say("I went running"), **U, session_id="s1")
    own.flush()
    facts, following = page(
        own, Filters.of(where or None), user_id="u1", limit=9, after=None, status=None, sort="time"
    )
    assert facts[0].id == run.id
    said = [one for one in facts if one.category is Category.CONVERSATION]
    assert (len(said), following) == (0 if "conversation" in where else 1, None)


def test_a_memory_moves_to_an_own_category_and_back(own):
    run = own.add("Ran ten miles", **U)
    assert own.update(run.id, category="training").category == "training"
    assert own.list(**U, filters="category:personal") == []
    assert own.update(run.id, category="personal").category is Category.PERSONAL
    assert own.list(**U, filters="category:training") == []


def test_own_half_lives_age_memories(own, clock):
    run = own.add("Ran ten miles", **U, category="training")
    chat = own.add("Likes rain", **U, category="small-talk")
    clock.advance(days=20)
    assert own.history.explain(run.id).retention == pytest.approx(0.5)
    assert own.history.explain(run.id).half_life_days == 20
    assert own.history.explain(chat.id).half_life_days is None
    parts = {
        hit.fact.id: hit.parts.retention for hit in own.search("Ran ten miles, likes rain", **U)
    }
    assert parts == {run.id: pytest.approx(0.5), chat.id: pytest.approx(1.0)}
    own.jobs.run(["decay"])
    assert own.get(run.id).confidence < own.get(chat.id).confidence == 1.0


def test_a_half_life_of_the_settings_and_of_a_session_comes_first(open_memory, clock):
    memory = open_memory(settings=settings(half_life_days={"training": 10.0}))
    run = memory.add("Ran ten miles", **U, category="training")
    assert memory.history.explain(run.id).half_life_days == 10
    options = memory.sessions.configure(
        session_id="s1", half_life_days={"training": 5.0, "project": 1.0}, **U
    )
    assert options.half_life_days["training"] == 5.0
    clock.advance(days=10)
    (hit,) = memory.search("Ran ten miles", **U)
    assert hit.parts.retention == pytest.approx(0.5)


def test_shares_and_expiry_go_by_own_categories(open_memory, clock):
    memory = open_memory(
        settings=settings(
            context={"shares": {"training": 0.0}}, retention={"categories": {"training": 3}}
        )
    )
    memory.add("Ran ten miles", **U, category="training")
    kept = memory.add("Likes rain", **U, category="small-talk")
    clock.advance(days=4)
    assert [one.id for one in memory.list(**U)] == [kept.id]
    assert [hit.fact.id for hit in memory.search("Ran ten miles", **U)] == [kept.id]


def test_undeclared_categories_are_refused_and_named(own):
    known = own.add("Ran ten miles", **U)
    record = {"kind": "fact", "fact": {**known.model_dump(mode="json"), "category": "trainings"}}
    for call in (
        lambda: own.add("x", **U, category="trainings"),
        lambda: own.transfer.add_many([{"content": "x", "category": "trainings"}], **U),
        lambda: own.update(known.id, category="trainings"),
        lambda: own.list(**U, filters="category:trainings"),
        lambda: own.search("x", **U, filters={"not_categories": ["trainings"]}),
        lambda: own.context("x", **U, filters={"not_any": [{"categories": ["trainings"]}]}),
        lambda: own.forget(**U, filters="category:trainings"),
        lambda: list(own.transfer.export(**U, filters="category:trainings")),
        lambda: own.sessions.configure(session_id="s", half_life_days={"trainings": 1.0}, **U),
        lambda: own.sessions.create(session_id="t", half_life_days={"trainings": 1.0}, **U),
        lambda: own.transfer.load([record], **U),
    ):
        with pytest.raises((InvalidInputError, RecordRefusedError)) as raised:
            call()
        assert "'conversation', 'training' or 'small-talk' (got 'trainings')" in str(raised.value)


def test_a_store_keeps_what_is_of_a_category_no_longer_declared(open_memory, clock):
    memory = open_memory(settings=settings())
    run = memory.add("Ran ten miles", **U, category="training")
    records = list(memory.transfer.export(**U))
    memory.close()
    plain = open_memory()
    clock.advance(days=400)
    assert plain.get(run.id).category == "training"
    assert plain.history.explain(run.id).half_life_days is None
    assert [hit.fact.id for hit in plain.search("Ran ten miles", **U)] == [run.id]
    assert plain.update(run.id, content="Ran twelve miles").category == "training"
    with pytest.raises(RecordRefusedError, match=r"\[extraction.categories.NAME\]"):
        plain.transfer.load(records, user_id="u2")


def test_an_export_brings_own_categories_to_a_store_that_declares_them(own):
    own.add("Ran ten miles", **U, category="training")
    own.transfer.load(list(own.transfer.export(**U)), user_id="u2")
    assert [one.category for one in own.list(user_id="u2")] == ["training"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"extraction": {"categories": {"project": {}}}}, "'project' is built in"),
        ({"extraction": {"categories": {"two words": {}}}}, "'two words' is no name"),
        ({"extraction": {"categories": {"a": {"half_life_days": 0}}}}, "half_life_days"),
        ({"extraction": {"categories": {"a": {"halflife": 3}}}}, "unknown key 'halflife'"),
        ({"half_life_days": {"trainings": 3}}, "half_life_days must be"),
        ({"context": {"shares": {"trainings": 1}}}, "context.shares must be"),
        ({"retention": {"categories": {"trainings": 1}}}, "retention.categories must be"),
    ],
)
def test_settings_with_wrong_categories_are_refused(given, says: str):
    with pytest.raises(ConfigurationError) as raised:
        load(**given)
    assert says in str(raised.value)


def test_the_environment_declares_categories(monkeypatch):
    monkeypatch.setenv("SEMANTIC_MEMORY_EXTRACTION__CATEGORIES__TRAINING__HALF_LIFE_DAYS", "20")
    assert load().declared.own == ("training",)
    assert load().half_lives[Category("training")] == 20.0


def test_a_schema_names_own_categories_where_it_lists_all():
    schema = {
        "Category": {"enum": [one.value for one in Category], "type": "string"},
        "Kind": {"enum": ["decision", "plan"]},
        "items": [{"enum": [one.value for one in Category][:-1]}],
    }
    named = Declared(("training",)).named_in(schema)
    assert named["Category"]["enum"][-1] == "training"
    assert named["Kind"] == schema["Kind"]
    assert named["items"][0]["enum"][-1] == "training"
    assert Declared().named_in(schema) == schema


def test_an_own_category_weighs_like_most():
    assert prior_of(Category("training")) == 1.0 > prior_of(Category.FINDING)


# ---------------------------------------------------------------- with a model


@pytest.fixture
def taught(open_memory, server):
    server.script = [answer()]
    return open_memory(
        settings=settings(extraction={"llm": "test"}, llm=endpoint(server.url, max_retries=0))
    )


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("training", "training"),
        ("Trainings", "training"),
        ("small talk", "small-talk"),
        ("SMALL_TALK", "small-talk"),
        ("project", "project"),
        ("workouts", "personal"),
        ("conversation", "personal"),
        (None, "personal"),
        (7, "personal"),
    ],
)
def test_a_model_chooses_among_own_and_built_in_categories(taught, server, given, kept):
    server.script = [answer(fact("Maya ran ten miles.", 1, category=given))]
    taught.observe(say("I ran ten miles"), **U, session_id="s1")
    taught.flush()
    (found,) = taught.list(**U, filters="-category:conversation")
    assert (found.content, found.category) == ("Maya ran ten miles.", kept)


def test_a_model_is_taught_own_categories_in_words_and_by_the_schema(taught, server):
    for number in (1, 2):
        taught.observe(say(f"I ran {number} miles"), **U, session_id=f"s{number}")
        taught.flush()
    first, second = (request["messages"][0]["content"] for request in server.requests)
    assert first == second  # a prefix that prompt caches hold
    assert "- `training`: Sessions, results and plans of sport\n- `small-talk`" in first
    schema = server.requests[0]["response_format"]["json_schema"]["schema"]
    listed = schema["$defs"]["_Fact"]["properties"]["category"]["enum"]
    assert listed[-2:] == ["training", "small-talk"]


def test_facts_of_own_categories_replace_like_others(taught, server, events):
    old = taught.add("Maya's long run is ten miles.", **U, category="training")
    server.script = [
        answer(fact("Maya's long run is twelve miles.", 1, category="training", replaces=[1]))
    ]
    taught.observe(say("My long run is twelve miles now"), **U, session_id="s1")
    taught.flush()
    assert taught.get(old.id).status == "superseded"
    assert [event for event in events if isinstance(event, FactsExtracted)][-1].refused == {}
