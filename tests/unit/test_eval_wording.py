"""The rules that compare wordings."""

import doctest

import pytest

from eval import wording
from eval.wording import dates, gives_date, holds, holds_all, is_negated, is_negative


@pytest.mark.parametrize(
    ("text", "words", "held"),
    [
        ("The user is celiac.", "celiac", True),
        ("The user is vegetarian.", "vegetarians", False),
        ("Use  Git\nSwitch here", "git switch", True),
        ("The user’s mother-in-law", "user's mother-in-law", True),
        ("set to `line_length = 88`.", "line_length = 88", True),
        ("runs 3.13", "3.1", False),
        ("runs 3.13.", "3.13", True),
        ("runs 3.13.2", "3.13", False),
        ("costs 1,180 euros", "180", False),
        ("the crash", "crash*", True),
        ("it crashes", "crash*", True),
        ("gate crashes", "rash*", False),
        ("port 8081", "808", False),
        ("Größe L", "größe", True),
    ],
)
def test_words_are_held_whole_and_in_order(text, words, held):
    assert holds(text, words) is held


def test_every_group_needs_one_alternative():
    text = "The user has two cats."
    assert holds_all(text, [["two", "2"], ["cats"]])
    assert not holds_all(text, [["two", "2"], ["dogs"]])


@pytest.mark.parametrize(
    ("text", "negated", "negative"),
    [
        ("The user is vegan.", False, False),
        ("The user doesn't eat meat.", True, True),
        ("The user can’t drive.", True, True),
        ("dont deploy on fridays", True, True),
        ("The user no longer smokes.", True, True),
        ("The user quit smoking.", False, True),
        ("Leave out the small talk.", False, True),
        ("The user knows Noel.", False, False),
    ],
)
def test_polarity_is_read_from_the_words(text, negated, negative):
    assert (is_negated(text), is_negative(text)) == (negated, negative)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("on Friday, 13 March 2026", ["2026-03-13"]),
        ("on March 13th, 2026", ["2026-03-13"]),
        ("the 4th of May 2026 and 2026-06-01", ["2026-06-01", "2026-05-04"]),
        ("since March 2025", ["2025-03"]),
        ("since 2015", ["2015"]),
        ("on 31 February 2026", []),
        ("port 2026-a, version 1.2019", []),
    ],
)
def test_written_dates_are_read_as_precisely_as_they_are_written(text, found):
    assert list(dates(text)) == found


@pytest.mark.parametrize(
    ("text", "expected", "given"),
    [
        ("on 13 March 2026", "2026-03-13", True),
        ("on 14 March 2026", "2026-03-13", False),
        ("in March 2026", "2026-03-13", False),
        ("on 13 March 2026", "2026-03", True),
        ("on 13 March 2026", "2026", True),
        ("next Friday", "2026-03-13", False),
        ("in 12026", "2026", False),
    ],
)
def test_a_date_is_given_if_it_lies_within_the_expected_one(text, expected, given):
    assert gives_date(text, expected) is given


def test_the_examples_hold():
    assert doctest.testmod(wording).failed == 0
