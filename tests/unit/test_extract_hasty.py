"""Messages as people type them in passing: commands, left-out subjects, lists, pronouns, dates."""

from datetime import UTC, datetime

import pytest
from semantic_memory.consolidation.renewal import renewal

from ingest.extract.offline import OfflineExtractor
from semantic_memory.domain.english.relative_dates import absolute_dates
from tests.conftest import say

SAID = datetime(2026, 3, 4, tzinfo=UTC)  # a Wednesday


def facts(*contents):
    messages = say(*contents, created_at=SAID)
    return [one.content for one in OfflineExtractor().extract(messages).candidates]


@pytest.mark.parametrize(
    "said",
    [
        "Convert 3 cups to ml please",
        "Explain photosynthesis like I'm five",
        "Draw 2 circles side by side in svg",
        "Order 20 bags of clay",
        "Rank these: Porto, Lyon, Turin",
        "Compare ssd and hdd for a nas",
        "Walk me through changing a tyre",
    ],
)
def test_a_command_is_no_fact(said):
    assert facts(said) == []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("free tier ends in May", "Free tier ends in May 2026."),
        ("deploys go out on thursdays", "Deploys go out on thursdays."),
        ("billing moved over to Tomasz", "Billing moved over to Tomasz."),
        ("Ravi quit last week", "Ravi quit in the week of 23 February 2026."),
    ],
)
def test_a_thing_with_a_verb_is_a_statement_and_no_command(said, told):
    assert facts(said) == [told]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Hired Sunniva for the shop", "The user hired Sunniva for the shop."),
        (
            "upgraded prod to postgres 16 on sunday",
            "The user upgraded prod to postgres 16 on Sunday, 1 March 2026.",
        ),
        (
            "Moving the studio to Kerteminde, 140 square metres!",
            "The user is moving the studio to Kerteminde, 140 square metres.",
        ),
        ("Not eating meat until Easter", "The user is not eating meat until Easter."),
        ("turning 50 in november", "The user is turning 50 in November 2026."),
        ("Never been a fan of jazz", "The user has never been a fan of jazz."),
        ("passed B2!!", "The user passed B2."),
        ("hit 30k on the deposit!", "The user hit 30k on the deposit."),
        ("got a new laptop, M4 Pro 48GB", "The user got a new laptop, M4 Pro 48GB."),
        ("Dad has parkinsons", "The user's dad has parkinsons."),
        ("doc upped my dose to 40", "The user's doc upped their dose to 40."),
        ("classes cost 395 now, forgot to tell you", "Classes cost 395 now."),
        ("my blood group is A+", "The user's blood group is A+."),
        ("the baby's due 9 may", "The baby is due 9 May 2026."),
        ("I may 5 times a week go running", "The user may 5 times a week go running."),
        ("cat's called Miso", "The user's cat is called Miso."),
    ],
)
def test_a_left_out_subject_is_the_speaker(said, told):
    assert facts(said) == [told]


@pytest.mark.parametrize("said", ["Not going to lie", "Put the title on top", "Made by hand"])
def test_no_subject_is_added_to_what_has_none(said):
    assert not [one for one in facts(said) if one.startswith(("The user is", "The user put"))]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "We have a rescue greyhound, Biscuit, and two cats",
            ["The user and others have a rescue greyhound, Biscuit.", "... have two cats."],
        ),
        (
            "My brother Kofi lives in Accra, he runs a garage",
            ["The user's brother Kofi lives in Accra.", "The user's brother Kofi runs a garage."],
        ),
        (
            "I got a kitten yesterday, her name is Pancake",
            ["The user got a kitten on 3 March 2026.", "The user's kitten's name is Pancake."],
        ),
        (
            "I grew up in Lund but live in Bergen now",
            ["The user grew up in Lund.", "The user lives in Bergen now."],
        ),
        ("I have two sons and a daughter at university", ["... and a daughter at university."]),
        (
            "Vegetarian, and walnuts give me hives",
            ["The user is vegetarian.", "Walnuts give the user hives."],
        ),
        (
            "we have to be out by end of june, how do i negotiate",
            ["The user and others have to be out by end of June 2026."],
        ),
        ("can you write to my landlord Mr Kerr", ["The user's landlord is Mr Kerr."]),
        (
            "Explain things like I'm new to this",
            ["... explain things like the user is new to this."],
        ),
        ("The kids are 3, 7 and 11", ["The user's kids are 3, 7 and 11."]),
        ("finished Middlemarch, loved it", ["The user finished Middlemarch, the user loved it."]),
        (
            "I used to play the violin but haven't touched it in years",
            ["The user used to play the violin but hasn't touched it in years."],
        ),
        (
            "I teach at the centre in Odense. I drive there on Sundays.",
            [
                "The user teaches at the centre in Odense.",
                "The user drives to Odense on Sundays.",
            ],
        ),
    ],
)
def test_each_thing_said_is_a_fact_of_its_own(said, told):
    found = facts(said)
    assert len(found) == len(told)
    assert all(
        one.endswith(part.removeprefix("...")) for one, part in zip(found, told, strict=True)
    )


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("she starts monday", "she starts on Monday, 9 March 2026"),
        ("the lease runs out at the end of the month", "... at the end of March 2026"),
        ("we leave at the beginning of next month", "... at the beginning of April 2026"),
        ("The launch slipped to 14 September", "The launch slipped to 14 September 2026"),
        ("I signed up for the run in Aarhus, 12 April", "... in Aarhus, 12 April 2026"),
        ("we signed the lease, moving on 1 May", "we signed the lease, moving on 1 May 2026"),
        ("she wants a draft by 1 April", "she wants a draft by 1 April 2026"),
        ("the rent is going up from june", "the rent is going up from June 2026"),
        ("the membership runs until december", "the membership runs until December 2026"),
        ("I met him Tuesday", "I met him on Tuesday, 3 March 2026"),
        ("The flight is delayed till Monday", "... till Monday, 9 March 2026"),
        ("Ana starts Monday, leaves Friday", "... on Monday, 9 March 2026, leaves Friday"),
        ("I have a scan on Tuesday", "I have a scan on Tuesday, 10 March 2026"),
    ],
)
def test_dates_of_plans_and_bare_weekdays_are_written_out(said, told):
    assert absolute_dates(said, SAID).endswith(told.removeprefix("..."))


@pytest.mark.parametrize(
    "said",
    [
        "I work Monday to Friday",
        "the Monday meeting is dull",
        "Sunday roast is my thing",
        "I am free Saturday",
        "I was broke at the end of the month",
        "our fiscal year starts in April",
        "over the last year I ran a lot",
        "her last year of school was hard",
    ],
)
def test_what_recurs_or_may_be_any_day_keeps_its_words(said):
    assert absolute_dates(said, SAID) == said


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I live in Bergen", "We're moving to Oslo in August"),
        ("I live in Bergen", "I'm moving to Oslo next month"),
        ("I grew up in Lund", "I'm moving back to Lund in the fall"),
        ("My fiance is called Luca", "no gluten for my husband"),
    ],
)
def test_a_move_to_come_and_another_name_for_somebody_end_nothing(older, newer):
    assert renewal(older, newer) is None


def test_whoever_has_a_name_behind_kin_is_meant_by_the_name():
    assert renewal("My brother Kofi runs a garage", "Kofi sold the garage")
    assert renewal("My brother Kofi runs a garage", "Efua sold the garage") is None


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("deadline is the 30th", "deadline is on 30 March 2026"),
        ("The deadline for the paper is the 30th", "on 30 March 2026"),
        ("rent is due the 5th", "due on 5 March 2026"),
        ("school starts again the 7th", "again on 7 March 2026"),
        ("The launch got pushed to the 22nd", "to 22 March 2026"),
        ("the exam was the 2nd", "on 2 March 2026"),
        ("The invoice is overdue since the 10th", "since 10 February 2026"),
        ("two exams left: one on the 9th", "left: one on 9 February 2026"),  # "left" may be a verb
        ("I have two exams left: one on the 9th", "left: one on 9 March 2026"),
        ("my sister's wedding is 12 sept", "is 12 September 2026"),
        ("I start on Apr 3rd", "I start on 3 April 2026"),
        ("I start in Feb", "in February 2027"),
        ("handover is 3 May", "is 3 May 2026"),
        ("Our office is moving in spring", "in the spring of 2026"),
        ("my dad moved out in the summer", "in the summer of 2025"),
        ("The boss is on leave until Monday", "until Monday, 9 March 2026"),
    ],
)
def test_days_of_a_month_and_short_months_are_dated(said, told):
    assert told in absolute_dates(said, SAID)


@pytest.mark.parametrize(
    "said",
    [
        "payday is the 28th every month",
        "it's the 3rd",
        "she is the 3rd in line",
        "He came in the 4th",
        "I met Jan 2 times",
        "open from Tuesday until Sunday",
        "we camp in the summer",
        "Dan's birthday is 4 May",
        "I worked there in the summer of 2019",
    ],
)
def test_other_ordinals_are_no_days(said):
    assert absolute_dates(said, SAID) == said


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "quick one before standup: the retro is on thursdays now",
            ["The retro is on thursdays now."],
        ),
        ("Background: I have type 1 diabetes", ["The user has type 1 diabetes."]),
        ("I'm vegan, suggest a dinner", ["The user is vegan."]),
        (
            "Please keep answers short, I read these on my watch.",
            ["The user asks the assistant to keep answers short."],
        ),
        ("mum arrives tue", ["The user's mum arrives on Tuesday, 10 March 2026."]),
        ("kid got braces", ["The user's kid got braces."]),
        (
            "I'm a baker. Manager's called Yuki.",
            ["The user is a baker.", "The user's manager is called Yuki."],
        ),
        ("demo's the 9th", ["Demo is on 9 March 2026."]),
        ("Tom's 40 now", ["Tom is 40 now."]),
        ("Had an MRI on Monday", ["The user had an MRI on Monday, 2 March 2026."]),
        ("Nurse at St Mary's", ["The user is a nurse at St Mary's."]),
        ("I'm a nurse, 12h shifts", ["The user is a nurse, 12h shifts."]),
        (
            "Our flat's on the 4th floor, no lift",
            ["The user's flat is on the 4th floor, no lift."],
        ),
        ("Sister Act is my favourite film", ["Sister Act is the user's favourite film."]),
    ],
)
def test_what_stands_around_a_statement_is_left_out(said, told):
    assert facts(said) == told
