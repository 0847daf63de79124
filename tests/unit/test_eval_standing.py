"""The checker of facts that stand alone."""

import doctest

import pytest

from eval import standing
from eval.standing import stands_alone, trouble


@pytest.mark.parametrize(
    "fact",
    [
        "The user is vegetarian.",
        "The user lives in Hamburg with their husband Leo.",
        "The user's sister can't eat gluten.",
        "The user thinks they could beat Anders at chess.",
        "The user bought an old Volvo and loves it.",
        "The user moved to Basel because the job was there.",
        "Priya avoids coriander because it tastes of soap.",
        "Tomasz asked the user's manager to call him.",
        "There are three replicas of the database.",
        "Leonie signs in with a key that she keeps at home.",
        "The user often logs in.",
        "The gateway listens on port 7081.",
        "The project Halcyon is due on 22 May 2026.",
        "The first of May is a holiday in Portugal.",
        "If it rains on Saturday, the party is held indoors.",
        "The trip to Crete is in May.",
        "editor: helix",
        "deploy_target = eu-west-3",
        "The feature flag `that` is on.",
        "I'm celiac.",
        "Marek is the only one who may deploy to production.",
        "The dog carries its own leash.",
        "Svea practises the harp two hours a day.",
        "Commit messages are written in English, not in Dutch.",
    ],
)
def test_a_whole_fact_stands_alone(fact):
    assert trouble(fact) is None


@pytest.mark.parametrize(
    ("fact", "reason"),
    [
        ("It is faster now.", "begins with"),
        ("That won't do for the client.", "begins with"),
        ("There the user met Ana.", "begins with"),
        ("Someone told the user about the plan.", "begins with"),
        ("They moved the retro to four.", "begins with"),
        ("He reports to Agnes.", "begins with"),
        ("And the user paid for the room.", "begins with"),
        ("The project is going well.", "begins with"),
        ("The other one is better.", "begins with"),
        ("The user thinks about it.", "stands for nothing"),
        ("The user loves it very much.", "stands for nothing"),
        ("Tariq owns it.", "stands for nothing"),
        ("The user works there.", "stands for nothing"),
        ("The user told her the news.", "stands for nothing"),
        ("The user wants to sell them.", "stands for nothing"),
        ("The user is waiting for", "ends in"),
        ("The formatter is configured with.", "ends in"),
        ("The user lives in.", "ends in"),
        ("The user doesn't like that.", "ends in"),
        ("The user would do more if they could.", "ends in"),
        ("The user went to the", "ends in"),
        ("The user and Ana build w/", "ends in"),
        ("The user and", "ends in"),
        ("Only automatics.", "fragment"),
        ("!!", "fragment"),
    ],
)
def test_a_fact_that_needs_its_conversation_is_caught(fact, reason):
    assert reason in (trouble(fact) or "")
    assert not stands_alone(fact)


def test_the_examples_hold():
    assert doctest.testmod(standing).failed == 0
