"""The examples run, and print what a person would check."""

import re

import pytest

from examples import annual_report, changing_tools, resumed_task, small_budget


@pytest.fixture
def printed(tmp_path, capsys, request) -> str:
    request.param.run(tmp_path / "store")
    return str(capsys.readouterr().out)


@pytest.mark.parametrize("printed", [annual_report], indirect=True)
def test_figures_of_several_sessions_are_found(printed):
    assert printed.count("as expected: yes") == len(annual_report.QUESTIONS)
    assert len(set(re.findall(r"\[([\w-]+)\]$", printed, re.MULTILINE))) == 3


@pytest.mark.parametrize("printed", [changing_tools], indirect=True)
def test_a_user_moves_from_python_to_rust(printed):
    lines = dict(line.split(":", 1) for line in printed.splitlines())
    assert "Rust" in lines["now"]
    assert "Python" in lines["before"]
    assert "Rust" not in lines["before"]
    assert re.search(r"uses Python .* until September 2026", lines["retired"])
    assert "uses Python" not in lines["standing"]


@pytest.mark.parametrize("printed", [resumed_task], indirect=True)
def test_an_interrupted_task_resumes_where_it_was(printed):
    before, after = printed.split("interrupted")
    assert re.findall(r"report-\d", before) == ["report-1", "report-2"]
    assert "starts at step 2" in after
    assert re.findall(r"report-\d", after) == ["report-3", "report-4", "report-5"]
    assert "done: 5 documents, each once" in after


@pytest.mark.parametrize("printed", [small_budget], indirect=True)
def test_a_small_budget_holds_profile_history_and_the_facts_that_matter(printed):
    tokens, left_out = map(int, re.findall(r"(\d+) of 250 tokens, (\d+) memories", printed)[0])
    assert tokens <= small_budget.BUDGET
    assert left_out > 0
    block, _, listed = printed.partition("</memory>")
    assert "The user is a nurse" in block.partition("<history>")[0]
    for text, _ in small_budget.TRIP:
        assert text in block
    confidences = [float(one) for one in re.findall(r"^  (\d\.\d\d) ", listed, re.MULTILINE)]
    assert len(confidences) == 5
    assert confidences == sorted(confidences, reverse=True)
