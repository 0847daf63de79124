from datetime import timedelta

import pytest

from semantic_memory.consolidation.claims import claims
from semantic_memory.consolidation.judges.rules import RuleJudge
from semantic_memory.consolidation.relations import Pair, Relation
from semantic_memory.consolidation.statements import read
from tests.conftest import NOW, make_fact


def relation(older: str, newer: str, similarity: float, days: int = 30) -> Relation:
    pair = Pair(
        make_fact(1, content=older),
        make_fact(2, content=newer, created_at=NOW + timedelta(days=days)),
        similarity,
    )
    return RuleJudge().judge([pair])[0].relation


UPDATES = [
    ("Maya lives in Berlin.", "Maya moved to Hamburg."),
    ("Emily lives in Berlin.", "Emily relocated to Rome."),
    ("Maya works at Google.", "Maya joined Microsoft."),
    ("Maya works at Google.", "Maya left Google."),
    ("The user's favourite colour is blue.", "The user's favourite colour is green."),
    ("The user loves coffee.", "The user hates coffee."),
    ("Maya drinks coffee every morning.", "Maya no longer drinks coffee."),
    ("The user uses VS Code.", "The user switched from VS Code to Neovim."),
    ("The deadline is 20 May.", "The deadline is 27 May."),
    ("The user has a dog.", "The user has no pets."),
    ("Maya is single.", "Maya got married."),
    ("The user is vegetarian.", "The user eats meat again."),
    ("The user is 29 years old.", "The user is 30 years old."),
    ("The API response time is 400 ms.", "The API response time is 250 ms."),
    ("Maya has two dogs.", "Maya has three dogs."),
    ("The main database is Postgres.", "The main database is SQLite."),
    ("The user plays the guitar.", "The user stopped playing the guitar."),
    ("Tests run in CI on every push.", "Tests no longer run in CI on every push."),
    ("Maya is allergic to peanuts.", "Maya is not allergic to peanuts."),
    ("My son plays chess.", "I have no children."),
    ("Would my dog like the beach?", "I have no pets."),
    ("I love country music.", "Country music makes me cringe."),
]
COMPATIBLE = [
    ("Leila's favourite composer is Ravel.", "Someone thinks Leila's favourite composer is Satie."),
    ("Maya lives in Berlin.", "Anna heard that Maya lives in Rome."),
    ("My cat sleeps on the sofa.", "My dog died last year."),
    ("My sister has two kids.", "I have no kids."),
    ("Maya left Google.", "Maya joined Microsoft."),
    ("Maya works at Google.", "Maya works at Google in Berlin."),
    ("The user likes jazz.", "The user likes rock."),
    ("The user likes coffee.", "The user likes coffee and tea."),
    ("The user has a dog.", "The user has no cats."),
    ("The user ran 5 km yesterday.", "The user ran 10 km yesterday."),
    ("Maya went to Paris in May.", "Maya went to Rome in June."),
    ("Maya bought a red bike.", "Maya sold a red bike."),
    ("Maya's dog is a labrador.", "Maya's dog is cute."),
    ("Maya's sister lives in Rome.", "Maya lives in Berlin."),
    ("Anna lives in Rome.", "Maya lives in Berlin."),
    ("He lives in Rome.", "He lives in Berlin."),
    ("The user has a meeting on Monday.", "The user has a meeting on Tuesday."),
    ("The user works as a teacher.", "The user works at Lincoln High School."),
    ("Maya has a dog she can't live without.", "Maya adopted a dog."),
    ("Maya did not have pets as a child.", "Maya has a cat."),
    ("Maya is thinking of moving to Rome.", "Maya lives in Berlin."),
    ("Does the user live in Rome?", "The user lives in Berlin."),
]


@pytest.mark.parametrize(("older", "newer"), UPDATES)
def test_a_change_updates_what_was_said_before(older, newer):
    assert relation(older, newer, 0.9) is Relation.UPDATES


@pytest.mark.parametrize(("older", "newer"), COMPATIBLE)
def test_what_can_both_be_true_is_neither_merged_nor_replaced(older, newer):
    assert relation(older, newer, 0.9) in (Relation.UNRELATED, Relation.REFINES)


def test_a_conflict_of_one_day_without_a_sign_of_change_is_a_contradiction():
    assert relation("Maya lives in Rome.", "Maya lives in Bonn.", 0.9, days=0) is (
        Relation.CONTRADICTS
    )


@pytest.mark.parametrize(
    ("older", "newer", "guard"),
    [
        ("Maya drinks two cups.", "Maya drinks three cups.", "numbers"),
        ("The release is in May.", "The release is in June.", "dates"),
        ("Maya does eat fish.", "Maya does not eat fish.", "negation"),
        ("The team met Anna.", "The team met Paula.", "names"),
        ("The gateway runs on web01.", "The gateway runs on web02.", "codes"),
        ("The project needs python3.11.", "The project needs python3.12.", "codes"),
        ("Maya takes vitamin b12.", "Maya takes vitamin b6.", "codes"),
        ("Locker rs6854 opens with code 7.", "Locker ft0889 opens with code 7.", "codes"),
        ("Maya lives at Elm Street 12a.", "Maya lives at Elm Street 12b.", "codes"),
        ("Commit a1b2c3d broke the build.", "Commit d4e5f6a broke the build.", "codes"),
        ("The dog is in front of the house.", "The dog is behind the house.", "opposites"),
        ("The dog bites the cat.", "The cat bites the dog.", "roles"),
        ("Maya saw the film yesterday.", "Maya saw the film today.", "time of speaking"),
        ("Maya moves to Rome.", "Maya might move to Rome.", "hedged"),
    ],
)
def test_guards_keep_near_sentences_apart(older, newer, guard):
    pair = Pair(make_fact(1, content=older), make_fact(2, content=newer), 0.99)
    verdict = RuleJudge().judge([pair])[0]
    assert verdict.relation is not Relation.SAME
    if verdict.relation is Relation.UNRELATED:
        assert guard in verdict.reasons


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We should back up to two drives.", "We back up to two drives."),
        ("Ola is supposed to mend the door.", "Ola mended the door."),
        ("The user's brother-in-law is a cook.", "The user's brother is a cook."),
        ("The user's aunt has a boat.", "The user has a boat."),
        ("They meet every other Friday.", "They meet every Friday."),
        ("The user sold half of the land.", "The user sold the land."),
        ("The user is vice president of the club.", "The user is president of the club."),
        ("The user's oldest son plays chess.", "The user's youngest son plays chess."),
        ("The user swims twice a week.", "The user swims twice a day."),
        ("The user works with Ida on maps.", "The user works for Ida on maps."),
        ("Ida is the user's teacher.", "The user is Ida's teacher."),
        ("The user likes tea more than coffee.", "The user likes coffee more than tea."),
        ("The user enjoys singing for guests.", "The user enjoys guests singing for the user."),
        ("The user is studying art in Lund.", "The user studied art in Lund."),
        ("The user can't eat raw onions.", "The user can't eat onions."),
        ("The app is tested in staging.", "The app is tested in production."),
    ],
)
def test_small_words_keep_statements_apart(one, other):
    assert relation(one, other, 0.96) is not Relation.SAME
    assert relation(other, one, 0.96) is not Relation.SAME


def test_a_passive_is_the_same_as_its_active():
    assert relation("A cat chases the dog.", "The dog is chased by a cat.", 0.9) is Relation.SAME


def test_the_same_words_about_yesterday_on_other_days_are_two_events():
    said = "Maya ran a race yesterday."
    assert relation(said, "Maya has run a race yesterday.", 0.98) is not Relation.SAME


def test_a_spelled_number_equals_its_digits():
    assert read("Maya has twelve plants.").numbers == read("Maya has 12 plants.").numbers


def test_contractions_are_read_as_negations():
    assert all(
        read(text).negated for text in ("I can't swim", "I dont swim", "I won’t swim", "I cannot")
    )


def test_claims_of_someone_unnamed_are_not_kept():
    assert claims("She lives in Berlin.") == frozenset()


def test_who_of_the_family_is_meant_belongs_to_the_claim():
    (claim,) = [
        claim for claim in claims("Maya's sister lives in Rome.") if claim.attribute == "home"
    ]
    assert claim.subject == "maya sister"
