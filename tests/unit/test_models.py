import tracemalloc
from datetime import UTC, datetime, timedelta, timezone

import pytest
from pydantic import ValidationError

from semantic_memory import Filters, Message
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.refusals import parse
from semantic_memory.domain.values import MAX_CONTENT_BYTES, normalised
from tests.conftest import NOW, make_fact


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "is empty"),
        (" \n\t", "is empty"),
        ("a\x00b", "NUL character at position 1"),
        ("ab\ud800", "lone surrogate at position 2"),
        ("ä" * MAX_CONTENT_BYTES, "2,000,000 bytes; the limit is 1,000,000"),
    ],
)
def test_content_that_no_store_can_carry_is_refused_with_the_reason(content, reason):
    with pytest.raises(ValidationError, match=reason):
        Message(role="user", content=content)


@pytest.mark.parametrize("identifier", ["", "a b", "a/b", "../x", "é", "a" * 129, "a\nb", "a#b"])
def test_identifiers_outside_the_closed_alphabet_are_refused(identifier):
    with pytest.raises(ValidationError):
        Message(id=identifier, role="user", content="x")


@pytest.mark.parametrize("identifier", ["D1:3", "user@example.com", "a+b_c.d-e", "a" * 128])
def test_identifiers_of_the_closed_alphabet_pass(identifier):
    assert Message(id=identifier, role="user", content="x").id == identifier


def test_messages_without_an_id_get_distinct_ones():
    assert Message(role="user", content="x").id != Message(role="user", content="x").id


def test_naive_times_are_read_as_utc_and_others_converted():
    naive = Message(role="user", content="x", created_at=datetime(2026, 1, 1, 12))  # noqa: DTZ001
    there = datetime(2026, 1, 1, 14, tzinfo=timezone(timedelta(hours=2)))
    assert naive.created_at == datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert Message(role="user", content="x", created_at=there).created_at == naive.created_at


@pytest.mark.parametrize("confidence", [float("nan"), float("inf"), -0.1, 1.1])
def test_confidence_outside_the_unit_interval_is_refused(confidence):
    with pytest.raises(ValidationError):
        make_fact(confidence=confidence)


def test_tags_are_folded_and_checked():
    assert make_fact(tags=("Security.TLS",)).tags == ("security.tls",)
    for tag in ("", "a b", ".a", "a..b", "x" * 65):
        with pytest.raises(ValidationError):
            make_fact(tags=(tag,))


def test_metadata_that_is_no_json_is_refused():
    with pytest.raises(ValidationError, match="can't be written as JSON"):
        make_fact(metadata={"text": "\ud800"})
    with pytest.raises(ValidationError):
        make_fact(metadata={"value": float("nan")})


def test_unknown_keys_are_errors_that_name_the_known_ones():
    with pytest.raises(InvalidInputError, match="unknown key 'colour'; known: agents, any_tags"):
        parse(Filters, "filters", {"colour": "red"})


@pytest.mark.parametrize("name", ["Mood", "bad mood", ""])
def test_what_is_no_name_of_a_category_is_refused_and_the_known_ones_named(name):
    with pytest.raises(InvalidInputError, match=rf"'preference', 'personal'.*got '{name}'"):
        parse(Filters, "filters", {"categories": [name]})


@pytest.mark.parametrize("filters", [{"categories": ["mood"]}, "category:mood", "-category:mood"])
def test_a_category_that_is_not_declared_is_refused_and_the_known_ones_named(memory, filters):
    for ask in (
        lambda: memory.list(user_id="u1", filters=filters),
        lambda: memory.search("x", user_id="u1", filters=filters),
        lambda: memory.forget(user_id="u1", filters=filters),
    ):
        with pytest.raises(InvalidInputError, match=r"'preference', 'personal'.*got 'mood'"):
            ask()


def test_a_tag_stands_for_all_below_it():
    fact = make_fact(tags=("security.tls",))
    assert Filters(tags=("security",)).admits(fact)
    assert not Filters(tags=("sec",)).admits(fact)


def test_as_of_admits_what_was_believed_then():
    fact = make_fact(status="superseded", valid_to=NOW + timedelta(days=1))
    assert not Filters().admits(fact)
    assert Filters(as_of=NOW).admits(fact)
    assert not Filters(as_of=NOW + timedelta(days=1)).admits(fact)
    assert not Filters(as_of=NOW - timedelta(seconds=1)).admits(fact)


def test_normalisation_folds_case_width_space_and_end_marks():
    assert normalised(" Ｌikes\n TEA. ") == normalised("likes tea")


def test_folding_long_texts_keeps_none_of_them():
    tracemalloc.start()
    for number in range(50):
        normalised(f"{number} {'Likes tea. ' * 9_000}")
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 1_000_000
