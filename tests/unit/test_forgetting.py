"""Forgetting takes what a memory was drawn from and what rests on it, and leaves the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from semantic_memory import Fact, InvalidInputError, Message
from semantic_memory.domain.extraction import Candidate, Extraction, HistoryLine
from tests.conftest import say
from tests.support.inside import log_file

U: dict[str, Any] = {"user_id": "u1"}
S = {**U, "session_id": "s1"}
DIVORCE = "My sister Anna is getting divorced."
PASTA = "We had pasta by the lake."


def fact(text: str, *message_ids: str) -> Candidate:
    return Candidate(
        content=text, category="personal", confidence=0.9, message_ids=message_ids or ("m1",)
    )


class Reading:
    """An extractor that finds the same in whatever is said."""

    name = "scripted"

    def __init__(self, *candidates: Candidate, **found: Any) -> None:
        self._found = Extraction(candidates=candidates, **found)

    def extract(self, messages: Sequence[Message], known: Sequence[Fact] = ()) -> Extraction:
        del messages, known
        return self._found


def contents(memory: Any, **filters: Any) -> list[str]:
    return sorted(one.content for one in memory.list(**U, limit=None, filters=filters or None))


def messages(memory: Any) -> list[str]:
    return [message.content for message in memory.sessions.messages(**S)]


def delete(memory: Any, content: str, **options: Any) -> None:
    (found,) = [one for one in memory.list(**U, limit=None) if one.content == content]
    memory.delete(found.id, **U, **options)


def log_bytes(memory: Any) -> bytes:
    return log_file(memory, "u1", "s1").read_bytes()


def filled(open_memory: Any, said: tuple[str, ...], *found: Candidate, **lines: Any) -> Any:
    memory = open_memory(extractor=Reading(*found, **lines))
    memory.observe(say(*said), **S)
    memory.flush()
    return memory


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (f"{DIVORCE} {PASTA}", PASTA),
        (f"{PASTA} {DIVORCE}", PASTA),
        (f"{PASTA}\n{DIVORCE}\nThe lake was warm.", f"{PASTA}\nThe lake was warm."),
        (f"{DIVORCE} Yes, divorced, Anna of all people! {PASTA}", PASTA),
        (f"We talked. My sister is Anna. She is getting divorced. {PASTA}", f"We talked. {PASTA}"),
    ],
)
def test_a_deleted_fact_takes_the_sentences_it_was_drawn_from(open_memory, said, left):
    memory = filled(open_memory, (said, "I like tea"), fact("The user's sister Anna is divorcing"))
    delete(memory, "The user's sister Anna is divorcing")
    memory.flush()
    assert messages(memory) == [left, "I like tea"]
    assert contents(memory) == sorted([left, "I like tea"])
    assert b"divorc" not in log_bytes(memory)
    for hit in memory.search("Is Anna getting divorced?", **U):
        assert "divorc" not in hit.fact.content


def test_what_is_left_of_a_message_is_embedded_anew(open_memory):
    memory = filled(open_memory, (f"{DIVORCE} {PASTA}",), fact("Anna is getting divorced"))
    delete(memory, "Anna is getting divorced")
    memory.flush()
    (hit,) = memory.search(PASTA, **U)
    assert hit.fact.content == PASTA
    assert hit.parts.dense == pytest.approx(1.0, abs=0.01)


def test_a_message_that_said_nothing_else_goes_with_its_fact(open_memory):
    memory = filled(open_memory, (DIVORCE, "I like tea"), fact("Anna is getting divorced"))
    delete(memory, "Anna is getting divorced")
    assert messages(memory) == ["I like tea"]


def test_a_sentence_that_another_fact_needs_stays(open_memory):
    said = f"My sister Anna, a nurse in Oslo, is getting divorced. {PASTA}"
    memory = filled(open_memory, (said,), fact("Anna is getting divorced"), fact("Anna is a nurse"))
    delete(memory, "Anna is getting divorced")
    assert messages(memory) == [said]
    delete(memory, "Anna is a nurse")
    assert messages(memory) == [PASTA]


def test_a_deleted_message_takes_the_facts_that_nothing_else_says(open_memory):
    memory = filled(
        open_memory,
        (f"{DIVORCE} I moved to Oslo.", "As I said, I moved to Oslo."),
        fact("Anna is getting divorced"),
        fact("The user moved to Oslo", "m1", "m2"),
    )
    delete(memory, f"{DIVORCE} I moved to Oslo.")
    assert contents(memory) == ["As I said, I moved to Oslo.", "The user moved to Oslo"]
    delete(memory, "As I said, I moved to Oslo.")
    assert contents(memory) == []


def test_a_fact_that_a_question_and_its_answer_say_goes_with_either(open_memory):
    memory = filled(
        open_memory, ("Do I own a boat?", "Yes, Rex"), fact("Owns boat Rex", "m1", "m2")
    )
    delete(memory, "Yes, Rex")
    assert contents(memory) == ["Do I own a boat?"]


def test_what_the_application_added_outlives_a_message_that_repeats_it(open_memory):
    memory = open_memory(extractor=Reading(fact("Anna is getting divorced")))
    memory.add("Anna is getting divorced", **U)
    memory.observe(say(DIVORCE), **S)
    memory.flush()
    delete(memory, DIVORCE)
    assert contents(memory) == ["Anna is getting divorced"]


def test_lines_of_profile_and_history_go_with_the_sentence(open_memory):
    memory = filled(
        open_memory,
        (f"{DIVORCE} {PASTA}",),
        fact("Anna is getting divorced"),
        profile={"personal_context": "Has a sister who divorces."},
        history=(HistoryLine(content="Told of a divorce.", message_ids=("m1",)),),
    )
    assert "divorce" in str(memory.profile.get(**U))
    delete(memory, "Anna is getting divorced")
    memory.flush()
    assert "divorce" not in str(memory.profile.get(**U))


@pytest.mark.parametrize("deleted", ["Anna is getting divorced", f"{DIVORCE} {PASTA}"])
def test_sources_and_what_rests_on_them_are_kept_when_asked_for(open_memory, deleted):
    memory = filled(open_memory, (f"{DIVORCE} {PASTA}",), fact("Anna is getting divorced"))
    before = contents(memory)
    delete(memory, deleted, keep_source=True)
    assert contents(memory) == [one for one in before if one != deleted]


def test_a_repeated_message_does_not_bring_its_cut_sentence_back(open_memory):
    memory = filled(open_memory, (f"{DIVORCE} {PASTA}",), fact("Anna is getting divorced"))
    delete(memory, "Anna is getting divorced")
    assert memory.observe(say(f"{DIVORCE} {PASTA}"), **S).accepted == 0
    memory.close()
    memory = open_memory()
    assert memory.observe(say(f"{DIVORCE} {PASTA}"), **S).accepted == 0
    assert messages(memory) == [PASTA]
    assert all(finding.ok for finding in memory.admin.check())


def test_the_history_of_a_cut_message_has_no_text_of_what_was_cut(open_memory):
    memory = filled(open_memory, (f"{DIVORCE} {PASTA}",), fact("Anna is getting divorced"))
    delete(memory, "Anna is getting divorced", reason="asked to")
    (left,) = memory.list(**U)
    (state,) = memory.history.versions(left.id)
    assert (state.action, state.reason, state.fact.content) == ("cut", "asked to", PASTA)


def test_a_window_is_rid_of_what_was_cut(open_memory):
    memory = open_memory(extractor=Reading(fact("Anna is getting divorced", "m1")))
    session = memory.sessions.open(**S)
    memory.observe(say(f"{DIVORCE} {PASTA}", "I like tea"), **S)
    memory.flush()
    session.payload("And now?")
    delete(memory, "Anna is getting divorced")
    assert "divorce" not in str(session.payload("And now?"))
    assert "divorce" not in str(memory.sessions.open(**S).payload("And now?"))


def test_an_entity_is_forgotten_with_the_sentences_that_go_on_about_it(open_memory):
    memory = filled(
        open_memory,
        (f"My sister Anna called. She is getting divorced. {PASTA}", "Annabel likes tea."),
        fact("The user's sister is getting divorced"),
        fact("Has a sister called ANNA"),
        fact("Annabel likes tea", "m2"),
    )
    shown = memory.forget(**U, entity="anna", dry_run=True)
    assert {one.content for one in shown.memories} == {
        "The user's sister is getting divorced",
        "Has a sister called ANNA",
    }
    assert shown.sentences == ("My sister Anna called.", "She is getting divorced.")
    assert memory.forget(**U, entity="anna") == 2
    assert contents(memory) == ["Annabel likes tea", "Annabel likes tea.", PASTA]
    assert memory.forget(**U, entity="anna") == 0


def test_a_subject_is_forgotten_in_facts_that_were_replaced_too(open_memory, clock):
    memory = filled(open_memory, (DIVORCE, "My cat is old."), fact("My cat is old", "m2"))
    old = memory.add("Anna fears a divorce", **U)
    clock.advance(days=1)
    memory.update(old.id, content="Anna wants a divorce")
    assert memory.forget(**U, query="Anna's divorce") == 3
    assert contents(memory, statuses=["active", "superseded", "archived"]) == [
        "My cat is old",
        "My cat is old.",
    ]


@pytest.mark.parametrize("given", [{"entity": "..."}, {"entity": "a", "query": "b"}, {"query": ""}])
def test_a_subject_that_can_not_be_looked_for_is_refused(memory, given):
    with pytest.raises(InvalidInputError):
        memory.forget(**U, **given)


def test_forgetting_a_session_leaves_what_another_said_too(open_memory):
    memory = filled(open_memory, ("I moved to Oslo.",), fact("The user moved to Oslo"))
    memory.observe(say("I moved to Oslo."), **U, session_id="s2")
    memory.flush()
    memory.forget(**U, session_id="s2")
    assert contents(memory) == ["I moved to Oslo.", "The user moved to Oslo"]
