"""Blocks read as a model reads them: which value is in them, and which comes last."""

import json
from collections import Counter
from datetime import timedelta

import pytest

from eval.natural.judge import Outcome, Shown
from eval.voices import TOLD, Reading, figures, sections, told
from semantic_memory.domain.errors import InvalidInputError

BLOCK = """<memory>
Recalled from earlier.
<core>
{core}</core>
<notes>
{notes}</notes>
</memory>"""


@pytest.fixture(scope="module")
def gold():
    return told(TOLD)


@pytest.fixture
def reading(gold):
    scenario = next(one for one in gold if one.id == "sailor-01-update")
    places = {side: scenario.told(side).position for side in ("old", "new")}
    texts = {"old": "Keeps the boat at Lymington", "new": "Berth is at Gosport"}

    def read(*notes, core=(), mark=""):
        lines = [*core, *notes]
        shown = tuple(
            Shown(texts[one] + (mark if one == "old" else ""), frozenset({places[one]}), False)
            for one in lines
        )
        numbered = [f"{n} {one.text}\n" for n, one in enumerate(shown, start=1)]
        block = BLOCK.format(
            core="".join(numbered[: len(core)]), notes="".join(numbered[len(core) :])
        )
        return Reading(Outcome(scenario, (), (), shown, block), 100)

    return read


def test_the_shipped_rows_are_two_hundred_by_ten_voices_half_of_them_only_measured(gold):
    assert len(gold) == len({one.id for one in gold}) == 200
    assert len({one.type for one in gold}) == 10
    assert Counter(one.half for one in gold) == {"build": 100, "measure": 100}
    assert sum(one.retires for one in gold) == 100


def test_each_statement_carries_its_value_and_the_older_not_the_newer(gold):
    for one in gold:
        assert one.old.carried_by(one.told("old").content), one.id
        assert one.new.carried_by(one.told("new").content), one.id
        assert not one.new.carried_by(one.told("old").content), one.id


def test_other_talk_and_weeks_stand_between(gold):
    for one in gold[:20]:
        old, new = one.told("old"), one.told("new")
        assert new.said_at - old.said_at > timedelta(weeks=4)
        assert sum(turn.chatter for turn in one.turns[old.position : new.position]) > 10


def test_an_old_value_misleads_unless_the_new_one_comes_last(reading):
    assert not reading("old", "new").misleads
    assert reading("new", "old").misleads
    assert reading("old").misleads
    assert not reading("new").misleads
    assert not reading("new", "old", mark=" (until 2025-02-20, see 1)").misleads


def test_what_stands_in_the_core_is_told_apart(reading):
    assert reading("new", core=("old",)).old_in_core
    assert not reading("old", "new").old_in_core
    assert sections(reading("new", core=("old",)).outcome.block) == ["core", "notes"]


def test_figures_are_shares_of_updates_and_of_look_alikes(reading):
    found = figures([reading("old", "new"), reading("old")])
    assert (found["updates"], found["new_in_block"], found["misleads"]) == (2, 0.5, 0.5)
    assert (found["look-alikes"], found["tokens"]) == (0, 100)


def test_a_row_without_a_question_is_named(tmp_path):
    row = {"id": "x", "half": "build", "writer": "w", "older": "a", "newer": "b", "over": True}
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row), encoding="utf-8")
    with pytest.raises(InvalidInputError, match="line 1"):
        told(path)
