import gzip
import json
from datetime import UTC, datetime

import pytest

from eval.datasets.load import GOLD, NAMES, PARTS, load
from eval.datasets.locomo import load_locomo
from eval.datasets.longmemeval import load_longmemeval
from eval.datasets.own import load_own
from eval.datasets.realtalk import load_realtalk
from semantic_memory.domain.errors import InvalidInputError, NotFoundError
from semantic_memory.domain.values import normalised


@pytest.fixture
def write(tmp_path):
    def to_file(document, name="data.json"):
        path = tmp_path / name
        data = document if isinstance(document, str) else json.dumps(document)
        path.write_bytes(gzip.compress(data.encode()) if name.endswith(".gz") else data.encode())
        return path

    return to_file


def turn(dia_id, text, **values):
    return {"dia_id": dia_id, "speaker": "Ada", "text": text, **values}


LOCOMO = [
    {
        "sample_id": "c1",
        "conversation": {
            "session_2": [turn("D2:1", "Back again")],
            "session_2_date_time": "9:00 am on 1 March, 2024",
            "session_1": [turn("D1:1", "Hello"), turn("D1:2", "Look", blip_caption="a red barn")],
            "session_1_date_time": "1:56 pm on 8 May, 2023",
        },
        "qa": [
            {"question": "q0", "category": 4, "evidence": ["D1:1", "D9:9"], "answer": 2022},
            {"question": "q1", "category": 1, "evidence": ["D1"], "evidence_clean": ["D1:2"]},
            {"question": "q2", "category": 2, "evidence": ["D7:1"]},
            {"question": "q3", "category": 5, "evidence": ["D1:1"], "adversarial_answer": "x"},
        ],
    }
]


def test_locomo_keeps_evidence_that_names_a_turn_and_sets_the_adversarial_apart(write):
    (history,) = load_locomo(write(LOCOMO, "locomo.json.gz")).histories
    assert [memory.id for memory in history.memories] == ["D1:1", "D1:2", "D2:1"]
    assert history.memories[1].text == "Look\n[image: a red barn]"
    assert history.memories[1].spoken.startswith("Ada: Look")
    found = {one.text: (one.kind, set(one.relevant)) for one in history.questions}
    assert found == {
        "q0": ("single-hop", {"D1:1"}),
        "q1": ("multi-hop", {"D1:2"}),
        "q3": ("unanswerable", set()),
    }
    assert history.questions[0].answer == "2022"
    assert history.questions[0].asked_at == datetime(2024, 3, 2, 9, tzinfo=UTC)


def test_realtalk_dates_every_message_and_orders_sessions_by_number(write):
    def said(number, at):
        return {"dia_id": f"D{number}:1", "speaker": "Bo", "clean_text": "Hm", "date_time": at}

    sample = {
        "sample_id": "c",
        "session_10": [said(10, "29.12.2023, 00:51:12")],
        "session_9": [said(9, "28.12.2023, 10:00:00")],
        "events_session_9": {},
        "qa": [{"question": "q", "category": 2, "evidence": ["D9:1"], "answer": "a"}],
    }
    (history,) = load_realtalk(write([sample])).histories
    assert [memory.id for memory in history.memories] == ["D9:1", "D10:1"]
    assert history.memories[1].said_at == datetime(2023, 12, 29, 0, 51, 12, tzinfo=UTC)


def said(content, role="user", **values):
    return {"role": role, "content": content, **values}


def entry(question_id="q1", **values):
    return {
        "question_id": question_id,
        "question_type": "multi-session",
        "question": "How many?",
        "question_date": "2023/05/30 (Tue) 18:40",
        "answer": 3,
        "answer_session_ids": ["answer_1", "answer_2"],
        "haystack_dates": [
            "2023/05/24 (Wed) 02:00",
            "2023/05/20 (Sat) 02:00",
            "2023/05/20 (Sat) 02:00",
            "2023/06/02 (Fri) 02:00",
        ],
        "haystack_session_ids": ["answer_1", "answer_2", "chat", "answer_1"],
        "haystack_sessions": [
            [said("I have three", has_answer=True), said("Good", "assistant")],
            [said("Help"), said("You have three", "assistant", has_answer=True)],
            [said(" "), said("Unrelated")],
            [said("I have three", has_answer=True), said("Good", "assistant")],
        ],
        **values,
    }


def test_longmemeval_official_counts_the_users_turns_only(write):
    dataset = load_longmemeval(write([entry()]), "official")
    (history,) = dataset.histories
    (question,) = history.questions
    assert dataset.level == "session"
    assert question.answer == "3"
    assert question.asked_at == datetime(2023, 5, 30, 18, 40, tzinfo=UTC)
    # sorted by date, the repeated session once, empty and assistant's turns left out
    assert [memory.text for memory in history.memories] == ["Help", "Unrelated", "I have three"]
    assert question.relevant == {"s2:0"}
    assert all(memory.role == "user" for memory in history.memories)


def test_longmemeval_dialogue_takes_both_sides_in_for_the_same_gold(write):
    (history,) = load_longmemeval(write([entry()]), "dialogue").histories
    assert len(history.memories) == 5
    assert history.questions[0].relevant == {"s2:0"}


def test_longmemeval_leaves_out_what_only_an_assistant_answers_and_sets_abstention_apart(write):
    assistants = entry("q2", haystack_sessions=[[said("Hi")], [said("x")], [said("y")], []])
    dataset = load_longmemeval(write([entry("q1_abs"), assistants, entry()]), "official")
    kinds = [one.kind for history in dataset.histories for one in history.questions]
    assert kinds == ["unanswerable", "multi-session"]


def test_longmemeval_loose_is_named_so_and_makes_one_document_a_session(write):
    dataset = load_longmemeval(write([entry("q1_abs")]), "loose")
    (history,) = dataset.histories
    assert dataset.name == "longmemeval-loose"
    assert "loose" in dataset.protocol
    assert len(history.memories) == 3
    assert history.questions[0].relevant == {"s0:0", "s2:0"}


def test_no_system_can_see_which_sessions_of_longmemeval_hold_an_answer(write):
    for protocol in ("official", "dialogue", "loose"):
        for history in load_longmemeval(write([entry()]), protocol).histories:
            shown = [history.user_id]
            for memory in history.memories:
                shown += [memory.id, str(memory.session_id), memory.spoken]
            assert not [text for text in shown if "answer" in text]


def line(**values):
    return {
        "memories": [
            {"text": "Tea, never coffee"},
            {"id": 7, "content": "Lives in Oslo", "session_id": "s"},
        ],
        "questions": [{"query": "Where?", "relevant_ids": [7]}],
        **values,
    }


def test_a_store_of_ones_own_needs_little(write):
    text = "\n".join(json.dumps(one) for one in (line(), line(user_id="bo"))) + "\n\n"
    first, second = load_own(write(text, "own.jsonl.gz")).histories
    assert (first.user_id, second.user_id) == ("user-1", "bo")
    assert [memory.id for memory in first.memories] == ["0", "7"]
    assert [session for session, _ in first.runs()] == [None, "s"]
    assert first.questions[0].relevant == {"7"}
    assert first.questions[0].asked_at > first.memories[1].said_at > first.memories[0].said_at


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "holds no user"),
        ("{", "line 1 is not JSON"),
        ("[]", "line 1 is not an object"),
        (json.dumps(line(questions=[])), "line 1: questions"),
        (json.dumps(line(memories=[{"says": "x"}])), "memory 0: content"),
        (json.dumps(line(memories=["a", {"id": "0", "content": "b"}])), "same id"),
        (json.dumps(line(questions=[{"query": "q", "relevant_ids": ["no"]}])), "no memory has"),
        ("\n".join([json.dumps(line(user_id="u"))] * 2), "same user_id"),
    ],
)
def test_a_store_of_ones_own_that_cant_be_used_says_where_and_why(write, text, reason):
    with pytest.raises(InvalidInputError, match=reason):
        load_own(write(text, "own.jsonl"))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "gold"])
def test_a_data_set_needs_a_file_that_is_one(name, write, tmp_path):
    with pytest.raises(InvalidInputError, match="--data"):
        load(name, None)
    with pytest.raises(NotFoundError):
        load(name, tmp_path / "missing.json")
    with pytest.raises(InvalidInputError):
        load(name, write("[1, 2", "broken.json"))
    with pytest.raises(InvalidInputError):
        load(name, write([{"question": 1}]))


def test_the_shipped_set_is_sound():
    dataset = load("gold", None)
    assert dataset.questions > 150
    users = [history.user_id for history in dataset.histories]
    assert len(set(users)) == len(users)
    for part in PARTS:
        for history in load_own(GOLD / f"{part}.jsonl").histories:
            asked = [question.text for question in history.questions]
            assert len(set(asked)) == len(asked)
            texts = [normalised(memory.text) for memory in history.memories]
            if part != "freshness":  # where the same is confirmed again and again
                assert len(set(texts)) == len(texts)
            for question in history.questions:
                assert all(
                    memory.said_at <= question.asked_at
                    for memory in history.memories
                    if memory.id in question.relevant
                )


def test_of_what_changed_the_latest_word_is_the_relevant_one():
    for history in load_own(GOLD / "freshness.jsonl").histories:
        by_id = {memory.id: memory for memory in history.memories}
        for question in history.questions:
            relevant = {normalised(by_id[one].text) for one in question.relevant}
            assert len(relevant) == 1
            assert (question.kind == "confirmed") == (len(question.relevant) > 1)
