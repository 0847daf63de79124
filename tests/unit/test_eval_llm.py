"""Recorded answers of a language model, replayed through the product and the real client."""

import json

import pytest

from eval.llm.conversations import load_conversations
from eval.llm.figures import figures, wrong
from eval.llm.planted import Planting
from eval.llm.play import Endpoint, play
from eval.llm.recorded import Answers, adopt, leave_requests, recordable, serve
from semantic_memory.bootstrap.models import make_embedder
from semantic_memory.settings import Settings
from tests.conftest import DATA

GOLD = DATA / "gold" / "llm"
CONVERSATIONS = {one.name: one for one in load_conversations(GOLD)}


@pytest.fixture(scope="module")
def embedder():
    return make_embedder(Settings())


@pytest.mark.parametrize(
    ("name", "pace"), [("nora", "live"), ("jonas", "imported"), ("lucia", "live")]
)
def test_what_the_recorded_answers_say_is_what_is_believed(embedder, name, pace):
    answers = Answers.read(GOLD)
    conversation = CONVERSATIONS[name]
    with serve(answers, len) as url:
        played = play(conversation, pace, Endpoint(url, "recorded", max_retries=0), embedder)
    assert (answers.stale, answers.missing, played.failures) == ([], [], [])
    found = figures([played])
    assert found.retired >= 0.85 * len(conversation.labels.updates), list(wrong([played]))
    assert found.misled == 0, list(wrong([played]))
    assert found.kept >= 0.9 * found.facts
    assert found.calls_for_twenty < 1.5


def test_the_conversations_are_as_long_and_as_many_as_their_figures_need():
    labels = [one.labels for one in CONVERSATIONS.values()]
    assert min(len(one.messages) for one in CONVERSATIONS.values()) >= 60
    assert sum(len(one.updates) for one in labels) >= 60
    assert sum(len(one.lookalikes) for one in labels) >= 40
    for one in CONVERSATIONS.values():  # a label that names no message could never fail
        for like in one.labels.lookalikes:
            assert any(like.said in message.content for message in one.messages), like.said


REQUEST = {
    "messages": [
        {"role": "system", "content": "Keep facts."},
        {
            "role": "user",
            "content": json.dumps(
                {
                    "known": [
                        {"id": 1, "fact": "Maya has a cat."},
                        {"id": 2, "fact": "Maya rows."},
                    ],
                    "messages": [{"n": 1, "role": "user", "text": "No more rowing"}],
                }
            ),
        },
    ]
}
ANSWER = {"facts": [], "ends": [{"id": 2, "messages": [1], "quote": "No more rowing"}]}


def changed(**document):
    system, data = REQUEST["messages"]
    return {"messages": [system, {**data, "content": json.dumps({**shown(), **document})}]}


def shown():
    return json.loads(REQUEST["messages"][-1]["content"])


def recorded() -> Answers:
    one = recordable(REQUEST, ANSWER)
    return Answers({one.key: one})


def test_an_answer_is_given_the_numbers_that_known_facts_have_now():
    answers = recorded()
    turned = changed(known=[{"id": 1, "fact": "Maya rows."}])
    assert answers.answer(turned) == {**ANSWER, "ends": [{**ANSWER["ends"][0], "id": 1}]}
    assert answers.stale == []


def test_a_changed_prompt_tells_which_answers_are_stale():
    answers = recorded()
    system, data = REQUEST["messages"]
    assert answers.answer({"messages": [{**system, "content": "Keep all."}, data]}) == ANSWER
    (reason,) = answers.stale
    assert reason.endswith("the prompt has changed since it was answered")


def test_an_answer_about_a_fact_that_is_not_shown_is_stale():
    answers = recorded()
    assert answers.answer(changed(known=[])) == {**ANSWER, "ends": []}
    assert "“Maya rows.” is no longer shown" in answers.stale[0]


def test_a_request_without_an_answer_is_left_and_its_answer_adopted(tmp_path):
    answers = Answers.read(tmp_path)
    assert answers.answer(REQUEST) is None
    leave_requests(answers, tmp_path / "open")
    (left,) = (tmp_path / "open").glob("*.request.json")
    written = left.with_name(left.name.replace("request", "answer"))
    written.write_text(json.dumps(ANSWER), encoding="utf-8")
    adopt(tmp_path, tmp_path / "open")
    assert Answers.read(tmp_path).answer(REQUEST) == ANSWER


def test_facts_are_planted_where_a_message_has_room(monkeypatch):
    monkeypatch.chdir(DATA.parent)
    planting = Planting(most=5, each=4)
    facts = planting.plant(shown(), [{"messages": [1]}])
    assert len(facts) == 1 + 4
    assert len(planting.plant(shown(), [])) == 1
    assert len(planting.planted) == 5
