"""The measure of what the rules find of changes told in words that they weren't written from."""

from __future__ import annotations

from eval.changes import PAIRS, judged, main
from eval.extraction import read_lines


def test_a_change_that_the_rules_know_is_found_and_a_visit_is_not():
    rows = [
        {"writer": "a", "older": "I live in Oslo.", "newer": "I moved to Bergen.", "over": True},
        {"writer": "a", "older": "I live in Oslo.", "newer": "Bergen was rainy.", "over": False},
    ]
    assert [one.found for one in judged(rows)] == [True, False]


def test_each_writer_has_updates_and_look_alikes():
    kinds = {(row["writer"], row["over"]) for row in read_lines(PAIRS)}
    assert len(kinds) == 8


def test_the_command_prints_a_line_for_updates_and_one_for_look_alikes_of_each_writer(capsys):
    main()
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 8
    assert all("renew" in line for line in printed)
