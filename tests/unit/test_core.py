"""The core of a profile: which facts it has, and that it begins every block."""

from datetime import date, timedelta

import pytest

from semantic_memory.domain.english.core import (
    core_field,
    tells_on_others,
    told_of_others,
)
from semantic_memory.domain.english.due import due_on
from semantic_memory.domain.english.relative_dates import dated_in_place
from semantic_memory.domain.english.smalltalk import is_filler
from semantic_memory.domain.facts import Category
from semantic_memory.domain.trust import Trust
from semantic_memory.profile.core import derive_core, in_turn
from semantic_memory.settings import ContextSettings, Settings
from tests.conftest import NOW, say

U = {"user_id": "u1"}
S = {**U, "session_id": "s1"}
UNRELATED = "Book me a hotel in Lisbon"


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ("The user's name is Benedikta", "name"),
        ("The user is Dr. Vakili", "name"),
        ("I'm vegetarian", "diet"),
        ("The user hasn't eaten meat since 2019", "diet"),
        ("The user is allergic to latex", "allergies"),
        ("Cheese is fine, but no hazelnuts for the user", "allergies"),
        ("The user has type 1 diabetes", "health"),
        ("The user lives with MS", "health"),
        ("The user had a hip replacement in May 2026", "health"),
        ("Gluten upsets the user's stomach", "allergies"),
        ("The user is on a low-salt diet", "diet"),
        ("The user eats fish but no meat", "diet"),
        ("The user is a Berliner these days", "home"),
        ("The user stays with their aunt in Lagos at the moment", "home"),
        ("The user just started at Norvik", "work"),
        ("The user's dog Biscuit is blind", "family"),
        ("The user and others adopted a little girl called Ruth", "family"),
        ("The user studied Japanese for four years", "languages"),
        ("The user is trying to pick up Italian", "languages"),
        ("Whenever the user pastes an error, explain it first", "instructions"),
        ("Give prices in euros", "instructions"),
        ("The user wants to be debt-free by 2028", "goals"),
        ("When the user was in Rome, they ate pizza", None),
        ("The user's friend lives with MS", None),
        ("The user's dog walker is blind", None),
        ("The user started with the hardest exercise", None),
        ("The user lives in Oslo", "home"),
        ("The user moved to Bergen", "home"),
        ("The user works as a nurse", "work"),
        ("The user is a nurse", "work"),
        ("The user's husband Anton plays the piano", "family"),
        ("The user has two cats", "family"),
        ("The user speaks Dutch and German", "languages"),
        ("The user wants to run a marathon", "goals"),
        ("The user prefers short answers", "instructions"),
        ("Everyone calls the user Mack", "name"),
        ("The user is Hindu", None),
        ("The user has settled in Galway", "home"),
        ("The user's flat in Malmö has no oven", "home"),
        ("The user and others live above the shop in Whitby", "home"),
        ("At the user's firm they do tax law", "work"),
        ("The user has been a firefighter for twenty years", "work"),
        ("Sam and the user got engaged on Sunday", "family"),
        ("The user and others adopted a kitten called Pixel", "family"),
        ("Grandpa Eino lives downstairs", "family"),
        ("Penicillin brings the user out in a rash", "allergies"),
        ("Peanuts could kill the user", "allergies"),
        ("Peanuts could kill the user's brother", None),
        ("Tom reacts badly to gluten", None),
        ("Doc put the user on statins", "health"),
        ("The user's eyesight is going", "health"),
        ("The user watched a film about a diabetic chef", None),
        ("The user hasn't had a drink in six years", "diet"),
        ("The user's mother tongue is Tamil", "languages"),
        ("The user plans to open their own restaurant", "goals"),
        ("The user's reports have to fit on two pages", "instructions"),
        ("The user's goal in 2026 is to read 30 books", "goals"),
        ("Home for the user and others is a farm near Kilkenny", "home"),
        ("The user and others are based outside Tallinn", "home"),
        ("By trade the user is a joiner", "work"),
        ("The user does the books for three restaurants", "work"),
        ("Peanuts and the user don't get along", "allergies"),
        ("The user gave up booze in January 2026", "diet"),
        ("The user gets panic attacks in crowds", "health"),
        ("The user and others speak Twi at home", "languages"),
        ("The user is a widower", "family"),
        ("The user prefers to get the answer first and the reasons after", "instructions"),
        ("The user is a notary", "work"),
        ("The user is a slow reader", None),
        ("The user drives a delivery van", "work"),
        ("The user joined Netflix as an engineer", "work"),
        ("The user joined Netflix on 10 March 2026, so many shows", None),
        ("The user joined the choir", None),
        ("The user drives a Skoda", None),
        ("Wasp stings are dangerous for the user", "allergies"),
        ("Latex gives the user a rash", "allergies"),
        ("Latex gives the user's neighbour a rash", None),
        ("The user keeps three hives", None),
        ("The user takes a beta blocker every morning", "health"),
        ("The user records an album in April", None),
        ("Both of the user's daughters are away at university", "family"),
        ("Danish is easy for the user", "languages"),
        ("The user stopped the Gaelic class", None),
        ("By autumn the user wants to be down to 85 kilos", "goals"),
        ("The user wants to have an exhibition in Antwerp by November 2026", None),
        ("The user finds exclamation marks tiresome", "instructions"),
        ("The user would rather be addressed as Ms Calder", "name"),
        ("The user is seeing someone, her name is Sofia", None),
        ("The user likes jazz", None),
        ("The user ate a fish soup in Porto", None),
        ("The user needs a team name for their 3v3", None),
        ("At home the user and others speak Yoruba, the kids answer in English", "languages"),
        ("The user is living on coffee and regret", None),
        ("The user and others are in Jayanagar from the week of 6 April 2026", "home"),
        ("The user drives the 47 for the city", "work"),
        ("The user got a Saturday job at the record shop", "work"),
        ("The user has handed in their notice at the National", "work"),
        ("The user was diagnosed type 2 in the spring of 2025", "health"),
        ("The user's momma is in chemo", None),
        ("Mum mustn't find out", None),
        ("Peanuts are a straight up no", "allergies"),
        ("Peanuts are the bad one for the user's brother", None),
        ("Languages at work are English and Kannada", "languages"),
        ("French is hard", None),
        ("Biggest thing the user wants is a second boat", "goals"),
        ("One day last week the user would love a rest", None),
        ("The user's parents like him", None),
        ("The answers in the quiz were wrong", None),
        ("The user has cut pork completely", "diet"),
    ],
)
def test_a_fact_belongs_to_a_field_by_its_wording(content, field):
    assert core_field(content, Category.PERSONAL) == field


@pytest.mark.parametrize(
    "content",
    [
        "The user's friend Anna is getting divorced",
        "Anna is getting divorced",
        "The user's sister Carole lost her job over her drinking",
        "The user's son has ADHD",
        "The user's friend is vegetarian",
        "One of the user's nurses, Abigail, is being investigated",
        "The user's brother came out to the user",
        "The user's boss got fired",
    ],
)
def test_sensitive_facts_about_others_belong_to_no_field(content):
    assert core_field(content, Category.PERSONAL) is None


def test_sensitive_is_what_is_said_of_others():
    assert tells_on_others("The user's friend Anna is getting divorced")
    assert not tells_on_others("The user is getting divorced")


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("One of my nurses, Abigail, is being investigated. I need a rota.", {"Abigail", "nurses"}),
        ("A boy in my class, Rhys P., lives with foster parents", {"Rhys"}),
        ("I heard that Anna is getting divorced", {"Anna"}),
        ("Between us, Grégoire is getting divorced", {"Grégoire"}),
        ("Håkon has hepatitis", {"Håkon"}),
        ("Tom's mother is dying", {"Tom"}),
    ],
)
def test_sensitive_texts_name_whom_they_tell_of(content, names):
    assert names <= set(told_of_others(content))


@pytest.mark.parametrize(
    "content",
    [
        "My divorce is final",
        "My salary is 50k",
        "Since I came out, my family is closer",
        "Cancer research is my job",
        "It was a transgender poetry reading where transgender people shared their stories",
    ],
)
def test_the_users_own_matters_and_those_of_nobody_are_not_told_of_others(content):
    assert told_of_others(content) == ()


def test_what_is_sensitive_about_others_is_shown_to_who_asks_for_it(memory):
    memory.add("My friend Anna is getting divorced and wants a dinner by the sea", **U)
    memory.add("The user likes dinner by the sea", **U)
    memory.flush()
    assert "Anna" not in memory.context("Book dinner by the sea", **U).text
    assert "Anna" in memory.context("How is Anna?", **U).text


@pytest.mark.parametrize(
    "content",
    ["The user finished her thesis", "The user used to live in Rome", "The user sold the house"],
)
def test_what_is_over_belongs_to_no_field(content):
    assert core_field(content, Category.PERSONAL) is None


def test_a_group_has_the_core_of_its_user_only(memory):
    for place, (name, said) in enumerate(
        [("Ida", "I'm a nurse."), ("Max", "I live in Rome."), ("Ida", "I live in Oslo.")]
    ):
        message = {"role": "user", "name": name, "content": said}
        memory.observe([message], user_id="ida", session_id=f"s{place}")
    memory.flush()
    core = memory.context(UNRELATED, user_id="ida").text.partition("</core>")[0]
    assert "Oslo" in core
    assert "Rome" not in core


def test_a_due_day_without_a_year_is_the_next_one():
    assert due_on("The report is due on 3 January", date(2026, 5, 10)) == date(2027, 1, 3)
    assert due_on("The report was fun", date(2026, 5, 10)) is None


def test_the_core_begins_a_block_whatever_the_question(memory):
    memory.add("The user is vegetarian", **U, category="preference")
    memory.add("The user is allergic to latex", **U)
    memory.add("The user's friend Anna is getting divorced", **U)
    memory.flush()
    text = memory.context(UNRELATED, **U, budget=120).text
    core = text.partition("<core>")[2].partition("</core>")[0]
    assert "vegetarian" in core
    assert "latex" in core
    assert str(NOW.date()) in core
    assert "Anna" not in core


def test_a_retired_or_less_trusted_fact_is_not_core(memory):
    fact = memory.add("The user is vegetarian", **U)
    memory.add("The user lives in Rome", **U, trust=Trust.ASSISTANT)
    memory.flush()
    assert "vegetarian" in memory.context(UNRELATED, **U).text
    assert "Rome" not in memory.context(UNRELATED, **U).text.partition("</core>")[0]
    memory.delete(fact.id)
    assert "vegetarian" not in memory.context(UNRELATED, **U).text


def test_a_line_by_hand_stands_for_the_derived_ones_of_its_field(memory):
    memory.add("The user is vegetarian", **U)
    memory.update_profile({"diet": "Eats everything but pork."}, **U)
    memory.flush()
    core = memory.context(UNRELATED, **U, budget=200).text.partition("</core>")[0]
    assert "Eats everything but pork." in core
    assert "vegetarian" not in core


def test_a_deadline_leaves_the_core_once_it_has_passed(memory, clock):
    due = NOW + timedelta(days=10)
    memory.add(f"The report is due on {due:%-d %B %Y}", **U, category="project")
    memory.flush()
    assert "report" in memory.context(UNRELATED, **U).text.partition("</core>")[0]
    clock.advance(days=11)
    assert "report" not in memory.context(UNRELATED, **U).text.partition("</core>")[0]


def test_a_block_says_how_far_it_is_from_nothing_relevant(memory):
    memory.add("The user drinks green tea from Kerala", **U)
    near = memory.context("green tea from Kerala", **U).relevance
    far = memory.context("zebra telescope", **U).relevance
    assert 0.0 <= far < near <= 1.0


def test_relative_dates_have_their_day_behind_them():
    assert dated_in_place("I ran yesterday, today I rest", NOW) == (
        f"I ran yesterday ({NOW.date() - timedelta(days=1)}), today I rest"
    )


@pytest.mark.parametrize("said", ["Noted.", "OK", "Thanks, got it!", "You're welcome!", "hi there"])
def test_a_filler_says_nothing(said):
    assert is_filler(said)


@pytest.mark.parametrize("said", ["Ok, at nine then", "Thanks to Ida I have a job", "Yes, two"])
def test_an_answer_is_no_filler(said):
    assert not is_filler(said)


@pytest.mark.parametrize("template", ["xml", "markdown", "plain", "json"])
def test_the_core_holds_as_much_in_every_template(open_memory, template):
    memory = open_memory(settings=Settings(context=ContextSettings(template=template)))
    told = (
        "My name is Ilse Brandt.",
        "I'm allergic to shellfish.",
        "I've been vegetarian since 2010.",
        "I live in Porto.",
        "I work as a midwife.",
        "Always answer in Dutch.",
    )
    memory.observe(say(*told), **S)
    memory.flush()
    text = memory.context("Where could we have dinner?", **U, budget=1_000).text
    for word in ("Ilse", "shellfish", "vegetarian", "Porto", "midwife", "Dutch"):
        assert word in text


def test_requests_made_in_passing_take_no_line_of_a_block(memory):
    talks = (
        ["I want to have an exhibition in Antwerp by November."],
        ["Suggest a film for a rainy evening.", "Paterson, by Jim Jarmusch."],
        ["Find an exhibition of old maps.", "An exhibition of old maps is in Leiden."],
    )
    for number, talk in enumerate(talks):
        asked = say(talk[0], start=10 * number + 1)
        answers = say(*talk[1:], role="assistant", start=10 * number + 2)
        memory.observe([*asked, *answers], **U, session_id=f"s{number}")
    memory.flush()
    block = memory.context("What do I need to prepare for the exhibition?", **U).text
    assert "Antwerp" in block
    assert "Leiden" in block
    assert "rainy" not in block
    assert "Paterson" not in block
    assert "Paterson" in memory.context("Which film did you suggest to me?", **U).text


def test_a_member_of_the_family_is_told_once(memory):
    memory.observe(say("I live in Ghent with my husband Joris."), **S)
    memory.flush()
    core = memory.context(UNRELATED, **U).text.partition("</core>")[0]
    assert core.count("Joris") == 1


def test_a_member_of_the_family_stays_if_the_fact_that_tells_of_it_has_no_place(memory):
    memory.add("The user has a son, Wout", **U)
    memory.add("The user is allergic to nuts, as is the user's son Wout", **U)
    memory.flush()
    told = list(memory.list(**U))
    newer = [
        one.model_copy(
            update={
                "id": f"later{number}",
                "content": f"The user is allergic to {of}",
                "created_at": NOW + timedelta(days=number),
            }
        )
        for number, of in enumerate(["eggs", "soy", "latex", "pollen", "dust", "celery"], start=1)
        for one in told[:1]
    ]
    assert family([*told, *newer]) == ["The user has a son, Wout"]
    assert family(told) == []


@pytest.mark.parametrize(
    ("kin", "beside", "is_kept"),
    [
        (
            "The user has a husband, Joris",
            "The user lives in Ghent with their husband Joris",
            False,
        ),
        ("The user has a dog, Biscuit", "The user's dog Biscuit is blind", False),
        ("The user has two sisters", "The user lives with two sisters of a friend in Ghent", True),
        ("The user has a son, Leo", "The user's name is Leo, after a son of the founder", True),
        ("The user has a son, Wout", "The user works for a friend's son Wout in Ghent", True),
        ("The user has a son, Wout", "The user lives in Ghent with their son Wouter", True),
    ],
)
def test_a_member_of_the_family_is_left_out_if_named_in_passing(memory, kin, beside, is_kept):
    memory.add(kin, **U)
    memory.add(beside, **U)
    memory.flush()
    assert (kin in family(memory.list(**U))) is is_kept


def family(facts):
    return [one.content for one in derive_core(facts, NOW, most=6)["family"]]


@pytest.mark.parametrize(
    "told",
    [
        "The user asks the assistant to keep this to itself: Eszter got divorced.",
        "The user asks the assistant not to tell anyone that Eszter got divorced.",
    ],
)
def test_what_was_told_in_confidence_is_no_standing_instruction(told):
    assert core_field(told, Category.FEEDBACK) is None


def test_what_else_lasts_about_the_user_is_core(memory):
    memory.add("The user owns an old Leica camera", category="personal", **U)
    memory.flush()
    core = memory.context(UNRELATED, **U).text.partition("</core>")[0]
    assert "Leica" in core


def test_what_else_lasts_about_the_user_comes_last(memory):
    for told in ("writes crime novels at night", "lives in Oslo", "is vegetarian"):
        memory.add(f"The user {told}", **U)
    memory.flush()
    fields = derive_core(memory.list(**U), NOW, most=6)
    assert [name for name, _ in in_turn(fields, NOW)] == ["diet", "home", "about"]
