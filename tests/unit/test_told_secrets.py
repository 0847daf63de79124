"""Secrets that the judge of sentences marks, in texts of any length."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.gate import told_secrets as module
from ingest.gate.secrets import without_secrets
from ingest.gate.told_secrets import told_secrets
from semantic_memory.judging.hints import may_hold
from semantic_memory.judging.packaged import Read, packaged

SAID = "to get into the shed you press 0987 and then pull"


def told(text: str) -> list[str]:
    return [text[start:end] for start, end in told_secrets(text)]


@given(st.text(alphabet="ab .\n!?é我", max_size=2_000))
def test_the_stretches_of_a_text_are_the_whole_text(text):
    stretches = [*module.stretches(text)]
    assert "".join(stretch for _, stretch in stretches) == text
    assert all(text[start:].startswith(stretch) for start, stretch in stretches)
    assert all(len(stretch) <= module.LONGEST for _, stretch in stretches)


TALK = "We walked along the river and had soup at the mill, which Ada liked best. "


@pytest.mark.parametrize("before", ["", TALK * 10, TALK * 100])
def test_a_secret_is_found_wherever_it_stands(before):
    assert "0987" not in without_secrets(before + SAID)


@pytest.mark.parametrize("text", ["PIN 1234", "PIN #1234", "Gate code 4411#", "alarm code 5520"])
def test_a_noun_and_the_judge_agree_on_a_note(text):
    assert without_secrets(text) == f"{text[: len(text.rstrip('0123456789#'))]}[secret]"


def test_what_stands_beside_a_secret_stays():
    said = "The wifi password is swordfish, Tom."
    assert without_secrets(said) == "The wifi password is [secret], Tom."
    assert "Tom" in without_secrets(said, surely=True)


def test_a_secret_is_masked_with_the_rest_of_its_word():
    said = "the wifi password at ours is Tiger-77!x, ok?"
    assert told(said) == ["Tiger-77!x"]


@pytest.mark.parametrize(
    "said",
    [
        "To get into my shed you press 0987.",
        "I always unlock my phone with 8812.",
        "Ask Юля: to get into the shed you press 0987",
        "I get into my garden shed by pressing 0987 and I live in Oslo.",
    ],
)
def test_no_memory_and_no_fact_has_what_is_told_of_a_secret(memory, said):
    memory.observe([{"role": "user", "content": said}], user_id="ann", session_id="s1")
    memory.flush()
    kept = [one.content for one in memory.list(user_id="ann", limit=None)]
    assert kept
    assert not [one for one in kept if "0987" in one or "8812" in one]


@pytest.mark.parametrize(
    "text",
    [
        "I changed my PIN today. Then I bought the lamp kzdd1879 at Ikea.",
        "Reset my password please. The ticket is INC-448121.",
        "To get into the shed you press 0987",
        "My password is mandatory.",
        "Connect the sensor to pin GPIO17.",
        "Solder it to pin 100 of the connector",
        'I forgot my password "again"',
        "das Passwort auf 1Password",
        "I set up the password 2024 spring rota",
    ],
)
def test_the_log_and_texts_of_callers_lose_nothing_on_a_guess(text):
    assert without_secrets(text, surely=True) == text


def test_no_more_stretches_are_read_than_a_message_has(monkeypatch):
    read = []

    class Counting:
        def read(self, first: str, second: str, *, least: float) -> Read:
            read.append(second)
            return packaged("sentences").read(first, second, least=least)

    monkeypatch.setattr(module, "packaged", lambda name: Counting())
    assert told("".join(f"{SAID}, it sticks {n} days of the year. {TALK * 2}" for n in range(500)))
    # and each once more at most, with another number in its place
    assert module.MOST <= len(read) <= 2 * module.MOST


def test_those_that_hint_most_are_read():
    talk = "I need to change the lock on the shed and ask about the code of practice. "
    assert told(talk * 500 + SAID) == ["0987"]


def test_what_is_cut_off_by_the_encoder_is_read_after_it():
    listed = " ".join(f"x7Kp{n}qZ9" for n in range(18))
    found = " ".join(told(f"the wifi passwords are {listed}"))
    assert [one for one in listed.split() if one not in found] == []


@pytest.mark.parametrize(
    ("text", "place", "found"),
    [
        ("foo\n0987", (4, 6), "0987"),
        ("我们家的门锁，密码是hunter2", (10, 12), "hunter2"),
        ("it's müsli77x, ok", (5, 7), "müsli77x"),
        ("it's 0987" + "." * 5_000 + "x", (5, 9), "0987"),
        ("it is Юля77x, ok", (9, 12), "Юля77x"),
        ("cafe\u0301-77x", (6, 8), "cafe\u0301-77x"),
        ("pass=hunter2", (5, 8), "hunter2"),
    ],
)
def test_a_secret_is_its_whole_word(text, place, found):
    start, end = module.whole(text, *place)
    assert text[start:end] == found


def test_what_is_masked_stays_as_it_is():
    once = without_secrets("my password is Tiger-77!x and the alarm takes 4417")
    assert once == "my password is [secret] and the alarm takes [secret]"
    assert without_secrets(once) == once


@pytest.mark.parametrize("text", ["", " ", "\n", "ok", "I like tea.", "We had a lovely walk."])
def test_a_text_that_hints_at_nothing_is_not_read(text, monkeypatch):
    monkeypatch.setattr(module, "packaged", None)
    assert told(text) == []
    assert not may_hold(text, "secret")


def test_marks_are_places_of_the_text_whatever_stands_before_it():
    encoder = packaged("sentences")
    for before in ("", "What was the code again?"):
        marks = encoder.read(before, SAID).marks
        assert [SAID[mark.start : mark.end] for mark in marks if mark.name == "secret"] == ["0987"]


def test_a_judge_without_marks_marks_nothing():
    assert packaged("pairs").read("I live in Ghent", "I moved to Malmö").marks == []
