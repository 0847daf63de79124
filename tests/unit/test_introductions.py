"""Names, places and orders that are told in passing."""

from datetime import UTC, datetime

import pytest

from ingest.extract.naming import signed
from ingest.extract.offline import OfflineExtractor
from semantic_memory.domain.messages import Message
from semantic_memory.retrieval.question import read

SAID = datetime(2026, 3, 20, 9, tzinfo=UTC)


def facts(*said):
    messages = [
        Message(id=f"m{number}", role="user", content=text, created_at=SAID)
        for number, text in enumerate(said)
    ]
    return [one.content for one in OfflineExtractor().extract(messages).candidates]


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("I'm Imre and I write firmware.", "The user is Imre."),
        ("Hi, Imre Nagy, I maintain the parser.", "The user's name is Imre Nagy."),
        ("Ellen Maddox, GP in Inverness", "The user is Ellen Maddox."),
        ("Ellen Maddox, 42, GP in Inverness", "The user is a GP in Inverness."),
        ("hi! Priscilla here, first time using this", "The user's name is Priscilla."),
        ("Just so you know, it's Dr Halloran, not Mr.", "Dr Halloran, not Mr."),
        ("It's Tom from accounting. The invoice is late.", "The user's name is Tom."),
        ("Jo here, I run the bakery", "The user's name is Jo."),
        ("this is Dana (nurse)", "The user is a nurse."),
        ("its dez (short for desmond but pls dont)", "The user's name is Dez."),
        ("Hey, this is Mirela (she/her).", "The user's pronouns are she/her."),
        ("Quick one. Rakesh Menon, call me RK. I have ten minutes.", "wants to be called RK."),
        ("Howdy. Name's Beau, Beau Arno, and I run a boat.", "The user's name is Beau Arno."),
        ("The rota is wrong again.\n- Marek", "The user's name is Marek."),
        ("I need the rota by noon. Cheers, Jo", "The user's name is Jo."),
        ("please use they/them for me", "The user's pronouns are they/them."),
        ("Down here in Hobart it's autumn now.", "The user is here in Hobart."),
        ("My partner Olaf says I work too much.", "Olaf says the user works too much."),
        ("I work at McGregor's in Bath.", "The user works at McGregor's in Bath."),
        ("I have handed in essay two. The next one is due on 31 May.", "The next essay is due"),
        ("moved the go-live to 9 June, QA needs a week more", "to 9 June 2026."),
        ("The tenant split goes live on 2 June", "goes live on 2 June."),
        ("Recipes for four, please, and in grams.", "to give recipes for four, and in grams."),
        ("Use bullets in everything you draft for me.", "to use bullets in everything it drafts"),
        (
            "On night shifts I sleep until three. Don't suggest anything in that time.",
            "anything in that time: On night shifts the user sleeps until three.",
        ),
    ],
)
def test_what_is_told_in_passing_becomes_a_fact(said, fact):
    assert any(fact in one for one in facts(said)), facts(said)


@pytest.mark.parametrize(
    "said",
    [
        "do plants really grow better if you talk to them",
        "give me a oneliner to count lines in all py files",
        "Two tickets for Friday, please.",
        "Call me later",
        "Paris, I love it.",
    ],
)
def test_a_question_or_a_single_order_is_no_standing_one(said):
    assert not any("asks the assistant" in one or "name is" in one for one in facts(said))


@pytest.mark.parametrize(
    "said",
    [
        "Marta Voss, nurse at St Mary's, helped me yesterday",
        "Marta Voss, nurse in Leeds says no",
        "Marta Voss, nurse at St Mary's. She helped me yesterday.",
        "Marta Voss, doctor at 9",
        "Marta Voss, nurse on Friday",
        "Monday, doctor at 9",
        "Sunday, doctor at 9",
        "Friday, lawyer at noon",
        "Christmas, cook for ten",
        "Christmas Eve, cook for friends",
        "Paris, designer at Acme",
        "Los Angeles, actor in town",
        "Berlin, teacher",
        "Lisa, designer at Acme, is getting married",
        "It's Marta from the clinic again, she wants the keys",
        "Cheers, Jo",
        "Greetings from Lisbon",
        "From June I freelance",
        "Please answer this mail:\nDear Ms Falk,\nthe boiler is broken.\nBest regards,\nMarek",
        "Dear Anna,\nwe are late.\nLove,\nNan",
        "We need this:\n- Milk\n- Mango",
        "Kent was home. Love Whitstable",
    ],
)
def test_a_role_beside_another_name_or_a_day_is_not_the_users(said):
    told = facts(said)
    assert not any(one.startswith(("The user is", "The user's name", "The user h")) for one in told)


def test_a_name_beside_a_role_replaces_no_name_that_was_told(memory):
    for number, text in enumerate(["My name is Maya Lind.", "Marta Voss, nurse in Leeds"]):
        said = Message(id=f"m{number}", role="user", content=text, created_at=SAID)
        memory.observe([said], user_id="u1", session_id=f"s{number}")
        memory.flush()
    assert "The user's name is Maya Lind." in [one.content for one in memory.list(user_id="u1")]


@pytest.mark.parametrize(
    ("question", "number"),
    [
        ("Dinner tonight?", 0),
        ("Tonight I have guests, what do I serve?", 0),
        ("What goes with salmon this evening?", 0),
        ("Need a plan for this weekend", 0),
        ("What did I eat tonight?", 1),
        ("Who did I meet this weekend?", 1),
    ],
)
def test_a_time_to_come_is_no_window_on_memories(question, number):
    assert len(read(question, SAID).windows) == number


@pytest.mark.parametrize("gap", ["\n", "\n \n", "  ", "- a\n"])
def test_a_signature_is_looked_for_at_the_end_of_a_long_message_alone(gap):
    message = f"{gap * 5_000}See you.\nBest,\nPriya Nair\n"
    statement, rest = signed(message)
    assert statement in ("my name is Priya Nair", "")
    assert rest == (message if not statement else f"{gap * 5_000}See you.")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "based out of Tallinn, day job: ICU nurse",
            ["is based out of Tallinn", "is an ICU nurse"],
        ),
        ("tomek, truck driver, near Posen", ["is Tomek", "is a truck driver", "lives near Posen"]),
        ("Ilka. Employment lawyer, partner at Holm & Lie.", ["is a partner at Holm & Lie"]),
        ("2 kids, 4 and 7", ["has 2 kids, 4 and 7"]),
        ("wife Ola + twins (girls, 9)", ["has a wife, Ola", "has twins (girls, 9)"]),
        ("T2 diabetic so watch the sugar", ["is T2 diabetic"]),
        ("am deaf in one ear", ["is deaf in one ear"]),
        ("right knee is knackered, cant kneel for long", ["'s right knee", "can't kneel"]),
        ("No onion, no garlic. Not an allergy.", ["doesn't eat onion or garlic"]),
        ("they/them pls", ["'s pronouns are they/them"]),
        ("Native Russian, English ok", ["speaks native Russian, English ok"]),
        ("Welsh for letters, English for the rest", ["to use Welsh", "to use English"]),
        ("max 5 lines per answer", ["asks the assistant to keep to max 5 lines"]),
        ("don't touch alcohol anymore", ["doesn't touch alcohol"]),
        (
            "My son Ole is in Lyon, and my daughter Ida, 16, lives with me.",
            ["daughter Ida, 16, lives"],
        ),
    ],
)
def test_a_note_tells_of_its_writer(said, told):
    found = facts(said)
    assert [one for one in told if not any(one in fact for fact in found)] == [], found


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "Hola, I'm Inés, phd student in Lausanne, marine biology.",
            ["is Inés", "is a phd student in Lausanne, marine biology"],
        ),
        (
            "Tunde here, site manager @ Harlow, Leeds",
            ["'s name is Tunde", "is a site manager at Harlow", "is based in Leeds"],
        ),
        (
            "Hi there, I'm Sasha (they/them), a violinist in Vienna.",
            ["is Sasha", "'s pronouns are they/them", "is a violinist in Vienna"],
        ),
        (
            "I'm Dr. Amara Okafor, head of care at Larkhill, from Lagos",
            ["is Dr. Amara Okafor", "is the head of care at Larkhill", "is from Lagos"],
        ),
        (
            "I'm Grace, 45, a retired midwife living in Truro",
            ["is Grace", "is 45", "is a retired midwife", "is living in Truro"],
        ),
        (
            "I'm Rui, manager at Alba, and I live in Braga",
            ["is Rui", "is a manager at Alba", " lives in Braga"],
        ),
        (
            "i'm amina, bookkeeper, based in doncaster",
            ["is Amina", "is a bookkeeper", "is based in doncaster"],
        ),
    ],
)
def test_each_part_of_an_introduction_is_a_fact(said, told):
    found = facts(said)
    assert len(found) == len(told)
    assert all(fact.endswith(f"{one}.") for fact, one in zip(found, told, strict=True)), found


@pytest.mark.parametrize(
    "said",
    [
        "I'm Rob, student loan question",
        "I'm Liverpool, manager or no manager",
        "I'm Will, 5 minutes late",
    ],
)
def test_what_only_looks_like_an_introduction_stays_whole(said):
    assert facts(said) == [f"The user is {said[4:]}."]


def test_leaving_an_employer_retires_the_role_alone(memory):
    intro = "Hi, I'm Tunde, site manager at Harlow Construction, based in Leeds."
    for number, text in enumerate([intro, "I left Harlow Construction last week."]):
        said = Message(id=f"m{number}", role="user", content=text, created_at=SAID)
        memory.observe([said], user_id="u1", session_id=f"s{number}")
        memory.flush()
    believed = [one.content for one in memory.list(user_id="u1")]
    assert {"The user is Tunde.", "The user is based in Leeds."} <= {*believed}
    assert not any("site manager" in one for one in believed if one.startswith("The user is"))


def test_a_reason_and_the_order_that_follows_are_two_facts():
    assert facts("english isn't my first language so correct me when i write wrong pls") == [
        "The user asks the assistant to correct the user when the user writes wrong.",
        "English isn't the user's first language.",
    ]


def test_what_one_may_do_on_a_day_lies_ahead():
    assert facts("Keller said I can hand in 15 december instead") == [
        "Keller said the user can hand in 15 December 2026 instead."
    ]


@pytest.mark.parametrize(
    "said",
    [
        "asthma in children",
        "halal restaurants in Leeds",
        "milk, eggs, bread",
        "plumber in Leeds, near the station",
        "Not an allergy, just my stomach",
        "doctor, thanks",
    ],
)
def test_a_search_and_a_list_are_no_notes(said):
    assert facts(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "Olga, 38, nurse in Riga is my neighbour.",
        "Marta, vegan, from Lisbon is coming for dinner.",
        "A dog called Rex is lost in the park",
    ],
)
def test_what_a_verb_says_of_others_is_no_note(said):
    assert not any(fact.startswith(("The user is", "The user has")) for fact in facts(said))
