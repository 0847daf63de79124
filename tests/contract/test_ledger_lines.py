"""Contract of every ledger for the lines of profiles and histories."""

from datetime import timedelta

import pytest

from semantic_memory.domain.changes import Add, EraseLines, Forget, Retire, Update, Write
from semantic_memory.domain.errors import NotFoundError
from semantic_memory.domain.facts import Source, Status
from semantic_memory.domain.profile import Line
from tests.conftest import NOW, make_fact


def line(name="l1", **values) -> Line:
    defaults = {
        "id": name,
        "user_id": "u1",
        "layer": "work_context",
        "text": f"Text of {name}.",
        "origin": "model",
        "at": NOW,
        "valid_from": NOW,
    }
    return Line(**{**defaults, **values})


def happened(name="h1", **values) -> Line:
    return line(name, **{"layer": "recent_months", **values})


def later(days=1.0):
    return NOW + timedelta(days=days)


def texts(ledger, user_id="u1", **options):
    return [one.text for one in ledger.lines(user_id, **options)]


def test_a_line_comes_back_as_it_went_in(ledger):
    one = happened(fact_ids=("f1", "f2"), said_in=("s1/m1", "s1/m2"), at=later(-3))
    assert ledger.apply([Write(one)]) == 1
    assert ledger.lines("u1") == [one]
    assert ledger.lines("u2") == []


def test_the_sources_of_a_line_are_sorted_and_named_once(ledger):
    ledger.apply([Write(happened(fact_ids=("f2", "f1", "f2"), said_in=("s2/m1", "s1/m1")))])
    (one,) = ledger.lines("u1")
    assert one.fact_ids == ("f1", "f2")
    assert one.said_in == ("s1/m1", "s2/m1")


def test_writing_a_line_again_does_nothing(ledger):
    ledger.apply([Write(happened())])
    assert ledger.apply([Write(happened(text="Other."))]) == 0
    assert texts(ledger) == ["Text of h1."]


def test_a_field_is_replaced_and_its_past_can_be_asked_for(ledger):
    ledger.apply([Write(line("a"))])
    ledger.apply([Write(line("b", at=later(), valid_from=later()))])
    assert texts(ledger) == ["Text of b."]
    assert texts(ledger, as_of=later(0.5)) == ["Text of a."]
    assert texts(ledger, as_of=later(-1)) == []
    first, second = ledger.past_lines("u1", "work_context")
    assert (first.valid_to, second.valid_to) == (later(), None)


def test_other_fields_and_other_users_stay(ledger):
    ledger.apply(
        [Write(line("a")), Write(line("b", layer="top_of_mind")), Write(line("c", user_id="u2"))]
    )
    ledger.apply([Write(line("d", at=later(), valid_from=later()))])
    assert sorted(texts(ledger)) == ["Text of b.", "Text of d."]
    assert texts(ledger, "u2") == ["Text of c."]


@pytest.mark.parametrize(
    ("first", "second", "stands"),
    [
        ("derived", "model", "b"),
        ("model", "derived", "a"),
        ("user", "model", "a"),
        ("model", "user", "b"),
    ],
)
def test_by_hand_goes_before_a_model_and_a_model_before_what_is_derived(
    ledger, first, second, stands
):
    ledger.apply([Write(line("a", origin=first))])
    ledger.apply([Write(line("b", origin=second, valid_from=later()))])
    assert texts(ledger) == [f"Text of {stands}."]


def test_derived_lines_of_a_field_stand_beside_each_other(ledger):
    ledger.apply([Write(line("a", origin="derived")), Write(line("b", origin="derived"))])
    assert texts(ledger) == ["Text of a.", "Text of b."]


def test_what_was_said_earlier_does_not_replace_what_was_said_later(ledger):
    ledger.apply([Write(line("a"))])
    assert ledger.apply([Write(line("b", at=later(-1), valid_from=later()))]) == 0
    assert texts(ledger) == ["Text of a."]


def test_a_retired_line_answers_what_stood(ledger):
    ledger.apply([Write(happened())])
    assert ledger.apply([Retire("h1", later()), Retire("unknown", later())]) == 1
    assert texts(ledger) == []
    assert texts(ledger, as_of=NOW) == ["Text of h1."]


def test_lines_are_committed_with_everything_else_or_not_at_all(ledger):
    with pytest.raises(NotFoundError):
        ledger.apply([Write(happened()), Forget("unknown", NOW)])
    assert texts(ledger) == []


SAID = Source(session_id="s1", message_ids=("m1",))


@pytest.mark.parametrize("origin", ["derived", "model"])
@pytest.mark.parametrize("rests_on", [{"fact_ids": ("fact-1",)}, {"said_in": ("s1/m1",)}])
def test_a_forgotten_fact_takes_its_lines_along_past_ones_included(ledger, origin, rests_on):
    ledger.apply([Add(make_fact(source=SAID))])
    ledger.apply([Write(line("a", origin=origin, **rests_on))])
    ledger.apply([Write(line("b", at=later(), valid_from=later()))])
    ledger.apply([Forget("fact-1", later(2))])
    assert texts(ledger, as_of=NOW) == []
    assert [one.id for one in ledger.past_lines("u1", "work_context")] == ["b"]


def test_a_forgotten_message_takes_what_rests_on_it_along(ledger):
    message = make_fact(category="conversation", source=SAID)
    ledger.apply([Add(message), Write(happened(said_in=("s1/m1", "s1/m2")))])
    ledger.apply([Write(happened("other", said_in=("s2/m1",)))])
    ledger.apply([Forget(message.id, later())])
    assert texts(ledger) == ["Text of other."]


def test_forgetting_leaves_the_lines_of_others_whose_sessions_and_messages_are_named_alike(ledger):
    ledger.apply([Add(make_fact(1, source=SAID)), Add(make_fact(2, user_id="u2", source=SAID))])
    grounds = {"said_in": ("s1/m1",)}
    ledger.apply([Write(happened("a", **grounds)), Write(line("b", **grounds))])
    theirs = [happened("c", user_id="u2", **grounds), line("d", user_id="u2", **grounds)]
    ledger.apply([Write(one) for one in theirs])
    ledger.apply([Forget("fact-1", later())])
    assert texts(ledger) == []
    assert sorted(ledger.lines("u2"), key=lambda one: one.id) == theirs


def supersede(number: int, by: int) -> Update:
    old = make_fact(number, status=Status.SUPERSEDED, superseded_by=f"fact-{by}", valid_to=later())
    return Update(old, "superseded", later())


def test_a_superseded_fact_ends_what_rests_on_it(ledger):
    ledger.apply([Add(make_fact(1)), Add(make_fact(2))])
    ledger.apply([Write(line(fact_ids=("fact-1",)))])
    ledger.apply([supersede(1, by=2)])
    assert texts(ledger) == []
    assert texts(ledger, as_of=NOW) == ["Text of l1."]


def test_a_line_that_knows_the_successor_too_goes_on(ledger):
    ledger.apply([Add(make_fact(1)), Add(make_fact(2))])
    ledger.apply([Write(line(fact_ids=("fact-1", "fact-2")))])
    ledger.apply([supersede(1, by=2)])
    assert texts(ledger) == ["Text of l1."]
    ledger.apply([Forget("fact-1", later(2))])
    assert texts(ledger) == []


def test_a_changed_content_ends_what_rests_on_it(ledger):
    ledger.apply([Add(make_fact()), Write(line(fact_ids=("fact-1",)))])
    ledger.apply([Update(make_fact(content="Otherwise"), "updated", later())])
    assert texts(ledger) == []


def test_a_merged_fact_hands_its_lines_to_the_one_that_stays(ledger):
    ledger.apply([Add(make_fact(1)), Add(make_fact(2))])
    ledger.apply([Write(line(fact_ids=("fact-1",)))])
    merged = make_fact(1, status=Status.ARCHIVED, superseded_by="fact-2")
    ledger.apply([Update(merged, "absorbed", later())])
    (one,) = ledger.lines("u1")
    assert one.fact_ids == ("fact-1", "fact-2")
    ledger.apply([Forget("fact-2", later(2))])
    assert texts(ledger) == []


def test_a_line_handed_over_to_an_older_fact_keeps_its_sources_sorted(ledger):
    ledger.apply([Add(make_fact(1)), Add(make_fact(2)), Write(happened(fact_ids=("fact-2",)))])
    merged = make_fact(2, status=Status.ARCHIVED, superseded_by="fact-1")
    ledger.apply([Update(merged, "absorbed", later())])
    (one,) = ledger.lines("u1")
    assert one.fact_ids == ("fact-1", "fact-2")


def test_an_archived_fact_ends_what_is_derived_from_it_only(ledger):
    ledger.apply([Add(make_fact())])
    for origin in ("derived", "model"):
        ledger.apply([Write(happened(origin, origin=origin, fact_ids=("fact-1",)))])
    ledger.apply([Update(make_fact(status=Status.ARCHIVED), "archived", later())])
    assert texts(ledger) == ["Text of model."]


def test_nothing_is_derived_from_what_is_not_believed(ledger):
    ledger.apply([Add(make_fact(1, status=Status.SUPERSEDED)), Add(make_fact(2))])
    ledger.apply([Forget("fact-2", NOW)])
    assert ledger.apply([Write(line(origin="derived", fact_ids=("fact-1",)))]) == 0
    assert ledger.apply([Write(line(fact_ids=("fact-2",)))]) == 0
    assert ledger.apply([Write(line(fact_ids=("fact-1",)))]) == 1


def test_a_time_is_erased(ledger):
    ledger.apply([Write(happened(f"h{day}", at=later(day))) for day in range(4)])
    ledger.apply([Retire("h1", later(5))])
    ledger.apply([EraseLines("u1", since=later(1), until=later(3))])
    assert [one.id for one in ledger.past_lines("u1", "recent_months")] == ["h0", "h3"]
    ledger.apply([EraseLines("u2")])
    assert len(texts(ledger)) == 2
    ledger.apply([EraseLines("u1")])
    assert ledger.past_lines("u1", "recent_months") == []
