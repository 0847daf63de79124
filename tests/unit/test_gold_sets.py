"""The gold sets that hold one record a line: complete, consistent, and as large as documented."""

import json
import re
import unicodedata
from collections import Counter
from datetime import datetime, timedelta

import pytest

from eval import languages, statements
from eval.datasets.own import load_own
from eval.gold import read_gold
from eval.wording import holds_all
from tests.conftest import DATA

GOLD = DATA / "gold"
FACTS = ("contraction", "name", "people", "state", "keyvalue", "several", "health", "decision")
NOTHING = ("question", "greeting", "thanks", "smalltalk", "pasted", "fiction", "joke", "request")


def records(name):
    lines = (GOLD / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def half_of(number):
    return "measure" if number % 4 in (0, 1) else "build"


@pytest.fixture(scope="module")
def items():
    return read_gold("statements", statements.Item)


def test_about_two_thirds_of_the_statements_give_a_fact(items):
    assert len(items) >= 420
    giving = sum(any(not fact.optional for fact in item.facts) for item in items)
    assert 0.6 <= giving / len(items) <= 0.7


def test_work_and_chat_are_half_of_the_statements_in_both_halves(items):
    for half in ("build", "measure"):
        own = [item for item in items if item.half == half]
        assert 0.45 <= len(own) / len(items) <= 0.55
        assert 0.45 <= sum(item.setting == "work" for item in own) / len(own) <= 0.6
        assert 0.45 <= sum(item.tone == "chat" for item in own) / len(own) <= 0.6


def test_halves_follow_the_number_and_every_kind_is_in_both(items):
    for item in items:
        kind, number = item.id.rsplit("-", 1)
        assert (item.kind, item.half) == (kind, half_of(int(number)))
    kinds = {item.kind for item in items}
    assert kinds == {item.kind for item in items if item.half == "build"}
    assert kinds == {item.kind for item in items if item.half == "measure"}
    assert len({item.id for item in items}) == len(items)


@pytest.mark.parametrize(("kinds", "expected"), [(FACTS, True), (NOTHING, False)])
def test_kinds_give_facts_or_nothing(items, kinds, expected):
    for kind in kinds:
        assert {bool(item.facts) for item in items if item.kind == kind} == {expected}


def test_expected_words_come_from_what_was_said(items):
    strange = []
    for item in items:
        said = [*item.context, *item.messages]
        text = " ".join([*(one.content for one in said), *(one.name or "" for one in said)])
        groups = [group for fact in item.facts for group in fact.has]
        strange += [
            (item.id, group)
            for group in groups
            if not any(words.removesuffix("*") in text.casefold() for words in group)
        ]
    assert strange == []


def test_every_item_says_something_of_its_own(items):
    said = Counter(
        " ".join(one.content.casefold() for one in (*item.context, *item.messages))
        for item in items
    )
    assert [text for text, number in said.items() if number > 1] == []


def test_several_facts_exclude_each_other(items):
    for item in items:
        due = [fact for fact in item.facts if not fact.optional]
        if item.kind == "several":
            assert len(due) >= 2, item.id
        for fact in due:
            assert not {*fact.lacks} & {words for group in fact.has for words in group}, item.id


def test_languages_have_what_the_documentation_says():
    tongues = read_gold("languages", languages.Item)
    assert Counter(item.kind for item in tongues) == {
        "pair": 110,
        "duplicate": 30,
        "statement": 80,
        "question": 30,
    }
    ten = {item.language for item in tongues if item.kind == "statement"}
    assert len(ten) == 10
    assert {item.language for item in tongues} - ten == {"th", "ar", "hi"}
    ids = {item.id for item in tongues}
    assert len(ids) == len(tongues)
    for item in tongues:
        if item.answer:
            assert item.answer in ids
            assert item.answer.startswith(f"{item.language}-statement")
        if item.kind == "statement":
            assert all(word in (item.text or "").casefold() for word in item.words)


def test_duplicates_are_equal_up_to_case_and_punctuation_and_pairs_are_not():
    def letters(text):
        folded = unicodedata.normalize("NFKC", text).casefold()
        return "".join(re.findall(r"[\w\u0300-\u036f]+", folded))

    for item in read_gold("languages", languages.Item):
        if item.statements:
            same = letters(item.statements[0]) == letters(item.statements[1])
            assert same is (item.kind == "duplicate"), item.id


def test_forgetting_has_requests_of_every_scope_and_as_many_look_alikes():
    rows = records("forgetting")
    scopes = Counter(row["scope"] for row in rows)
    assert scopes[None] >= 120
    assert scopes.total() >= 2 * 120
    assert min(scopes["topic"], scopes["message"], scopes["everything"]) >= 10
    assert len({row["text"] for row in rows}) == len({row["id"] for row in rows}) == len(rows)
    for row in rows:
        kind, number = row["id"].rsplit("-", 1)
        if kind != "wording" and int(number) <= 120:
            assert row["half"] == half_of(int(number)), row["id"]
        else:
            assert row["half"] in ("voices", "build"), row["id"]
        assert bool(row["topic"]) is (row["scope"] == "topic"), row["id"]
        assert ("message" in row) is (row["scope"] == "message"), row["id"]


def test_relevance_has_sixty_small_stores_of_each_kind():
    histories = load_own(GOLD / "relevance.jsonl").histories
    kinds = Counter(question.kind for one in histories for question in one.questions)
    assert kinds == {
        "fresh over stale": 60,
        "old preference over trivia": 60,
        "confirmed over once": 60,
    }
    for history in histories:
        (question,) = history.questions
        days = {memory.id: memory.said_at for memory in history.memories}
        match question.kind:
            case "fresh over stale":
                assert days["new"] > days["old"] + timedelta(days=90)
            case "old preference over trivia":
                assert days["trivia"] > days["preference"] + timedelta(days=300)
            case "confirmed over once":
                assert len({days[one].date() for one in question.relevant}) == 4


def test_core_requests_need_what_was_said_and_keep_out_what_others_would_not_want():
    users = records("core")
    assert len(users) == 24
    requests = [(user, one) for user in users for one in user["requests"]]
    assert len(requests) == 132
    assert sum(bool(one["private"]) for _, one in requests) >= 30
    for user, one in requests:
        before = " ".join(
            message["content"]
            for message in user["messages"]
            if message["created_at"] < one["asked_at"]
        )
        assert one["needs"], one["id"]
        for wanted in (*one["needs"], *one["private"]):
            assert holds_all(before, wanted["has"]), (one["id"], wanted)


def test_core_conversations_are_of_natural_length():
    for user in records("core"):
        times = [datetime.fromisoformat(message["created_at"]) for message in user["messages"]]
        assert times == sorted(times)
        assert 8 <= len(times) <= 30
        assert times[-1] - times[0] >= timedelta(days=120)
