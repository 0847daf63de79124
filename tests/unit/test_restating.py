import pytest

from semantic_memory.consolidation.renewal import renewal


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I live in Bonn.", "Cologne is where I live now."),
        ("I study biology.", "chemistry is what i study now, which minor fits"),
        ("I train with Paul.", "nina is who i train with now. gift?"),
        ("Tuesday is my day off.", "friday's my day off now. day trips?"),
        ("The offsite is going to be in Prague.", "offsite will be in vienna instead, any tips?"),
        ("The data is stored in /srv/data.", "data lives under /mnt/vol1/data now"),
        ("I run 20 km a week.", "im up to 30 km a week, is that too fast"),
        ("We host on Heroku.", "too pricey so we host on fly now. dockerfile?"),
        ("Zoe chairs the committee.", "josh chairs the committee now. letter?"),
        ("My email is ana@example.com.", "My new address is ana@example.org. Signature?"),
        ("We're releasing on Tuesday.", "we're not releasing on tuesday, too many bugs."),
        ("We're going camping this weekend.", "no camping this weekend, storm warning."),
        ("We're going to rewrite the app in Kotlin.", "management killed the kotlin rewrite."),
        ("The sofa I want costs 1,100 euros.", "the sofa dropped to 899!! should i grab it"),
        ("My company has 40 employees.", "we just hit 55 employees! write a post"),
        ("We're meeting the client once a week.", "client meetings are twice a week now."),
        ("My landlord is Mr. Petrov.", "we have a new landlord. how do i write to him?"),
        ("Greta is in charge of hiring.", "Hiring's been handed to Ivan. job ad?"),
    ],
)
def test_another_value_in_the_same_form_ends_the_older_one(older, newer):
    assert renewal(older, newer) is not None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I study in Oxford.", "chemistry is what i study now"),
        ("My favourite bread is sourdough.", "rye is the bread i bake now"),
        ("We deploy on Fridays.", "hetzner is where we deploy now"),
        ("The office is in Berlin.", "the office is in chaos now"),
        ("We meet at the library.", "we meet at 8 now"),
        ("My brother runs 20 km a week.", "im up to 30 km a week"),
        ("I pay 45 dollars a month for my gym.", "i pay 60 a month for netflix now"),
        ("Anna is my friend.", "Bea is my friend now."),
        ("Our lawyer drafts the contracts.", "Our intern reads the contracts now."),
        ("I'm running the half in May.", "i'm not running today"),
        ("We're flying to Greece in August.", "we're not flying first class"),
        ("I play tennis on Mondays.", "There was no tennis this Monday because of the rain"),
        ("Milestone 2 is due in Q2.", "milestone 3 has been moved to q3. update the gantt"),
        ("My landlord is Mr. Petrov.", "my friend got a new landlord called Ames"),
        ("My work email is a@example.com.", "my private email is c@example.com now"),
    ],
)
def test_a_statement_on_something_else_ends_nothing(older, newer):
    assert renewal(older, newer) is None
