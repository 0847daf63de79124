"""The measures of `python -m eval statements` and `python -m eval languages`, and how they fail."""

import json

import pytest

from eval import languages, statements
from eval.__main__ import app
from eval.gold import grouped, read_gold
from semantic_memory.domain.errors import InvalidInputError, NotFoundError
from semantic_memory.domain.extraction import Candidate
from semantic_memory.domain.facts import Category
from semantic_memory.testing import ScriptedExtractor

FISH = {
    "has": [["fish"]],
    "lacks": ["leo"],
    "categories": ["preference"],
    "negative": True,
    "date": "2026-03",
}
LEO = {"has": [["husband"], ["leo"]], "categories": ["personal"], "negative": False}


def item(number=1, facts=(), **values):
    return statements.Item.model_validate(
        {
            "id": f"kind-{number:02d}",
            "half": "build",
            "kind": "kind",
            "setting": "private",
            "register": "plain",
            "context": [{"role": "assistant", "content": "Anything new?"}],
            "messages": [{"role": "user", "content": f"Statement number {number}"}],
            "at": "2026-03-07T10:00:00Z",
            "facts": list(facts),
            **values,
        }
    )


@pytest.fixture
def outcome(open_memory, clock):
    """Outcome of one item whose messages give the facts `given`: (content, category)."""

    def tell(one, *given):
        def script(messages):
            (last,) = [m for m in messages if m.id == f"m{len(one.context)}"]
            return [
                Candidate(content=text, category=category, confidence=1.0, message_ids=(last.id,))
                for text, category in given
            ]

        with open_memory(extractor=ScriptedExtractor(script)) as memory:
            (found,) = statements.tell(memory, clock, [one], lambda *_: None)
        return found

    return tell


def test_a_perfect_store_gets_full_marks(outcome):
    found = outcome(
        item(facts=[FISH, LEO]),
        ("The user hasn't eaten fish since March 2026.", Category.PREFERENCE),
        ("The user's husband is called Leo.", Category.PERSONAL),
    )
    figures = statements.figures([found])
    assert figures.pop("items") == 1
    assert figures.pop("facts given") == 2
    assert figures.pop("nothing where nothing is due") is None
    assert set(figures.values()) == {1.0}


@pytest.mark.parametrize(
    ("content", "category", "wrong"),
    [
        ("The user eats fish in March 2026.", Category.PREFERENCE, "polarity right"),
        ("The user hasn't eaten fish since March 2026.", Category.FINDING, "category right"),
        ("The user hasn't eaten fish since Lent.", Category.PREFERENCE, "date right"),
        ("She hasn't eaten fish, March 2026.", Category.PREFERENCE, "given facts that stand alone"),
    ],
)
def test_each_fault_lowers_its_own_measure(outcome, content, category, wrong):
    figures = statements.figures([outcome(item(facts=[FISH]), (content, category))])
    assert figures["expected facts found"] == 1.0
    judged = {
        "polarity right",
        "category right",
        "date right",
        "given facts that stand alone",
    }
    assert {name for name in judged if figures[name] == 0.0} == {wrong}


@pytest.mark.parametrize("content", ["The user eats meat.", "The user's Leo never eats fish."])
def test_a_fact_that_says_something_else_is_not_the_expected_one(outcome, content):
    found = outcome(item(facts=[FISH]), (content, Category.PREFERENCE))
    figures = statements.figures([found])
    assert figures["expected facts found"] == 0.0
    assert figures["given facts that are expected"] == 0.0
    assert figures["polarity right"] is None


def test_several_facts_in_one_are_not_complete(outcome):
    both = ("The user doesn't eat fish, and the user's husband is Leo.", Category.PERSONAL)
    found = outcome(item(facts=[FISH, LEO]), both)
    figures = statements.figures([found])
    assert figures["several facts, all found"] == 0.0
    assert figures["expected facts found"] == 0.5


def test_silence_is_right_only_where_nothing_is_due(outcome):
    quiet, loud = item(1), item(2, messages=[{"role": "user", "content": "Good morning!"}])
    outcomes = [
        outcome(quiet),
        outcome(loud, ("The user wished the team a good morning.", Category.PERSONAL)),
    ]
    assert statements.figures(outcomes)["nothing where nothing is due"] == 0.5


def test_an_antecedent_left_out_does_not_stand_alone(outcome):
    one = item(facts=[FISH], alone=["trout", "salmon"])
    told = ("The user hasn't eaten the fish since March 2026.", Category.PREFERENCE)
    found = outcome(one, told)
    assert found.trouble(found.facts[0]) == "lacks its antecedent"


def test_an_optional_fact_is_neither_due_nor_wrong(outcome):
    one = item(facts=[FISH, {**LEO, "optional": True}])
    figures = statements.figures([outcome(one, ("The husband is Leo.", Category.PERSONAL))])
    assert figures["expected facts found"] == 0.0
    assert figures["given facts that are expected"] == 1.0
    assert figures["several facts, all found"] is None


def test_facts_of_the_context_do_not_count(open_memory, clock):
    def script(messages):
        return [
            Candidate(
                content="The user doesn't eat fish.",
                category=Category.PREFERENCE,
                confidence=1.0,
                message_ids=(messages[0].id,),
            )
        ]

    memory = open_memory(extractor=ScriptedExtractor(script))
    (found,) = statements.tell(memory, clock, [item(facts=[FISH])], lambda *_: None)
    assert found.facts == []
    assert statements.row(found)["complete"] is False


def test_outcomes_keep_the_order_of_the_items_and_the_clock_their_times(open_memory, clock):
    times = ["2026-05-01T10:00:00Z", "2026-01-01T10:00:00Z"]
    items = [item(number, at=at) for number, at in enumerate(times, 1)]
    found = statements.tell(open_memory(), clock, items, lambda *_: None)
    assert [one.item.id for one in found] == ["kind-01", "kind-02"]
    assert clock.now() == items[0].at
    assert list(grouped(found, lambda one: one.item.kind)) == ["all", "kind"]


PAIR = {"id": "xx-1", "kind": "pair", "language": "xx"}


def told_languages(memory, clock, *items):
    records = [languages.Item.model_validate(one) for one in items]
    return languages.tell(memory, clock, records, lambda *_: None)


def each_message(messages):
    return [
        Candidate(
            content=one.content,
            category=Category.PERSONAL,
            confidence=1.0,
            message_ids=(one.id,),
        )
        for one in messages
    ]


def test_a_pair_merged_is_counted_and_one_kept_apart_is_not(open_memory, clock):
    memory = open_memory(extractor=ScriptedExtractor(each_message))
    outcomes = told_languages(
        memory,
        clock,
        {**PAIR, "statements": ["Minu koer elab Tartus", "minu koer elab Tartus!"]},
        {**PAIR, "id": "xx-2", "statements": ["Ema joob teed", "Kontoris on kuus akent"]},
    )
    figures = languages.figures(outcomes)
    assert figures["pairs"] == 2
    assert figures["added: merged or retired"] == 1
    assert figures["told: merged or retired"] == 1
    assert [one.added_apart for one in outcomes] == [False, True]


@pytest.mark.parametrize(("script", "kept"), [(each_message, 1.0), (lambda messages: [], 0.0)])
def test_statements_are_kept_in_their_own_words_and_found(open_memory, clock, script, kept):
    memory = open_memory(extractor=ScriptedExtractor(script))
    said = {"kind": "statement", "language": "xx", "words": ["teed"]}
    figures = languages.figures(
        told_languages(
            memory,
            clock,
            {"id": "tea", "text": "Ema joob teed", **said},
            {"id": "mum", "text": "Teed joob isa", **said},
            {"id": "q", "kind": "question", "language": "xx", "text": "ema?", "answer": "tea"},
            {"id": "q2", "kind": "question", "language": "xx", "text": "ema?", "answer": "none"},
        )
    )
    assert figures["statements kept"] == kept
    assert figures["Success@1"] == figures["Success@5"] == 0.5


@pytest.mark.parametrize("kind", ["pair", "statement", "question"])
def test_an_incomplete_item_is_refused(kind):
    with pytest.raises(ValueError, match="incomplete"):
        languages.Item(id="x", kind=kind, language="xx")


def test_a_file_that_is_no_gold_set_is_refused_by_its_line(tmp_path):
    path = tmp_path / "set.jsonl"
    for text, reason in (
        ('{"id": 1}\n', "line 1"),
        ("{}\n[]\n", "line 1"),
        ("nonsense", "is not JSON"),
        ("[]", "is not an object"),
        ("", "holds no record"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InvalidInputError, match=reason):
            read_gold("statements", statements.Item, path)
    with pytest.raises(NotFoundError):
        read_gold("statements", statements.Item, tmp_path / "none.jsonl")


def test_rows_can_be_written_as_json(outcome):
    found = outcome(item(facts=[FISH]), ("The user hates fish.", Category.PREFERENCE))
    assert json.loads(json.dumps(statements.row(found)))["expected"][0]["found"]


def test_the_commands_print_one_json_object_and_write_rows(tmp_path, capsys):
    single, tongues, rows = (tmp_path / name for name in ("one.jsonl", "two.jsonl", "rows.jsonl"))
    told = item(messages=[{"role": "user", "content": "I don't eat fish."}], facts=[FISH])
    single.write_text(told.model_dump_json(by_alias=True) + "\n", encoding="utf-8")
    app(["statements", "--data", str(single), "--rows", str(rows), "--json"], standalone_mode=False)
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert figures["items"] == 1
    assert figures["by_kind"]["kind"]["expected facts found"] == 1.0
    assert json.loads(rows.read_text(encoding="utf-8"))["given"]

    pair = {**PAIR, "statements": ["Ema joob teed", "Kontoris on kuus akent"]}
    tongues.write_text(json.dumps(pair) + "\n", encoding="utf-8")
    app(["languages", "--data", str(tongues), "--json"], standalone_mode=False)
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert figures["pairs"] == figures["by_language"]["xx"]["pairs"] == 1
    app(["languages", "--data", str(tongues)], standalone_mode=False)
    assert "xx" in capsys.readouterr().out


def test_one_half_is_measured_when_asked(tmp_path, capsys):
    path = tmp_path / "items.jsonl"
    items = [item(1, half="measure"), item(2), item(3)]
    path.write_text("\n".join(one.model_dump_json(by_alias=True) for one in items))
    app(["statements", "--data", str(path), "--half", "build", "--json"], standalone_mode=False)
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["items"] == 2
