"""Which wordings make one claim, and which look alike and don't."""

from __future__ import annotations

import pytest

from semantic_memory.consolidation.judges.rules import RuleJudge
from semantic_memory.consolidation.relations import Pair, Relation
from tests.conftest import make_fact

SAME = [
    ("The user is off dairy.", "The user doesn't eat dairy."),
    ("The user avoids onions.", "The user is onion free."),
    ("The user can't stand olives.", "Olives are not for the user."),
    ("The user is vegetarian.", "The user doesn't eat meat."),
    ("The user is teetotal.", "The user doesn't drink alcohol."),
    ("The user works nights.", "The user does night shifts."),
    ("Kofi works nights.", "Kofi does night shifts."),
    ("The user works from home.", "The user is working remotely."),
    ("The user goes to bed at eleven.", "Bedtime is at 11 for the user."),
    ("The user's shifts start at 6.", "The user starts work at 6."),
    ("The user has Mondays off.", "Monday is the user's day off."),
    ("A lesson costs 45 euros.", "The user charges 45 euros a lesson."),
    ("The user's hourly rate is 80 euros.", "The user charges 80 euros an hour."),
    ("The user takes losartan.", "The user is on losartan."),
    ("The user's boyfriend is Pavel.", "The user is going out with Pavel."),
    ("The user's landlord is Mr Boyd.", "The user and others rent from Mr Boyd."),
    ("The user's doctor is Dr Ames.", "Dr Ames is the user's GP."),
    ("The user and others use Redis as their cache.", "The user's cache is Redis."),
    ("The user and others have two goats.", "The user and others own two goats."),
    ("The user's blood pressure is low.", "The user has low blood pressure."),
    ("The user was born in Turku.", "Turku is where the user was born."),
    ("The user swims every morning.", "Every morning the user goes for a swim."),
    ("The user is single.", "The user doesn't have a partner."),
    ("The user wants to be called Ed.", "The user goes by Ed."),
]
APART = [
    ("The user doesn't eat dairy.", "The user eats dairy."),
    ("The user doesn't like coffee.", "The user doesn't drink coffee."),
    ("The user is vegetarian.", "The user is vegan."),
    ("The user lives in Turku.", "The user lived in Turku."),
    ("The user is a student.", "The user was a student."),
    ("The user has two goats.", "The user had two goats."),
    ("The user's first language is Finnish.", "The user's second language is Finnish."),
    ("The user always takes the tram.", "The user sometimes takes the tram."),
    ("Kofi works nights.", "Ama works nights."),
    ("The user's hourly rate is 80 euros.", "The user's daily rate is 80 euros."),
    ("The user goes to bed at eleven.", "The user gets up at eleven."),
    ("Ines is the user's sister.", "Ines is the user's sister-in-law."),
    ("The user's landlord is Mr Boyd.", "The user's neighbour is Mr Boyd."),
    ("The user takes 5 mg of losartan.", "The user takes 10 mg of losartan."),
    ("The user has children.", "The user wants children."),
]


def related(older: str, newer: str) -> Relation:
    pair = Pair(make_fact(1, content=older), make_fact(2, content=newer), 0.9)
    return RuleJudge().judge([pair])[0].relation


@pytest.mark.parametrize(("older", "newer"), SAME)
def test_wordings_of_one_claim_say_the_same(older, newer):
    assert related(older, newer) is Relation.SAME
    assert related(newer, older) is Relation.SAME


@pytest.mark.parametrize(("older", "newer"), APART)
def test_claims_that_look_alike_stay_apart(older, newer):
    assert related(older, newer) is not Relation.SAME
    assert related(newer, older) is not Relation.SAME
