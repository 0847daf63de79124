"""The text form of filters: what it means, what it refuses, and how its errors read."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from semantic_memory import Category, Filters, InvalidInputError
from semantic_memory.domain.filters import MOST_PATTERNS
from semantic_memory.domain.lexical import term
from semantic_memory.domain.query_text import KEYS, LONGEST_QUERY
from tests.conftest import NOW

DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("", {}),
        ('auth* "web apps" -draft -"old text"', {
            "words": ("auth*", "web apps"), "not_words": ("draft", "old text")}),
        ("tag:security.* -tag:old,older tag:a,b", {
            "tags": ("security",), "not_tags": ("old", "older"), "any_tags": ("a", "b")}),
        ("category:Decision,finding -category:conversation", {
            "categories": {"decision", "finding"}, "not_categories": {"conversation"}}),
        ("status:archived category:decision category:finding", {
            "statuses": {"archived"}, "categories": {"decision", "finding"}}),
        ('since:"last month" until:2026-05-01 when:"last week"', {
            "since": "last month", "until": datetime(2026, 5, 1, tzinfo=UTC),
            "when": "last week"}),
        ('agent:Research,null -agent:"null" run:r1 -run:null', {
            "agents": {"Research", None}, "not_agents": {"null"}, "runs": {"r1"},
            "not_runs": {None}}),
        ("min_trust:Agent", {"min_trust": "agent"}),
        ("min_importance:0.5 min_confidence:.7 min_score:0.1", {
            "min_importance": 0.5, "min_confidence": 0.7, "min_score": 0.1}),
        ("refers_to:f1 depth:3 id:f2,f3 session:s1", {
            "refers_to": "f1", "depth": 3, "ids": {"f2", "f3"}, "session_id": "s1"}),
        ("sort:importance limit:5 as_of:yesterday", {
            "sort": "importance", "limit": 5, "as_of": "yesterday"}),
        ("meta.a.b:>=3 -meta.c:x,y meta.d:*", {"metadata": {
            "a.b": {"$gte": 3}, "c": {"$not": {"$in": ["x", "y"]}}, "d": {"$exists": True}}}),
        ('meta.a:1 meta.a:"1" meta.b:true', {"metadata": {"$and": [
            {"a": {"$eq": 1}}, {"a": {"$eq": "1"}}, {"b": {"$eq": True}}]}}),
        ('meta.a:"with \\"quotes\\", and commas"', {"metadata": {
            "a": {"$eq": 'with "quotes", and commas'}}}),
        ("auth OR login", {"either": [[{"words": ["auth"]}, {"words": ["login"]}]]}),
        ("a AND b OR -c limit:3", {
            "either": [[{"words": ["a", "b"]}, {"not_words": ["c"]}]], "limit": 3}),
        ('tag:x (auth* OR "log in" since:2026-05-01) NOT draft', {
            "tags": ["x"], "not_words": ["draft"], "either": [[
                {"words": ["auth*"]},
                {"words": ["log in"], "since": datetime(2026, 5, 1, tzinfo=UTC)}]]}),
        ("-(a OR b) -(c d)", {"not_any": [
            {"either": [[{"words": ["a"]}, {"words": ["b"]}]]}, {"words": ["c", "d"]}]}),
        ("((a OR b)) (c OR (d e))", {"either": [
            [{"words": ["a"]}, {"words": ["b"]}],
            [{"words": ["c"]}, {"either": [[{"words": ["d", "e"]}]]}]]}),
        ("NOT (a)", {"not_any": [{"words": ["a"]}]}),
        ('{"metadata": {"$or": [{"a": 1}, {"b": null}]}}', {
            "metadata": {"$or": [{"a": 1}, {"b": None}]}}),
    ],
)  # fmt: skip
def test_a_query_is_the_model_of_its_fields(text: str, fields: Mapping[str, Any]):
    assert Filters.of(text) == Filters(**fields)


@pytest.mark.parametrize(
    ("text", "position", "says"),
    [
        ("tag:a tga:b", 7, "did you mean tag?"),
        ("tags:a", 1, "did you mean tag?"),
        ("categroy:decision", 1, "did you mean category?"),
        ("http://x", 1, "put it in quotes"),
        ("tag: work", 1, "tag needs a value"),
        ('since:"last', 7, "the quotes aren't closed"),
        ('"a"b', 1, "must follow the quotes"),
        ("a - b", 3, "no letter or digit"),
        ("web *a", 5, "nearly every word"),
        ('"web * app?s"', 1, "nearly every word"),
        ("a*b*c*d*e", 1, "more than 3 *"),
        ("*" + "a" * 64, 1, "at most 64"),
        ("auth or login", 6, "write OR, AND, NOT"),
        ("auth | login", 6, "write OR, AND, NOT"),
        ("auth&&login", 1, "write OR, AND, NOT"),
        ("auth OR", 6, "on both sides"),
        ("OR auth", 1, "on both sides"),
        ("a (OR auth)", 4, "on both sides"),
        ("a AND", 3, "on both sides"),
        ("a AND OR b", 3, "on both sides"),
        ("NOT", 1, "behind it"),
        ("a (b OR c", 3, "isn't closed"),
        ("a b)", 4, "no '('"),
        ("a ()", 3, "nothing in the brackets"),
        ("fetch(url)", 1, "a space must stand before"),
        ("(" * 9 + "a" + ")" * 9, 9, "deeper than 8"),
        ("(limit:3 OR a)", 2, "outside of the brackets"),
        ("status:archived OR a", 17, "in brackets beside it"),
        ("meta.x:auth*", 1, "can't match"),
        ("a*b c*d e*f g*h i*j", 0, "at most 4 words"),
        ("tag:a.b -tag:a", 0, "the tag a.b is left out too"),
        ("auth -Auth", 0, "'auth' is left out too"),
        ("since:2026-05-02 until:2026-05-01", 0, "isn't before"),
        ("category:decision -category:decision", 0, "left out by"),
        ("status:archived as_of:yesterday", 0, "active or superseded"),
        ("category:9lives", 1, "'decision'"),
        ("status:forgotten", 1, "'archived'"),
        ("x since:whenever", 3, "write 2026-05-10"),
        ("since:2026-13-01", 1, "month value"),
        ("when:tomorrow", 1, "names no time that has begun"),
        ("min_importance:high", 1, "a number like 0.5"),
        ("min_confidence:2", 1, "less than or equal to 1"),
        ("min_importance:nan", 1, "min_importance"),
        ("limit:0", 1, "greater than or equal to 1"),
        ("limit:1001", 1, "less than or equal to 1000"),
        ("limit:1e9", 1, "a whole number"),
        ("sort:newest", 1, "'time'"),
        ("sort:time sort:time", 11, "given twice"),
        ("-limit:3", 1, "drop the '-'"),
        ("depth:11 refers_to:a", 0, "depth"),
        ("tag:a,b tag:c,d", 9, "join them"),
        ("id:a$b", 1, "pattern"),
        ("session:a,b", 1, "takes one value"),
        ("meta.a.:1", 1, "keys with '.' between"),
        ("meta.$where:1", 1, "unknown operator '$where'"),
        ("meta.x:>true", 1, "a number or a text"),
    ],
)
def test_a_mistake_is_named_with_its_position_and_a_remedy(text: str, position: int, says: str):
    with pytest.raises(InvalidInputError) as raised:
        Filters.of(text)
    assert says in str(raised.value)
    if position:
        assert f"position {position}:" in str(raised.value)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"tagz": ["a"]}, "did you mean 'tags'?"),
        ({"metadata": {"a": {"$gtt": 1}}}, "did you mean '$gt"),
        ({"metadata": {"a": {"$in": []}}}, "one or more values"),
        ({"metadata": {"$or": {}}}, "a list"),
        ({"metadata": {"a": {}}}, "is empty"),
        ({"metadata": {'a"]': 1}}, "without quotes"),
        ({"metadata": {"a": [1]}}, "compares to a text"),
        ({"metadata": {"a": 2**60}}, "2^53"),
        ({"metadata": {"a": float("inf")}}, "2^53"),
        ({"depth": 2}, "depth needs refers_to"),
        ({"words": ["a"] * 17}, "16"),
        ({"words": ["a" * 300]}, "256"),
        ({"ids": [f"f{n}" for n in range(101)]}, "100"),
        ({"metadata": {"$or": [{"a": n} for n in range(65)]}}, "64"),
        ('{"tags": ', "begins like a JSON"),
        ('{"a":' * 3_000, "characters"),
        ('{"a":' * 700, "begins like a JSON"),
        ("x " * LONGEST_QUERY, "limit is 4,000"),
    ],
)
def test_what_is_unknown_or_too_large_is_refused(given: Any, says: str):
    with pytest.raises(InvalidInputError) as raised:
        Filters.of(given)
    assert says in str(raised.value)
    assert len(str(raised.value)) < 1_000


def test_deep_nesting_is_refused_before_it_is_followed():
    nested: dict[str, Any] = {"a": 1}
    for _ in range(500):
        nested = {"$not": nested}
    with pytest.raises(InvalidInputError, match="nested deeper than 8"):
        Filters.of({"metadata": nested})


TAGS = st.from_regex(r"\A[a-z][a-z0-9_#+-]{0,5}(\.[a-z0-9]{1,3})?\Z")
PHRASES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20).filter(
    lambda text: any(one.isalnum() and one.isascii() for one in text) and "*" not in text
)
VALUES = st.one_of(
    PHRASES, st.integers(-(2**53), 2**53), st.booleans(), st.none(), st.floats(-6e4, 6e4, width=16)
)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "words": st.lists(PHRASES, min_size=1, max_size=4).map(tuple),
    "not_words": st.lists(PHRASES, min_size=1, max_size=4).map(tuple),
    "tags": st.lists(TAGS, min_size=1, max_size=4).map(tuple),
    "any_tags": st.lists(TAGS, min_size=2, max_size=4).map(tuple),
    "not_tags": st.lists(TAGS, min_size=1, max_size=4).map(tuple),
    "categories": st.frozensets(st.sampled_from(Category), min_size=1),
    "not_categories": st.frozensets(st.sampled_from(Category), min_size=1),
    "statuses": st.frozensets(st.sampled_from(["active", "archived"]), min_size=1),
    "since": st.one_of(st.sampled_from(["last week", "3 days ago"]), st.just(NOW)),
    "when": st.sampled_from(["yesterday", "since March", "2026-05-01"]),
    "min_importance": st.floats(0.1, 1.0),
    "ids": st.frozensets(st.from_regex(r"\A[A-Za-z0-9_.@:+-]{1,8}\Z"), min_size=1, max_size=3),
    "limit": st.integers(1, 1_000),
    "sort": st.sampled_from(["relevance", "time", "importance", "confidence"]),
    "metadata": st.dictionaries(
        st.sampled_from(["a", "a.b", "ü", "it's"]), st.fixed_dictionaries({"$eq": VALUES}),
        min_size=1, max_size=2,
    ),
}  # fmt: skip


def agree(fields: Mapping[str, Any]) -> bool:
    """Return True if no condition leaves out what another one asks for, and patterns are few."""
    words, not_words, tags, not_tags = (
        fields.get(name, ()) for name in ("words", "not_words", "tags", "not_tags")
    )
    categories = fields.get("categories")
    try:
        asked, left_out = {*map(term, words)}, {*map(term, not_words)}
    except InvalidInputError:
        return False
    return (
        not asked & left_out
        and sum(term(one).is_pattern for one in (*words, *not_words)) <= MOST_PATTERNS
        and not (categories and categories <= fields.get("not_categories", frozenset()))
        and not any(f"{tag}.".startswith(f"{one}.") for tag in tags for one in not_tags)
    )


def quoted(value: object) -> str:
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'


def written(fields: Mapping[str, Any]) -> str:
    """Write fields in the text form."""
    keys = {"ids": "id", "categories": "category", "statuses": "status"}
    items: list[str] = []
    for name, value in fields.items():
        minus, plain = ("-", name[4:]) if name.startswith("not_") else ("", name)
        key = keys.get(plain, plain)
        if plain == "words":
            items += [minus + quoted(one) for one in value]
        elif plain == "tags":
            items += [f"{minus}tag:{one}" for one in value]
        elif plain == "any_tags":
            items.append("tag:" + ",".join(value))
        elif plain == "metadata":
            for path, condition in value.items():
                one = condition["$eq"]
                shown = quoted(one) if isinstance(one, str) else json.dumps(one)
                items.append(f"meta.{path}:{shown}")
        elif isinstance(value, frozenset):
            items.append(f"{minus}{key}:" + ",".join(map(str, value)))
        elif isinstance(value, datetime):
            items.append(f"{key}:{value.isoformat()}")
        else:
            items.append(f"{key}:{quoted(value)}")
    return " ".join(items)


@given(
    st.sets(st.sampled_from(sorted(FIELDS)), max_size=6).flatmap(
        lambda names: st.fixed_dictionaries({name: FIELDS[name] for name in sorted(names)})
    )
)
def test_every_form_of_a_query_is_the_same_model(fields: dict[str, Any]):
    assume(agree(fields))
    filters = Filters(**fields)
    assert Filters.of(written(fields)) == filters
    assert Filters.of(fields) == filters
    assert Filters.of(filters.model_dump_json(exclude_unset=True)) == filters


@given(st.text(max_size=60))
def test_any_text_is_a_query_or_a_mistake_of_the_caller(text: str):
    with contextlib.suppress(InvalidInputError):
        assert isinstance(Filters.of(text), Filters)


def test_the_docs_name_every_key():
    from pathlib import Path

    file = Path(__file__).parents[2] / "docs" / "reference" / "queries.md"
    page = file.read_text(encoding="utf-8")
    for key in KEYS:
        assert f"`{key}" in page.replace("meta.PATH", "`meta.PATH"), key
    for name in Filters.model_fields:
        assert f"`{name}`" in page, name


def test_times_in_words_are_resolved_against_the_moment_of_asking():
    filters = Filters.of('since:"last week" until:yesterday').at(NOW)
    assert filters.bounds == (
        datetime(2026, 4, 27, tzinfo=UTC),
        datetime(2026, 5, 9, tzinfo=UTC),
    )
    later = Filters.of("when:yesterday").at(NOW + 7 * DAY)
    assert later.bounds == (datetime(2026, 5, 16, tzinfo=UTC), datetime(2026, 5, 17, tzinfo=UTC))
    narrowed = Filters.of('when:"since March" since:2026-04-01').at(NOW)
    assert narrowed.bounds == (datetime(2026, 4, 1, tzinfo=UTC), NOW)
    then = Filters.of("when:yesterday as_of:2026-01-10").at(NOW)
    assert then.bounds == (datetime(2026, 1, 9, tzinfo=UTC), datetime(2026, 1, 10, tzinfo=UTC))


def test_a_field_in_the_query_and_beside_it_is_refused():
    assert Filters.joined("tag:a", {"since": NOW, "categories": None}) == Filters(
        tags=("a",), since=NOW
    )
    with pytest.raises(InvalidInputError, match="since is given in the query and beside it"):
        Filters.joined("since:yesterday", {"since": NOW})


@pytest.mark.parametrize(
    ("words", "hours_ago", "until"),
    [
        ("last hour", 1, 0),
        ("past hour", 1, 0),
        ("the last hour", 1, 0),
        ("in the past 24 hours", 24, 0),
        ("past 24 hours", 24, 0),
        ("24h", 24, 0),
        ("last 24h", 24, 0),
        ("last 90 minutes", 1.5, 0),
        ("90 min", 1.5, 0),
        ("last ninety minutes", 1.5, 0),
        ("over the last twenty four hours", 24, 0),
        ("half an hour", 0.5, 0),
        ("the last half hour", 0.5, 0),
        ("past hour and a half", 1.5, 0),
        ("last 1.5 hours", 1.5, 0),
        ("last couple of hours", 2, 0),
        ("past few hours", 3, 0),
        ("last 30 seconds", 1 / 120, 0),
        ("since 3 hours ago", 3 + 0.48, 0),
        ("this hour", 0.5, -0.5),
        ("7d", 7 * 24, 0),
        ("past fortnight", 14 * 24, 0),
        ("last 2 weeks", 14 * 24, 0),
        ("within the last 10 days", 240, 0),
        ("this past week", 168, 0),
        ("past month", 30 * 24, 0),
        ("past 3 months", 89 * 24, 0),
        ("last quarter", (90 + 30 + 9) * 24 + 12.5, (30 + 9) * 24 + 12.5),
        ("this quarter", (30 + 9) * 24 + 12.5, None),
        ("month to date", 9 * 24 + 12.5, None),
        ("earlier today", 12.5, None),
        ("so far this week", None, None),
        ("this week so far", 6 * 24 + 12.5, None),
        ("from Monday to Friday", 6 * 24 + 12.5, 24 + 12.5),
        ("between March and April", (30 + 31 + 9) * 24 + 12.5, 9 * 24 + 12.5),
        ("half a year", None, None),
        ("last 6 months", None, None),
        ("last night", None, None),
        ("two fortnights ago", None, None),
        ("past decade", None, None),
    ],
)
def test_spans_of_time_in_words(words: str, hours_ago: float | None, until: float | None):
    now = NOW + timedelta(minutes=30)
    start, end = Filters.of({"when": words}).at(now).bounds
    if hours_ago is not None:
        assert start == pytest.approx(now - timedelta(hours=hours_ago), abs=timedelta(seconds=1))
    if until is not None:
        assert end == pytest.approx(now - timedelta(hours=until), abs=timedelta(seconds=1))


@pytest.mark.parametrize("words", ["since:24h", 'since:"2 hours ago"', 'since:"last 90 minutes"'])
def test_a_moment_may_be_hours_ago(words: str):
    since, _ = Filters.of(words).at(NOW).bounds
    assert since is not None
    assert NOW - DAY <= since < NOW


@pytest.mark.parametrize("words", ["from Friday to Monday last", "5 q", "next hour", "h", "the"])
def test_words_that_name_no_time_say_so(words: str):
    with pytest.raises(InvalidInputError, match="names no time"):
        Filters.of({"when": words})
