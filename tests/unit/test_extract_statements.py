"""Statements of work and of others, entries, orders, names and answers, as people type them."""

from datetime import UTC, datetime

import pytest

from ingest.extract.judge import judge_for
from ingest.extract.offline import OfflineExtractor
from ingest.gate import Gate
from semantic_memory import Category, Message
from semantic_memory.testing import HashEmbedder
from tests.conftest import say

SAID = datetime(2026, 1, 10, tzinfo=UTC)


def admitted(*contents, asked=None, name=None):
    before = [Message(role="assistant", content=asked, created_at=SAID)] if asked else []
    messages = [*before, *say(*contents, name=name, created_at=SAID)]
    return Gate().admit(OfflineExtractor().extract(messages).candidates, messages).admitted


def facts(*contents, asked=None, name=None):
    return [candidate.content for candidate in admitted(*contents, asked=asked, name=name)]


@pytest.mark.parametrize("said", ["I'm celiac.", "im celiac", "I am celiac.", "i am celiac"])
def test_however_it_is_typed_a_state_is_the_same_fact(said):
    assert facts(said) == ["The user is celiac."]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("ive been a vet for six yrs", "The user has been a vet for six years."),
        ("were on node 20 now", "The user and others are on node 20 now."),
        ("my dads a retired cop", "The user's dad is a retired cop."),
        ("done with sugar for good", "The user is done with sugar for good."),
        ("No dairy for me any more", "The user doesn't have dairy any more."),
        ("hes our new director, Bram Oosting", "Bram Oosting is the user's new director."),
        ("lost my job in March", "The user lost their job in March 2025."),
    ],
)
def test_hasty_spelling_is_made_regular(said, told):
    assert facts(said) == [told]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("what can I grow here (I'm in Oulu, by the way)?", ["The user is in Oulu."]),
        ("how do I ask (I mean politely) for a refund?", []),
        ("what does it cost (my guess is a lot) to fix?", []),
        ("living outside Siena, no car", ["The user is living outside Siena, no car."]),
        ("am working as nurse in Kochi", ["The user is working as nurse in Kochi."]),
        ("more of a tea person myself", ["The user is more of a tea person themselves."]),
        ("I much prefer rail to road", ["The user much prefers rail to road."]),
        ("um so i work in a bakery", ["The user works in a bakery."]),
        ("back in the day it was all fields", []),
    ],
)
def test_what_is_told_in_passing_is_kept_and_phrases_are_not(said, told):
    assert facts(said) == told


def test_a_reason_is_kept_apart_from_what_it_forbids():
    assert sorted(facts("I'm colour blind so don't suggest charts")) == [
        "The user asks the assistant not to suggest charts.",
        "The user is colour blind.",
    ]


@pytest.mark.parametrize(
    ("said", "category"),
    [
        ("The gateway listens on 9443.", Category.TECHNICAL),
        ("Tariq owns billing.", Category.PROJECT),
        ("The rollout moved to spring.", Category.PROJECT),
        ("Noor can't eat gluten.", Category.PERSONAL),
        ("The crash came from a stale cache.", Category.FINDING),
        ("The board approved the merger with Oakline.", Category.DECISION),
        ("Our SLA is 99.95 percent uptime.", Category.TECHNICAL),
        ("I moved to Porto in 2019.", Category.PERSONAL),
        ("My manager is Helga.", Category.PERSONAL),
    ],
)
def test_people_and_definite_things_give_facts_of_their_category(said, category):
    (candidate,) = admitted(said)
    assert candidate.category is category


@pytest.mark.parametrize(
    "said",
    [
        "The sky is blue today.",
        "That meeting dragged on.",
        "The coffee machine is broken again.",
        "Traffic was terrible.",
        "The thing with the other team has been settled.",
        "roleplay: im a wizard called Zorblax and i hate elves",
        "In my dream I was married to a penguin.",
        "I basically live at the office.",
        'Please translate into French: "I am allergic to nuts."',
        "look at this log\n10:14:07 INFO gateway started on port 8080",
    ],
)
def test_the_world_play_and_texts_to_work_on_give_nothing(said):
    assert facts(said) == []


def test_entries_are_read_by_line_and_by_comma():
    assert facts("editor: helix\nos: Fedora 41") == [
        "The user's editor is helix.",
        "The user's os is Fedora 41.",
    ]
    assert facts("staging = eu-north-1, prod = eu-west-3") == [
        "Staging: eu-north-1.",
        "Prod: eu-west-3.",
    ]
    assert facts("fix the yaml\nreplicas: 4") == []


def test_a_list_about_oneself_gives_a_fact_for_each_part():
    assert facts("34, nurse, 2 kids, living in Cork") == [
        "The user is 34.",
        "The user is a nurse.",
        "The user has 2 kids.",
        "The user is living in Cork.",
    ]


def test_a_home_and_those_who_share_it_are_separate_facts():
    said = "I live in Hamburg with my husband Leo and our dog Pixel, I'm vegetarian"
    assert facts(said) == [
        "The user lives in Hamburg.",
        "The user lives with their husband Leo and their dog Pixel.",
        "The user is vegetarian.",
        "The user has a husband, Leo.",
        "The user has a dog, Pixel.",
    ]


@pytest.mark.parametrize(
    ("said", "order"),
    [
        ("Use nox for the tests", "to use nox for the tests"),
        ("tabs, not spaces", "to use tabs, not spaces"),
        ("Leave out the small talk", "to leave out the small talk"),
        ("no emojis pls", "to use no emojis"),
        ("Please answer in Spanish", "to answer in Spanish"),
        ("Quote distances in km", "to quote distances in km"),
        ("Give prices in Swiss francs", "to give prices in Swiss francs"),
        ("run ruff before u hand me anything", "to run ruff before it hands the user anything"),
        ("If the tests pass, keep the branch", "to keep the branch if the tests pass"),
    ],
)
def test_standing_instructions_are_feedback(said, order):
    (candidate,) = admitted(said)
    assert candidate.content == f"The user asks the assistant {order}."
    assert candidate.category is Category.FEEDBACK


@pytest.mark.parametrize(
    "said",
    [
        "use the second version",
        "make it shorter",
        "Recommend three films for a rainy evening.",
        "tell me a joke about penguins",
        "Keep up the good work!",
        "no worries",
    ],
)
def test_requests_for_now_are_no_facts(said):
    assert facts(said) == []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("You can call me Theo", "The user wants to be called Theo."),
        ("ppl call me Lou, not Louise", "People call the user Lou, not Louise."),
        ("its Catriona with a C, not a K", "The user's name is Catriona with a C, not a K."),
        ("Hi, this is Tobias.", "The user's name is Tobias."),
    ],
)
def test_names_are_known(said, told):
    assert facts(said) == [told]


@pytest.mark.parametrize(
    ("question", "reply", "told"),
    [
        ("Do you drive?", "Only automatics.", "The user drives only automatics."),
        ("Do you smoke?", "Not since 2019.", "The user doesn't smoke, not since 2019."),
        ("Any allergies I should know about?", "yeah peanuts", "The user's allergies: peanuts."),
        ("Who approves expenses?", "Gerrit does.", "Gerrit approves expenses."),
        ("Is the cluster in Oslo or in Rome?", "Rome.", "The cluster is in Rome."),
        ("What's your dog called?", "Pixel", "The user's dog is called Pixel."),
        (
            "How old is your daughter?",
            "She turned twelve on Monday.",
            "The user's daughter turned twelve on Monday, 5 January 2026.",
        ),
    ],
)
def test_short_answers_are_understood_with_their_question(question, reply, told):
    assert facts(reply, asked=question) == [told]


@pytest.mark.parametrize(
    ("before", "said", "told"),
    [
        (
            "my brother Aurel is back",
            "he lives in Kyoto",
            "The user's brother Aurel lives in Kyoto.",
        ),
        ("I have a parrot", "its 30 yrs old", "The user's parrot is 30 years old."),
        (
            "The Magpie project has a new sponsor.",
            "The deadline is 12 June.",
            "The deadline of the Magpie project is 12 June 2026.",
        ),
    ],
)
def test_a_pronoun_is_resolved_from_the_message_before(before, said, told):
    assert facts(before, said)[-1] == told


def test_a_pronoun_for_two_people_is_not_resolved():
    assert facts("Priya met Jonah.", "he lives in Kyoto") == []


def test_code_commands_and_links_survive():
    assert facts("we build w/ `make -j8 release`") == [
        "The user and others build with `make -j8 release`."
    ]
    assert facts("logs live in /var/log/quill") == ["Logs live in /var/log/quill."]


def test_talk_of_the_moment_among_people_is_left_out():
    messages = [
        *say("I had so much fun!", "I moved to Porto in 2019.", name="Tom", created_at=SAID),
        *say("I love the vibe here.", start=3, name="Kim", created_at=SAID),
    ]
    found = OfflineExtractor().extract(messages).candidates
    assert [candidate.content for candidate in found] == ["Tom moved to Porto in 2019."]


@pytest.mark.parametrize(
    "said",
    ["I joined a travel club and", "Here's a photo I took", "I hate ones like that."],
)
def test_what_would_not_stand_alone_is_left_out(said):
    assert facts(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "I'm a huge fan.",  # of what?
        "Check out this pic I snapped last week in the hills",
        "I got back into it.",
        "I haven't bought the map for the newer game",
        "I really love the salty ones from the market",
        "Those same neighbours moved far away from my street",
        "I want to go back",
        "My trips to Peru.",
        "I need to talk to Kim about my plans in Porto",
        "The instructor praised my work",
    ],
)
def test_what_points_to_the_talk_among_people_is_left_out(said):
    messages = [
        *say("How was it?", name="Kim", created_at=SAID),
        *say(said, start=2, name="Tom", created_at=SAID),
    ]
    assert all_kept(messages) == []


def all_kept(messages):
    """Return what is extracted if the judge finds everything worth keeping."""
    extractor = OfflineExtractor(judge=lambda statements: [1.0] * len(statements))
    return [candidate.content for candidate in extractor.extract(messages).candidates]


def test_the_judge_decides_among_people_only():
    def none_of_them(statements):
        return [0.0] * len(statements)

    told = say("I moved to Porto in 2019.", name="Tom", created_at=SAID)
    answer = say("Nice!", start=2, name="Kim", created_at=SAID)
    assert OfflineExtractor(judge=none_of_them).extract([*told, *answer]).candidates == ()
    alone = say("I moved to Porto in 2019.", created_at=SAID)
    assert len(OfflineExtractor(judge=none_of_them).extract(alone).candidates) == 1


def test_another_embedder_leaves_the_judge_to_traits():
    said = ["I moved to Porto in 2019", "I had so much fun"]
    assert judge_for(HashEmbedder())(said) == judge_for(None)(said)


def test_a_subject_behind_when_is_not_cut_off():
    messages = [
        *say("How are you?", name="Kim", created_at=SAID),
        *say("When my friends and I met, I was 20.", start=2, name="Tom", created_at=SAID),
    ]
    assert all_kept(messages) == ["When Tom's friends and Tom met, Tom was 20."]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Deploy goes to us-east-1", "Deploy goes to us-east-1."),
        (
            "Format dates as YYYY-MM-DD",
            "The user asks the assistant to format dates as YYYY-MM-DD.",
        ),
        ("my moms turning 60 in june", "The user's mom is turning 60 in June 2026."),
        ("my name's spelled Jon without an h", "The user's name is spelled Jon without an h."),
        ("Name's Otto", "The user's name is Otto."),
    ],
)
def test_codes_and_names_keep_their_spelling(said, told):
    assert facts(said) == [told]


@pytest.mark.parametrize("said", ["I'm so tired", "I had a long day", "Speak to you soon!"])
def test_how_someone_is_at_the_moment_is_no_fact(said):
    assert facts(said) == []


def test_an_offer_of_the_moment_is_no_standing_wish():
    assert facts("yes please", asked="Shall I continue?") == []
    assert facts("yes please", asked="Shall I always answer in French?") == [
        "The user wants the assistant to always answer in French."
    ]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "Our budget is 5k and the deadline is the 9th of June",
            ["The user's budget is 5k.", "The deadline is 9 June 2026."],
        ),
        (
            "I'm 34, a nurse, and live in Leeds",
            ["The user is 34.", "The user is a nurse.", "The user lives in Leeds."],
        ),
        (
            "My wife teaches physics and plays the cello",
            ["The user's wife teaches physics.", "The user's wife plays the cello."],
        ),
        ("Ola does design, Petr does sales", ["Ola does design.", "Petr does sales."]),
        ("Ola does the frontend, Petr the backend", None),
        ("I think the sun is hot and the sea is cold", None),
    ],
)
def test_each_subject_and_each_predicate_is_a_fact_of_its_own(said, told):
    found = facts(said)
    if told is None:
        told = {
            "Ola": ["Ola does the frontend.", "Petr does the backend."],
            "I t": ["The user thinks the sun is hot and the sea is cold."],
        }[said[:3]]
    assert found == told


@pytest.mark.parametrize(
    ("asked", "said", "told"),
    [
        ("What should I call you?", "Jo", "The user wants to be called Jo."),
        ("Tabs or spaces?", "tabs", "The user prefers tabs."),
        ("Do you speak German?", "a bit", "The user speaks German, a bit."),
        ("Is the deadline still Friday?", "no, Monday", "The deadline is now Monday."),
        ("Is the budget still 20k?", "no", "The budget is no longer 20k."),
        (
            "Which database are you on?",
            "still MySQL 5.7 sadly",
            'Asked "Which database are you on?", the user answered "still MySQL 5.7 sadly".',
        ),
    ],
)
def test_a_short_answer_is_kept_with_what_was_asked(asked, said, told):
    assert facts(said, asked=asked) == [told]


@pytest.mark.parametrize(
    ("asked", "said"),
    [("Which file do you mean?", "the second"), ("Does that help?", "a bit"), ("Ready?", "yes")],
)
def test_an_answer_about_the_talk_itself_is_no_fact(asked, said):
    assert facts(said, asked=asked) == []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("The garden faces north", "The garden faces north."),
        ("The migration is blocked by legal", "The migration is blocked by legal."),
        ("There's a spare key under the blue pot", "There is a spare key under the blue pot."),
        ("cant swim, never learned", "The user can't swim, never learned."),
        ("its my birthday on the 14th", "The user's birthday is on 14 January 2026."),
        ("Physio every Tuesday for my knee", "The user has physio every Tuesday for their knee."),
        ("started therapy last month", "The user started therapy in December 2025."),
        (
            "Citations always in Chicago style",
            "The user asks the assistant to write citations always in Chicago style.",
        ),
        ("It's Karin, not Karen", "The name is Karin, not Karen."),
        (
            "The results are announced in the week of 18 May",
            "The results are announced in the week of 18 May 2026.",
        ),
    ],
)
def test_statements_are_read_by_their_form(said, told):
    assert facts(said) == [told]


@pytest.mark.parametrize(
    "said",
    [
        "Message number 3",
        "Message number 30",
        "The answer is wrong",
        "The first paragraph reads a bit stiff",
        "Broccoli is healthy",
        "If I lived in Rome I'd eat gelato daily",
        "There's a bug in the second function",
        "Apparently Mercury is in retrograde",
        "Translate: I live in Paris",
    ],
)
def test_talk_of_the_moment_gives_nothing(said):
    assert facts(said) == []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I hired a girl, Bea, for Sundays", ["The user hired a girl, Bea, for Sundays."]),
        (
            "a friend gave me a puppy, I call him Olli",
            ["A friend gave the user a puppy, the user calls him Olli."],
        ),
        (
            "I'm in Graz now, in the Geidorf district, three rooms with a garden",
            ["The user is in Graz now, in the Geidorf district, three rooms with a garden."],
        ),
        (
            "I eat too much bread, like five slices a day",
            ["The user eats too much bread, like five slices a day."],
        ),
        (
            "Our flat is an old one in Brno, and the heating hums",
            ["The user's flat is an old one in Brno, and the heating hums."],
        ),
        (
            "my phone died, got a Pixel 9 instead",
            ["The user's phone died, got a Pixel 9 instead."],
        ),
        (
            "my blood sugar is 131, pre-diabetic",
            ["The user's blood sugar is 131, pre-diabetic."],
        ),
        ("I am a coeliac, diagnosed in 2011", ["The user is a coeliac, diagnosed in 2011."]),
        ("chose my options: art, music", ["The user chose their options: art, music."]),
    ],
)
def test_parts_of_a_sentence_get_no_subject_that_they_may_not_have(said, told):
    assert facts(said) == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Ines's outgrown the milk allergy", "Ines has outgrown the milk allergy."),
        ("Nele's started fencing", "Nele has started fencing."),
        ("Tomek's been moved to Gdansk", "Tomek has been moved to Gdansk."),
        ("Pavel's doing my garden on Fridays", "Pavel is doing the user's garden on Fridays."),
    ],
)
def test_a_short_s_is_has_or_is_by_what_follows(said, told):
    assert facts(said) == [told]


def test_what_someone_does_with_a_named_one_is_told_of_both():
    (told,) = facts("Marek is ill so Selin and I share the rota")
    assert told == "Marek is ill so Selin and the user share the rota."


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("ditched Jira for plain issues", "The user ditched Jira for plain issues."),
        ("saved 9k for the van", "The user saved 9k for the van."),
        ("playing drums in a band", "The user is playing drums in a band."),
        ("they put my dose up to 40", "They put the user's dose up to 40."),
        ("they've cut my hours to 20", "They've cut the user's hours to 20."),
        ("the cargo bike got stolen", "The cargo bike got stolen."),
        ("Zed it is", "The user is going with Zed."),
        ("now on bisoprolol 5", "The user is now on bisoprolol 5."),
        ("now it's losartan 50 mg", "The user is now on losartan 50 mg."),
        ("Signed up for a choir, Mondays 10 am", "The user signed up for a choir, Mondays 10 am."),
        (
            "Torn meniscus, on the list for an op",
            "The user has torn meniscus, on the list for an op.",
        ),
        (
            "im nut allergic and have an inhaler",
            "The user is nut allergic and has an inhaler.",
        ),
    ],
)
def test_what_is_said_without_its_speaker_is_kept(said, told):
    assert facts(said) == [told]


@pytest.mark.parametrize("said", ["Can pneumonia come back?", "find me a coeliac friendly cafe"])
def test_a_word_of_health_makes_no_fact_of_a_request(said):
    assert facts(said) == []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "Jonas has chess on Fridays, so I can't call on Friday afternoons",
            "The user can't call on Friday afternoons.",
        ),
        ("I moved the closing day to Monday", "The user moved the closing day to Monday."),
        (
            "I have asthma, diagnosed in November",
            "The user has asthma, diagnosed in November 2025.",
        ),
        (
            "Had a letter, eye screening on 2 June",
            "The user had a letter, eye screening on 2 June 2026.",
        ),
    ],
)
def test_a_habit_has_no_date_and_a_date_its_own_year(said, told):
    assert told in facts(said)


@pytest.mark.parametrize(
    "said", [["Ana got divorced. don't tell anyone"], ["Ana got divorced.", "keep it between us"]]
)
def test_a_secret_names_what_is_to_be_kept(said):
    assert "The user asks the assistant to keep this to itself: Ana got divorced." in facts(*said)


def test_a_secret_of_nothing_is_no_instruction():
    assert facts("keep it between us") == []
    assert facts("don't want to talk about it") == []


@pytest.mark.parametrize("said", ["Budget for Q3 is 80k", "sprint planning moved to Tuesdays"])
def test_a_statement_that_begins_like_an_order_is_admitted(said):
    assert len(facts(said)) == 1


@pytest.mark.parametrize(
    "said",
    [
        "my coffee is cold again",
        "I could really use a nap",
        "The birds are loud this morning.",
        "our printer hates me",
        "my wallet is on life support",
        "I'm allergic to Mondays",
        "My cat is the real project manager here.",
        "The hero of my novel is a deaf clockmaker from Prague.",
    ],
)
def test_jests_fiction_and_idle_talk_give_nothing(said):
    assert facts(said) == []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("my coffee machine is a Rancilio", "The user's coffee machine is a Rancilio."),
        ("my cat is diabetic", "The user's cat is diabetic."),
        ("I'm allergic to nickel", "The user is allergic to nickel."),
        ("I need a wheelchair", "The user needs a wheelchair."),
    ],
)
def test_what_only_looks_like_a_jest_is_kept(said, told):
    assert told in facts(said)


@pytest.mark.parametrize(
    ("before", "said", "told"),
    [
        (
            "my physio is Joanna",
            "I see her every other week",
            "The user sees their physio Joanna every other week.",
        ),
        (
            "We're in the middle of the Atlas migration",
            "Priya is running it",
            "Priya is running the Atlas migration.",
        ),
        (
            "The payroll job failed again",
            "it runs at 2am",
            "The payroll job runs at 2am.",
        ),
        (
            "I got a new phone",
            "the number is 555 0199",
            "The number of the user's new phone is 555 0199.",
        ),
        (
            "We're replacing the old CRM",
            "The new one is called Sable",
            "The new CRM is called Sable.",
        ),
        (
            "we moved the backups to Backblaze",
            "that saves 200 a month",
            "The user and others moved the backups to Backblaze, which saves 200 a month.",
        ),
    ],
)
def test_what_a_pronoun_stands_for_may_be_an_object_a_part_or_a_whole(before, said, told):
    assert facts(before, said)[-1] == told


def test_a_pronoun_that_stands_for_nothing_named_gives_no_fact():
    assert facts("Priya is running it") == []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "Height 182 cm, weight 79 kg",
            ["The user's height is 182 cm.", "The user's weight is 79 kg."],
        ),
        ("lang=rust ci=woodpecker", ["Lang: rust.", "Ci: woodpecker."]),
        ("db: postgres 16, queue: nats", ["Db: postgres 16.", "Queue: nats."]),
        ("| what | how |\n|---|---|\n| region | eu-west-2 |", ["Region: eu-west-2."]),
        ("locker no. 417", ["Locker no. 417."]),
        ("test user: qa-bot", ["Test user: qa-bot."]),
    ],
)
def test_entries_are_read_in_pairs_tables_and_without_marks(said, told):
    assert facts(said) == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "talk to Wiebke about anything to do with licences",
            "Wiebke is who to ask about anything to do with licences.",
        ),
        ("anything legal goes through Aurora", "Anything legal goes through Aurora."),
        (
            "if the fog is thick the ferry doesn't run",
            "If the fog is thick, the ferry doesn't run.",
        ),
        (
            "my therapist thinks I should stop working weekends",
            "The user's therapist thinks the user should stop working weekends.",
        ),
    ],
)
def test_duties_cases_and_advice_are_kept_as_they_were_put(said, told):
    assert facts(said) == [told]
