"""The audit of promises, and the mutants that show that its checks and the tests can fail."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from eval.audit.checks import CHECKS, Check, UnmetError, equal, expect, refused, run
from eval.audit.command import _chosen
from eval.audit.site import Site
from eval.mutants.mutant import ROOT, TABLES, read
from semantic_memory.domain.errors import InvalidInputError

SECTIONS = {"A": 6, "B": 12, "C": 8, "D": 5, "E": 8, "F": 12, "G": 10}
ROWS = {f"{section}{number + 1}" for section, size in SECTIONS.items() for number in range(size)}
MUTANTS = [one for table in TABLES for one in read(table)]


def test_every_row_is_audited_by_checks_with_names_of_their_own():
    assert {one.row for one in CHECKS} == ROWS
    assert len({one.name for one in CHECKS}) == len(CHECKS) >= 60


def test_what_the_product_fails_to_do_is_a_failed_check_and_no_end_of_the_audit():
    def crashes(_: Site) -> object:
        raise ZeroDivisionError("by zero")

    def unmet(_: Site) -> object:
        equal(1, 2)
        return "never"

    with Site() as site:
        outcomes = [run(Check("A1", "it works", one), site) for one in (crashes, unmet, str)]
    assert [one.passed for one in outcomes] == [False, False, True]
    assert [one.seen for one in outcomes[:2]] == ["ZeroDivisionError: by zero", "1, not 2"]


def test_a_call_that_is_not_refused_or_gives_another_reason_is_unmet():
    assert refused(lambda: int("x"), ValueError, "invalid literal")
    for call, words in ((lambda: int("1"), ()), (lambda: int("x"), ("too long",))):
        with pytest.raises(UnmetError):
            refused(call, ValueError, *words)
    with pytest.raises(UnmetError, match="seen"):
        expect([], "seen")


def test_an_unknown_check_is_refused():
    assert [one.row for one in _chosen("B11")] == ["B11"]
    with pytest.raises(InvalidInputError, match="Z9"):
        _chosen("B11,Z9")


@pytest.mark.parametrize("one", [pytest.param(m, id=f"{m.table}-{m.name}") for m in MUTANTS])
def test_a_mutant_changes_one_place_and_names_a_check_that_exists(one):
    assert one.text(ROOT) != (ROOT / one.file).read_text(encoding="utf-8")
    ast.parse(one.text(ROOT))
    if one.table == "audit":
        assert one.check in {check.name for check in CHECKS}
    else:
        file, _, name = one.check.partition("::")
        source = Path(ROOT / file).read_text(encoding="utf-8")
        assert f"def {name.partition('[')[0]}" in source


def test_fifty_defaults_and_ten_features_have_mutants():
    assert len(read("defaults")) >= 50
    assert len(read("features")) >= 10
    assert len(read("audit")) >= 10
