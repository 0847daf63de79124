"""Extraction without a language model: whole sentences, in the speaker's words."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from eval import statements
from eval.gold import read_gold
from ingest.extract.offline import OfflineExtractor
from ingest.gate import Gate
from semantic_memory import Category, Message
from semantic_memory.domain.extraction import Candidate
from semantic_memory.judging.ports import Verdict
from semantic_memory.testing import ScriptedSentenceJudge
from tests.conftest import make_fact

SAID = datetime(2026, 3, 5, 9, tzinfo=UTC)
TASK = {"keep": 0.02, "task": 0.95}


def user(text: str, name: str | None = None, number: int = 0) -> Message:
    return Message(id=f"m{number}", role="user", name=name, content=text, created_at=SAID)


def assistant(text: str) -> Message:
    return Message(id="a", role="assistant", content=text, created_at=SAID)


def extracted(
    *messages: Message, script: Mapping[str, Mapping[str, object]] | None = None
) -> list[Candidate]:
    judge = ScriptedSentenceJudge(lambda text: (script or {}).get(text, {}))
    return [*OfflineExtractor(judge).extract(messages).candidates]


def facts(
    *messages: Message, script: Mapping[str, Mapping[str, object]] | None = None
) -> list[str]:
    return [one.content for one in extracted(*messages, script=script)]


def test_a_sentence_is_a_fact_about_its_speaker() -> None:
    assert facts(user("I moved to Porto.")) == ["The user moved to Porto"]
    assert facts(user("I moved to Porto.", "Maya")) == ["Maya moved to Porto"]


def test_words_stay_where_person_and_verb_arent_certain() -> None:
    assert facts(user("I bought it at Toys R Us")) == ["The user: I bought it at Toys R Us"]


def test_a_relative_day_gets_its_date_in_brackets() -> None:
    assert facts(user("I ran a marathon yesterday")) == [
        "The user ran a marathon yesterday (2026-03-04)"
    ]


def test_each_clause_of_a_compound_sentence_is_a_fact() -> None:
    assert facts(user("I moved to Porto in May and my sister lives in Faro")) == [
        "The user moved to Porto in May (2025-05)",
        "The user's sister lives in Faro",
    ]


def test_a_state_in_a_request_is_kept_without_the_request() -> None:
    told = facts(
        user("btw I'm off dairy, any ideas for a cake?"), script={"any ideas for a cake?": TASK}
    )
    assert told == ["The user is off dairy"]


@pytest.mark.parametrize("text", ["thanks a lot", "make it shorter"])
def test_what_isnt_worth_keeping_gives_no_fact(text: str) -> None:
    assert facts(user(text), script={text: {"keep": 0.1}}) == []


def test_a_question_is_kept_only_if_the_judge_is_sure() -> None:
    asked = "Did you know I was born in Malta?"
    assert facts(user(asked), script={asked: {"keep": 0.9}}) == [f"The user asked: {asked}"]
    assert facts(user(asked), script={asked: {"keep": 0.6}}) == []


def test_two_verbs_of_one_subject_are_two_facts_where_that_is_certain() -> None:
    assert facts(user("I live in Ghent and work as a nurse at St Lucas")) == [
        "The user lives in Ghent",
        "The user works as a nurse at St Lucas",
    ]
    for uncertain in ("I like to swim and run at dawn", "I know people who live in Oslo and work"):
        assert len(facts(user(uncertain))) == 1
    assert facts(user("I eat fish and drink wine")) == ["The user: I eat fish and drink wine"]


def test_a_reply_carries_the_question_with_it() -> None:
    told = facts(
        assistant("Nice. What's your dog called?"), user("Rex."), script={"Rex.": {"alone": 0.1}}
    )
    assert told == ["The user, asked “What's your dog called?”: Rex"]


def test_a_sentence_that_points_back_carries_the_one_before() -> None:
    told = facts(user("My mother has a cat. He's nineteen years old."))
    assert told == ["The user's mother has a cat. He's nineteen years old"]
    told = facts(user("My mother has a cat. He's nineteen years old. He sleeps all day."))
    assert told == ["The user's mother has a cat. He's nineteen years old. He sleeps all day"]


def test_a_question_that_points_back_itself_tells_nothing() -> None:
    reply = user("I made it in class", "Ann", 1)
    script = {reply.content: {"alone": 0.1}}
    assert facts(user("Did you make it?", "Bo"), reply, script=script) == []
    assert facts(user("Did you make the bowl?", "Bo"), reply, script=script) == [
        "Ann, asked “Did you make the bowl?”: I made it in class"
    ]


def test_a_person_who_writes_again_continues_their_own_words() -> None:
    (told,) = extracted(user("I'm reading Pachinko", "Ann"), user("It's about a family", "Ann", 1))
    assert told.content == "Ann is reading Pachinko. It's about a family"
    assert told.message_ids == ("m0", "m1")
    replies = user("I'm reading Pachinko", "Bo"), user("It's about a family", "Ann", 1)
    assert facts(*replies) == ["Bo is reading Pachinko"]  # whether she agrees isn't said


def test_each_of_two_messages_keeps_its_own_day() -> None:
    first = user("I saw Ana yesterday", "Bo")
    later = user("She left yesterday", "Bo", 1).model_copy(
        update={"created_at": SAID + timedelta(days=3)}
    )
    assert facts(first, later) == [
        "Bo saw Ana yesterday (2026-03-04). She left yesterday (2026-03-07)"
    ]


def test_an_order_after_words_that_tell_nothing_stands_by_itself() -> None:
    said = "they must never be mailed"
    script = {said: {"kind": "standing_order", "standing_order": 0.9}}
    told = facts(user("Receipts", "Bo"), user(said, "Bo", 1), script={**script, "Receipts": TASK})
    assert told == ["Bo asks: they must never be mailed"]


def test_a_person_who_writes_again_after_words_that_tell_nothing_tells_nothing() -> None:
    said = user("Except for children", "Ann"), user("They love it", "Ann", 1)
    assert facts(*said, script={said[0].content: {"keep": 0.1}}) == []


def test_a_pronoun_that_is_explained_behind_it_is_no_gap() -> None:
    assert facts(user("shes called Wilma, my daughter")) == [
        "Shes called Wilma, the user's daughter"
    ]


def test_a_question_is_kept_only_if_it_speaks_of_who_asks() -> None:
    assert facts(user("Is the new line open yet?"), script={}) == []
    assert facts(user("Where can I park near my school in Leeds?")) != []


def test_what_is_perhaps_an_order_is_kept_as_a_statement_unless_it_is_for_one_answer() -> None:
    perhaps = {"kind": "preference", "kind_probability": 0.1, "standing_order": 0.8}
    perhaps |= {"category": "feedback"}
    call, shorter = "call me Jude", "without the adjectives, now"
    script = {call: perhaps, shorter: {**perhaps, "kind": "none"}}
    assert facts(user(call), user(shorter, number=1), script=script) == [
        "The user asks: call me Jude"
    ]


def test_a_principle_is_no_order() -> None:
    said = "Every little thing helps"
    script = {said: {"kind": "opinion", "standing_order": 0.1, "category": "feedback"}}
    assert facts(user(said, "Ann"), script=script) == ["Ann: Every little thing helps"]


def test_a_sentence_that_changes_what_is_known_is_kept_whatever_it_says() -> None:
    said = ("Lisbon isn't happening", "Lisbon is so hot", "Madrid isn't happening")
    judge = ScriptedSentenceJudge(lambda _: {"keep": 0.05, "kind": "none"})

    def compare(older: str, newer: str) -> Verdict:
        assert older == "I am flying to Lisbon for Easter"
        return Verdict(0.95 if "isn't" in newer else 0.1, 0.0, "scripted")

    known = make_fact(1, content="The user is flying to Lisbon for Easter")
    found = OfflineExtractor(judge, compare).extract(
        [user(text, number=number) for number, text in enumerate(said)], [known]
    )
    assert [one.content for one in found.candidates] == ["Lisbon isn't happening"]
    (reading,) = [one.reading for one in found.candidates]
    assert reading is not None
    assert reading.keep == 0.95  # so that it may be compared as what is worth keeping


def test_what_doesnt_stand_alone_with_nothing_before_it_is_no_fact() -> None:
    assert facts(user("days now, ward 6"), script={"days now, ward 6": {"alone": 0.1}}) == []


def test_people_in_a_group_speak_for_themselves() -> None:
    told = facts(user("I swim", "Ann", 1), user("my dog swims too", "Bo", 2))
    assert told == ["Ann swims", "Bo's dog swims too"]


def test_the_assistant_and_tools_give_no_facts() -> None:
    assert facts(assistant("I moved to Porto."), Message(role="tool", content="I moved.")) == []


def test_quoted_and_pasted_text_gives_no_facts() -> None:
    assert facts(user("Translate this:\nI moved to Porto last year.")) == []


def test_notes_of_keys_and_values_are_kept_as_written() -> None:
    assert facts(user("editor: helix\nos: Fedora 41")) == ["editor: helix", "os: Fedora 41"]


def test_a_hedged_statement_has_the_lowest_confidence() -> None:
    sure, unsure = extracted(user("I swim on Mondays. I might move to Porto."))
    assert sure.confidence > unsure.confidence == 0.7


def order(messages: Sequence[Message], script: Mapping[str, Mapping[str, object]]) -> Candidate:
    found = extracted(*messages, script=script)
    return next(one for one in found if one.reading and one.reading.kind == "standing_order")


def test_a_standing_order_is_feedback_and_is_no_instruction_to_a_model() -> None:
    said = "Never push to main directly."
    script = {said: {"kind": "standing_order", "standing_order": 0.95}}
    found = order([user(said)], script)
    assert found.category is Category.FEEDBACK
    assert found.content == "The user asks: Never push to main directly"
    assert Gate().admit([found], [user(said)]).admitted


def test_a_standing_order_beside_a_task_is_less_sure() -> None:
    said = "Always use metres. Write a poem about Rome."
    script: dict[str, Mapping[str, object]] = {
        "Always use metres.": {"kind": "standing_order", "standing_order": 0.95},
        "Write a poem about Rome.": TASK,
    }
    found = order([user(said)], script)
    assert found.reading is not None
    assert found.reading.standing_order < 0.5


@pytest.mark.parametrize("text", ["🙂🙂", "a" * 5_000, "?!?!?!", ".\n" * 400, "- - -", "I'", "``I"])
def test_odd_texts_do_no_harm(text: str) -> None:
    facts(user(text))


def test_single_statements_are_found_and_silence_kept() -> None:
    """The half of the statements for building, through the packaged judge and the gate."""
    items = [one for one in read_gold("statements", statements.Item, None) if one.half == "build"]
    extractor, gate = OfflineExtractor(), Gate()
    outcomes = [statements.outcome(item, extractor, gate) for item in items]
    figures = statements.figures(outcomes)
    assert (figures["expected facts found"] or 0) >= 0.65
    assert (figures["nothing where nothing is due"] or 0) >= 0.9
