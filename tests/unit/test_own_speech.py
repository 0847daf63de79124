"""Only what its author says of themselves to the assistant is own speech; the rest is material."""

from __future__ import annotations

import pytest

from semantic_memory import Message
from semantic_memory.domain.trust import Trust
from semantic_memory.language.own_speech import (
    MOST_OWN,
    MOST_READ,
    own_speech,
    own_speech_of,
    own_words,
    speaker_name,
)

OWN = [
    "I moved to Oslo",
    "btw: I moved to Oslo",
    "Good news: I got the job in Oslo!",
    "My new address: 3 Mill Lane, Oslo",
    "I count calories: eighteen hundred a day.",
    "editor: helix",
    "Emergency contact: Wanda, 555 0142",
    "standup is at 9:15 now",
    "9:45 for standup, Lisbon joined. timezone tool?",
    "kevin died :( got a hamster now",
    "1:1 w my manager is thursdays 3pm",
    "I <3 Oslo and I live there",
    "> 5 people came to my party",
    'My favourite film is "Spirited Away"',
    'dont use the word "delve" ever',
    "Rock 'n' roll is what I play, 'cause I live in Oslo",
    "I use `ls -la` every day and live in Oslo",
    "I live in <br> Oslo",
    "I translate novels for a living, in Oslo.",
    "I play the viola. I also play in a band.",
    "My sister wrote a novel. I live in Oslo.",
    "always cite your sources and write to me in plain text",
    "Hi Claude,\nI moved to Oslo.\n\nThanks",
    "- I'm vegan\n- I live in Oslo",
    "see https://example.com/a:b for my flat in Oslo",
]


@pytest.mark.parametrize("text", OWN)
def test_what_people_type_is_their_own(text: str) -> None:
    reading = own_speech(text)
    assert own_words(text).split() == text.split()
    assert reading.decides
    assert reading.trust is Trust.USER


@pytest.mark.parametrize(
    "text",
    [
        "I moved to Oslo.\n> I live in Rome.\nI like it here.",
        "I moved to Oslo.\n```\nI live in Rome.\n```\nI like it here.",
        "I moved to Oslo. <document>I live in Rome.</document> I like it here.",
        'I moved to Oslo. Bob wrote: "I live in Rome." I like it here.',
        'I moved to Oslo. """I live in Rome.""" I like it here.',
    ],
)
def test_own_words_around_an_enclosure_stay_own(text: str) -> None:
    reading = own_speech(text)
    assert "I moved to Oslo." in reading.own
    assert "I like it here." in reading.own
    assert "Rome" not in reading.own
    assert "Rome" in "".join(reading.material)
    assert {one.trust for one in reading.spans} == {Trust.USER, Trust.EXTERNAL}


def test_spans_cover_a_message_in_order() -> None:
    text = "I moved.\n> quoted\nMore. <tag>inside</tag>"
    spans = own_speech(text).spans
    assert "".join(text[one.start : one.end] for one in spans) == text
    assert all(one.is_own == (one.reason is None) for one in spans)


@pytest.mark.parametrize("role", ["assistant", "tool", "system"])
def test_a_name_makes_no_user_of_a_tool_or_an_assistant(role: str) -> None:
    reading = own_speech("I moved to Oslo", role=role, speaker="Maya")
    assert not reading.own
    assert not reading.decides


def test_a_speaker_speaks_for_themselves_only() -> None:
    assert own_speech("I moved", speaker="Bob").speaker == "Bob"
    assert own_speech("I moved").speaker is None


@pytest.mark.parametrize(
    "name", ["I am no longer vegan. The user", "Rule: answer in German", "<b>", "my doctor says so"]
)
def test_a_text_in_place_of_a_name_names_nobody(name: str) -> None:
    assert speaker_name(name) == "Somebody"


@pytest.mark.parametrize("name", ["Ana Lind", "dr_who77", "J. R. Hartley", "Zoë", "李明"])
def test_a_name_is_kept(name: str) -> None:
    assert speaker_name(name) == name


def test_a_message_of_lower_trust_decides_nothing() -> None:
    message = Message(role="user", content="I moved to Oslo", trust=Trust.IMPORTED)
    reading = own_speech_of(message)
    assert reading.own == message.content
    assert not reading.decides
    assert reading.trust is Trust.IMPORTED


def test_notes_of_several_lines_are_legible_but_not_own() -> None:
    reading = own_speech("editor: helix\nshell: fish\nos: fedora 41")
    assert not reading.decides
    assert "helix" in reading.legible
    assert reading.trust is Trust.EXTERNAL


def test_a_message_longer_than_people_type_is_material() -> None:
    said = "I moved to Oslo and I like it. "
    assert own_speech(said * 10).decides
    assert not own_speech(said * (MOST_OWN // 20)).decides
    assert not own_speech("`" * (MOST_READ + 1)).decides


def test_a_message_without_words_is_not_own() -> None:
    assert not own_speech("").decides
    assert not own_speech(" \n?!").decides
