"""Progress without a terminal: a line every ten seconds, with the time that is left."""

from __future__ import annotations

from semantic_memory.entrypoints.cli.progress import Lines


def test_a_line_comes_every_ten_seconds_with_the_time_left():
    at, lines = [0.0], list[str]()
    report = Lines(lines.append, lambda: at[0])
    for second in range(41):
        at[0] = float(second)
        report("reading", second * 10, 1_600)
    assert lines == [
        "reading: 100 of 1,600 (6%), 2 min 30 s left",
        "reading: 200 of 1,600 (12%), 2 min 20 s left",
        "reading: 300 of 1,600 (19%), 2 min 10 s left",
        "reading: 400 of 1,600 (25%), 2 min 0 s left",
    ]


def test_a_step_of_unknown_length_tells_what_is_done():
    at, lines = [0.0], list[str]()
    report = Lines(lines.append, lambda: at[0])
    report("reading", 5, 0)
    at[0] = 30.0
    report("reading", 70, 0)
    report("extracting", 1, 2)
    assert lines == ["reading: 70"]
