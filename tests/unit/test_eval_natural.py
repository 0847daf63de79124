"""Beliefs in natural chat: the scenarios, the judgement of outcomes, and the command."""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Literal

import pytest
from rich.console import Console

from eval.__main__ import app
from eval.datasets.scenarios import (
    CHATTER,
    HALVES,
    Scenario,
    Turn,
    Words,
    load_scenarios,
)
from eval.natural.figures import document, tables, write_rows
from eval.natural.judge import Outcome, Shown
from eval.natural.play import play
from semantic_memory.bootstrap.models import make_embedder
from semantic_memory.domain.errors import InvalidInputError, NotFoundError, StoreUnavailableError
from semantic_memory.domain.facts import Source, Status
from semantic_memory.settings import load
from tests.conftest import make_fact

MONDAY = datetime(2024, 3, 4, 10, tzinfo=UTC)
LEAST = {"update": 200, "correction": 30, "look-alike": 150, "paraphrase": 60, "near-duplicate": 80}


@pytest.fixture(scope="module")
def gold():
    return load_scenarios()


# ---------------------------------------------------------------- the shipped scenarios


def test_there_are_enough_scenarios_of_every_kind(gold):
    counts = Counter(one.kind for one in gold)
    assert all(counts[kind] >= least for kind, least in LEAST.items()), counts
    assert len({one.id for one in gold}) == len(gold)
    assert len({one.type for one in gold if one.kind == "update"}) >= 20


def test_no_two_scenarios_tell_the_same(gold):
    for side in ("old", "new"):
        told = Counter(one.told(side).content.lower() for one in gold)
        assert max(told.values()) == 1, told.most_common(1)


def test_the_half_follows_from_the_number(gold):
    for one in gold:
        number = int(one.id.removeprefix(f"{one.kind}-{one.type}-"))
        assert one.half == ("build" if number % 4 in (0, 1) else "measure"), one.id


def test_halves_styles_and_domains_are_balanced(gold):
    for kind in LEAST:
        own = [one for one in gold if one.kind == kind]
        for name in ("half", "style", "domain"):
            larger, smaller = Counter(getattr(one, name) for one in own).values()
            assert abs(larger - smaller) <= 0.2 * len(own), (kind, name)
        for style in ("clean", "messy"):
            build, measure = (
                sum(one.half == half and one.style == style for one in own) for half in HALVES
            )
            assert abs(build - measure) <= 0.2 * len(own), (kind, style)


def test_each_type_is_in_both_halves(gold):
    halves: dict[tuple[str, str], set[str]] = {(one.kind, one.type): set() for one in gold}
    for one in gold:
        halves[one.kind, one.type].add(one.half)
    assert all(found == set(HALVES) for found in halves.values())


def test_the_words_occur_in_the_messages_that_tell_them(gold):
    for one in gold:
        old, new = one.told("old"), one.told("new")
        assert old.role == new.role == "user"
        assert one.old.carried_by(old.content), one.id
        assert not one.new or one.new.carried_by(new.content), one.id
        if one.retires:
            assert one.ask, one.id
            assert not one.new.carried_by(old.content), one.id


def test_only_updates_may_end_without_a_new_value(gold):
    assert {one.kind for one in gold if not one.new} == {"update"}


def test_other_talk_and_another_session_lie_between_the_statements(gold):
    for one in gold:
        old, new = one.told("old"), one.told("new")
        if one.kind == "correction":
            assert new.said_at - old.said_at < timedelta(minutes=15), one.id
            continue
        between = one.turns[old.position + 1 : new.position]
        assert sum(turn.chatter for turn in between) >= 6, one.id
        assert new.said_at - old.said_at > timedelta(days=4), one.id


def test_sessions_follow_each_other(gold):
    for one in gold:
        said = [turn.said_at for turn in one.turns]
        assert said == sorted(said), one.id
        assert {turn.role for turn in one.turns} == {"user", "assistant"}


def test_the_chatter_is_large_and_varied():
    exchanges = [json.loads(line) for line in CHATTER.read_text(encoding="utf-8").splitlines()]
    assert len(exchanges) >= 150
    assert len({one["id"] for one in exchanges}) == len(exchanges)
    said = [message["content"] for one in exchanges for message in one["messages"]]
    assert len(set(said)) == len(said)


# ---------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("groups", "text", "carried"),
    [
        (["oslo"], "The user lives in Oslo.", True),
        (["oslo"], "Osloer humour", False),
        (["cat*"], "four cats", True),
        (["port 8080"], "8080 is the gateway's port", True),
        (["port 8080"], "the gateway's port", False),
        (["five", "5"], "5 cats", True),
        (["3"], "Python 3.11", False),
        (["3"], "there are 3.", True),
        (["15"], "at 9:15", False),
        (["isn't"], "it isn’t so", True),
        ([], "anything", False),
    ],
)
def test_words_mark_a_value(groups, text, carried):
    assert Words.of(groups).carried_by(text) is carried


# ---------------------------------------------------------------- judging


def scenario(kind="update", old=("oslo",), new=("bergen",)):
    said = ["I live in Oslo", "Nice", "Why is the sea salty?", "Rivers", "It's Bergen now", "Ok"]
    tells: dict[int, Literal["old", "new"]] = {0: "old", 4: "new"}
    turns = [
        Turn(
            place,
            "assistant" if place % 2 else "user",
            text,
            MONDAY + timedelta(days=place),
            tells.get(place),
            chatter=place in (2, 3),
        )
        for place, text in enumerate(said)
    ]
    return Scenario(
        id=f"{kind}-home-01",
        half="build",
        kind=kind,
        type="home",
        style="clean",
        domain="private",
        sessions=(tuple(turns[:4]), tuple(turns[4:])),
        old=Words.of(old),
        new=Words.of(new),
        ask="Where do I live?",
    )


def held(text, *places, status=Status.ACTIVE):
    sources = Source(session_id="s", message_ids=tuple(str(place) for place in places))
    return make_fact(content=text, source=sources, status=status)


def outcome(*facts, hits=(), lines=(), **values):
    shown, told = (
        tuple(Shown(text, frozenset(at), said) for text, at, said in one) for one in (hits, lines)
    )
    return Outcome(scenario(**values), facts, shown, told)


OSLO, BERGEN = held("Lives in Oslo", 0), held("Lives in Bergen", 4)
GONE = held("Lives in Oslo", 0, status=Status.SUPERSEDED)


@pytest.mark.parametrize(
    ("facts", "retired"),
    [
        ([GONE, BERGEN], True),
        ([OSLO, BERGEN], False),
        ([GONE, held("Has a flat in Oslo", 0), BERGEN], False),
        ([BERGEN], False),
        ([held("Moved from Oslo to Bergen", 4, status=Status.SUPERSEDED)], False),
        ([held("Lives in Oslo", 2, status=Status.SUPERSEDED)], False),
    ],
)
def test_an_old_value_is_retired_if_it_was_believed_and_is_no_more(facts, retired):
    assert outcome(*facts).retired is retired


def test_a_correction_may_be_understood_before_anything_is_stored():
    assert outcome(BERGEN, kind="correction").retired
    assert not outcome(kind="correction").retired
    assert not outcome(OSLO, BERGEN, kind="correction").retired


def test_what_was_never_extracted_is_counted():
    assert not outcome().old_extracted
    assert not outcome().new_extracted
    assert outcome(GONE).old_extracted
    assert outcome(BERGEN).new_extracted
    assert not outcome(held("Lives in Bergen", 0)).new_extracted
    assert outcome(new=()).new_extracted


SAID_OSLO, SAID_BERGEN = ("I live in Oslo", [0], True), ("It's Bergen now", [4], True)


@pytest.mark.parametrize(
    ("shown", "first"),
    [
        ([SAID_BERGEN, SAID_OSLO], True),
        ([SAID_OSLO, SAID_BERGEN], False),
        ([("Why is the sea salty?", [2], True), SAID_BERGEN], True),
        ([("Bergen is salty", [2], True), SAID_OSLO], False),
        ([("Moved from Oslo to Bergen", [4], False), SAID_OSLO], True),
        ([], False),
    ],
)
def test_the_first_that_carries_either_value_should_carry_the_new(shown, first):
    assert outcome(hits=shown).new_first_in_search is first
    assert outcome(lines=shown).new_first_in_block is first


def test_an_ending_is_known_by_its_message():
    left = ("I left", [4], True)
    assert outcome(hits=[left, SAID_OSLO], new=()).new_first_in_search
    assert not outcome(hits=[SAID_OSLO, left], new=()).new_first_in_search
    assert outcome(lines=[SAID_OSLO, left], new=()).new_in_block
    assert not outcome(lines=[SAID_OSLO], new=()).new_in_block


@pytest.mark.parametrize(
    ("line", "standing"),
    [
        (SAID_OSLO, True),
        (("Lives in Oslo", [0], False), True),
        (("Lives in Oslo", [], False), True),
        (("I live in Oslo (until 2024-05-01, see 7)", [0], True), False),
        (("I live in Oslo (perhaps until 2024-05-01)", [0], True), False),
        (("Moved from Oslo to Bergen", [4], False), False),
        (("Sorry that you left Oslo", [5], True), False),
        (("Has left Oslo", [4], False), False),
        (("Lives in Oslo", [4], False), True),
    ],
)
def test_an_old_value_stands_where_nothing_says_that_it_changed(line, standing):
    assert outcome(lines=[line]).old_standing is standing


def test_an_old_value_is_believed_where_no_fact_has_the_new_one():
    old, new = ("Lives in Oslo", [0], False), ("Lives in Bergen", [4], False)
    assert outcome(lines=[old, SAID_BERGEN]).old_believed
    assert not outcome(lines=[old, new]).old_believed
    assert not outcome(lines=[SAID_OSLO]).old_believed


@pytest.mark.parametrize("kind", ["look-alike", "near-duplicate"])
@pytest.mark.parametrize(
    ("facts", "confused"),
    [
        ([OSLO, BERGEN], False),
        ([], False),
        ([GONE, BERGEN], True),
        ([OSLO, held("Lives in Bergen", 4, status=Status.SUPERSEDED)], True),
        ([held("Lives in Oslo", 0, 4)], True),
        ([OSLO, held("Has a flat in Oslo", 0, status=Status.ARCHIVED), BERGEN], False),
    ],
)
def test_statements_that_both_hold_are_confused_if_one_is_lost(kind, facts, confused):
    assert outcome(*facts, kind=kind).confused is confused


@pytest.mark.parametrize(
    ("facts", "united"),
    [
        ([held("Lives in Oslo", 0, 4)], True),
        ([held("Lives in Oslo", 0, 4), held("Is in Oslo", 4, status=Status.ARCHIVED)], True),
        ([held("Lives in Oslo", 0, 4), held("Is in Oslo", 4)], False),
        ([held("Lives in Oslo", 0), held("Is in Oslo", 4)], False),
        ([held("Lives in Oslo", 0)], False),
        ([], False),
    ],
)
def test_paraphrases_are_united_in_one_fact_with_both_sources(facts, united):
    assert outcome(*facts, kind="paraphrase", new=("oslo",)).united is united


# ---------------------------------------------------------------- telling


def told(name, kind, old, new, words, ask=None, days=60):
    later = MONDAY + timedelta(days=days)
    first = [{"role": "user", "content": old, "tells": "old"}]
    second = [{"role": "user", "content": new, "tells": "new"}]
    okay = [{"role": "assistant", "content": "Okay."}]
    return {
        "id": f"{kind}-{name}-01",
        "half": "build",
        "kind": kind,
        "type": name,
        "style": "clean",
        "domain": "private",
        "sessions": [
            {"at": MONDAY.isoformat(), "messages": [*first, *okay, {"talk": "t001"}]},
            {"at": later.isoformat(), "messages": [{"talk": "t002"}, *second, *okay]},
        ],
        "old": [words[0]],
        "new": [words[1]],
        "ask": ask,
    }


TOLD = [
    told(
        "home",
        "update",
        "I live in Oslo.",
        "I live in Bergen now.",
        ("oslo", "bergen"),
        "Where do I live?",
    ),
    told(
        "smalltalk",
        "update",
        "What a day!",
        "Such a night!",
        ("day", "night"),
        "How was the day?",
        days=400,
    ),
    told("brother", "look-alike", "I live in Rome.", "My brother lives in Bari.", ("rome", "bari")),
    told("chess", "paraphrase", "I love chess.", "I love chess!", ("chess", "chess")),
]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("natural") / "scenarios.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in TOLD), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def outcomes(file):
    return play(load_scenarios(file), make_embedder(load()), lambda *_: None)


def test_a_store_is_told_the_scenarios_and_asked(outcomes):
    home, smalltalk, brother, chess = outcomes
    assert home.old_extracted
    assert home.retired
    assert home.new_first_in_search
    assert home.new_in_block
    assert home.block.startswith("<memory>")
    numbered = [f"{number} {line.text}" for number, line in enumerate(home.lines, start=1)]
    assert numbered == [line for line in home.block.splitlines() if line in numbered]
    assert not smalltalk.old_extracted
    assert not smalltalk.retired
    assert not brother.confused
    assert chess.united


def test_a_fact_is_dated_by_its_message(outcomes):
    (fact,) = [
        fact for fact in outcomes[0].facts if outcomes[0].scenario.new.carried_by(fact.content)
    ]
    assert fact.created_at == MONDAY + timedelta(days=60, minutes=2)


def test_figures_are_counted_by_half_kind_and_type(outcomes):
    figures = document(outcomes)
    assert set(figures) == {"build"}
    updates = figures["build"]["update"]
    assert updates["scenarios"] == 2
    assert updates["old retired"] == updates["old never extracted"] == 0.5
    assert updates["by_type"]["home"]["old retired"] == 1.0
    assert figures["build"]["look-alike"]["retired"] == 0.0
    assert figures["build"]["paraphrase"]["merged"] == 1.0


def test_a_table_for_each_kind_ends_with_all_of_it(outcomes):
    console = Console(width=200)
    with console.capture() as shown:
        for table in tables(outcomes):
            console.print(table)
    assert "smalltalk" in shown.get()
    (line,) = [line for line in shown.get().splitlines() if line.strip().startswith("all ")][:1]
    assert line.split()[:4] == ["all", "2", "50", "%"]


def test_rows_let_a_person_read_what_went_wrong(outcomes, tmp_path):
    path = tmp_path / "rows.jsonl"
    write_rows(path, outcomes)
    home, *_ = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    assert home["old retired"] is True
    assert {
        "text": "The user lives in Oslo",
        "status": "superseded",
        "said": [home["old"]],
    } in home["facts"]
    assert home["hits"]
    with pytest.raises(StoreUnavailableError, match="can't write"):
        write_rows(tmp_path / "none" / "rows.jsonl", outcomes)


# ---------------------------------------------------------------- the command


def test_the_command_prints_one_json_object_last(file, tmp_path, capsys):
    rows = tmp_path / "rows.jsonl"
    app(
        ["beliefs", "--natural", "--data", str(file), "--json", "--rows", str(rows)],
        standalone_mode=False,
    )
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert figures["build"]["update"]["scenarios"] == 2
    assert len(rows.read_text(encoding="utf-8").splitlines()) == len(TOLD)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--half", "none"], "unknown half"),
        (["--half", "measure"], "no scenario of the half"),
    ],
)
def test_a_half_that_is_not_there_is_refused(file, arguments, reason):
    with pytest.raises(InvalidInputError, match=reason):
        app(["beliefs", "--natural", "--data", str(file), *arguments], standalone_mode=False)


def broken(**values):
    return json.dumps({**TOLD[0], **values})


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[]", "line 1 is not a JSON object"),
        ("{", "line 1 is not a JSON object"),
        (broken(kind="nonsense"), "kind"),
        (broken(sessions=TOLD[0]["sessions"][:1]), "one message must tell the old"),
        (
            broken(sessions=[{"at": MONDAY.isoformat(), "messages": [{"talk": "nonsense"}]}]),
            "no exchange 'nonsense'",
        ),
    ],
)
def test_a_line_that_is_no_scenario_is_named(tmp_path, line, reason):
    path = tmp_path / "scenarios.jsonl"
    path.write_text(line, encoding="utf-8")
    with pytest.raises(InvalidInputError, match=reason):
        load_scenarios(path)


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(NotFoundError, match="no file"):
        load_scenarios(tmp_path / "none.jsonl")
