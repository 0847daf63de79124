"""Standing wishes to the assistant, and requests that are done once."""

import pytest

from ingest.extract.offline import OfflineExtractor
from tests.conftest import say


def orders(message):
    found = OfflineExtractor().extract(say(message)).candidates
    return [one.content for one in found if one.category == "feedback"]


@pytest.mark.parametrize(
    ("message", "wish"),
    [
        ("Could you keep it to three sentences from here on?", "keep it to three sentences"),
        ("From now on: metric units and 24-hour times, please.", "metric units"),
        ("Kindly put the conclusion first.", "put the conclusion first"),
        ("so when u suggest meals pls count the carbs for me", "count the carbs"),
        ("I'd appreciate it if you skipped the introductions.", "skipped the introductions"),
        ("i prefer it when you show your sources", "shows its sources"),
        ("your replies could be a bit warmer", "warmer"),
        ("For emails: formal tone, no contractions.", "formal tone"),
        ("Prices in Danish kroner, please.", "Danish kroner"),
        ("You can drop the pleasantries.", "drop the pleasantries"),
        ("So large print, if you make me anything to print out.", "large print"),
        ("talk to me like I'm five", "like"),
        ("when you suggest meals, count carbs", "to count carbs when it suggests meals"),
        ("when you suggest meals, prices in euros", "to use prices in euros when"),
        ("When I travel, book aisle seats please", "to book aisle seats when the user travels"),
        ("When I paste code, flag the bugs", "to flag the bugs when the user pastes code"),
        ("If I ask for code, only python", "to use only python if"),
    ],
)
def test_standing_wishes_are_kept_in_many_forms(message, wish):
    found = orders(message)
    assert any(wish in one for one in found), found


@pytest.mark.parametrize(
    "message",
    [
        "Could you shorten the second paragraph please?",
        "Can you put this in the future tense?",
        "It would be great if you found me a flight.",
        "If I mix vinegar and soda, what happens?",
        "Make it shorter and use bullet points.",
        "Healthy food from now on",
        "Let me know when I can help.",
        "Write a poem about autumn in five lines.",
    ],
)
def test_requests_done_once_are_no_standing_wishes(message):
    assert orders(message) == []


@pytest.mark.parametrize(
    "message",
    [
        "every time I eat nuts, hives everywhere",
        "when I eat gluten, stomach cramps for days",
        "When I run, knee pain",
        "When I eat rice, no problems",
        "When we got home, chaos everywhere",
        "when we argued, questions everywhere",
        "if we move, our dog goes to my mum",
        "every time we visit mum, dad cooks lamb",
        "every time we visit mum, dad tells jokes",
        "on mondays: swimming with kids",
        "on mondays: calls with clients",
        "for the party: balloons, cake and candles",
    ],
)
def test_what_happens_in_a_case_is_no_wish(message):
    assert orders(message) == []
