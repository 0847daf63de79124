"""Which statements end, replace or correct older ones, and which must not."""

from __future__ import annotations

import pytest

from semantic_memory.consolidation.renewal import renewal
from semantic_memory.consolidation.telling import told

RENEWED = [
    # corrections
    ("My invoice number is 214.", "Sorry, it's 241, not 214."),
    ("My tutor is Lena.", "I misspelled Lena, it's Leena."),
    ("The trip to Japan is in May.", "The trip to Japan is put off."),
    # figures that others set
    ("Our budget is 30k.", "The company's finance cut us to 20k."),
    ("Our budget is $30k.", "Finance gave us $20k."),
    ("My dentist appointment is on Monday.", "The dentist gave me a later slot, on Friday."),
    # endings
    ("My dog Bruno is a beagle.", "Bruno died in March."),
    ("I have a Netflix subscription.", "I cancelled Netflix last week."),
    ("The user plays chess on Tuesdays.", "I don't play chess any more."),
    ("We're flying to Malta in May.", "Malta's off, my back is out."),
    ("My girlfriend Petra is a nurse.", "Petra and I split up."),
    ("I smoke a pipe.", "I quit smoking, for good this time."),
    ("I'm gluten free.", "I don't have to be gluten free after all."),
    ("I drive an old Corolla.", "I sold the Corolla."),
    # another value
    ("Our landlord is Mr Ames.", "Mrs Boyd is our landlord now."),
    ("The rent is 900 euros.", "The rent went up to 950 euros."),
    ("The proxy listens on port 8081.", "The proxy listens on port 9091 now."),
    ("The kick-off is on Monday.", "We moved the kick-off to Thursday."),
    ("I live in Leeds.", "We moved to York in June."),
    ("I work for Shell.", "I work for BP now."),
    ("I'm vegetarian.", "I went vegan in January."),
    ("We have two cats.", "A third cat has moved in."),
    ("The user takes their iron pills at night.", "I moved my pills to the morning."),
    ("I take ibuprofen.", "I take paracetamol instead of ibuprofen."),
    ("I live in Berne.", "I'm in Basel now, not Berne."),
    ("I hate running.", "I love running now."),
    ("My tablet is an iPad.", "It's a Kindle, not an iPad."),
    # told by what happened
    ("I work at Halden.", "Handed in my badge at Halden today."),
    ("I work for Halden.", "My first payslip from Orsted came this week."),
    ("I work for Halden.", "halden and i parted ways"),
    ("I'm a deputy manager.", "My business card says manager these days."),
    ("I live in Leeds.", "Boxes everywhere, the new flat in York has a bath."),
    ("I live in Leeds.", "We closed on the house in York."),
    ("I'm divorced.", "I married Ines at the town hall."),
    ("I'm not seeing anyone.", "Pavel asked me to be his girlfriend."),
    ("I'm in a long distance relationship with Pavel.", "It fizzled out with Pavel."),
    ("I'm vegetarian.", "Meat is back on the menu."),
    ("I'm lactose intolerant.", "Dairy's no problem for me since the test."),
    ("I don't drink alcohol.", "I've started enjoying a glass of white with dinner again."),
    ("I have a broken ankle.", "The boot's off and I walked to the shop."),
    ("I have high blood pressure.", "My blood pressure is back to normal."),
    ("I'm on antibiotics.", "Finished the course this morning."),
    ("I take sertraline.", "I weaned myself off sertraline."),
    ("I have a hamster, Biscuit.", "Biscuit didn't wake up."),
    ("I have a rabbit called Fern.", "Fern lives with my niece these days. A poem for her?"),
    ("I drive a Golf.", "Part exchanged the Golf for a Fiat."),
    ("I have a Vespa.", "Somebody nicked my Vespa."),
    ("I smoke a pack a day.", "Forty days without a cigarette!"),
    ("I go to church on Sundays.", "I haven't been to church since my wedding."),
    ("I can't stand olives.", "Olives have grown on me."),
]
KEPT = [
    ("My rent is 900.", "Tom's landlord put him up to 1000."),
    ("Our budget is 30k.", "Their board cut them to 20k."),
    # corrections of something else
    ("My locker is number 12.", "Sorry, I said 12, the table is 21."),
    ("I have 12 hens.", "I said 12, it's 21."),
    ("I spend 200 on food.", "I paid 300 instead of 200 for the shoes."),
    ("My bike lock's code is 4482.", "My mistake, the alarm code is 4428."),
    ("The invoice number is 1234.", "My bad, the PIN is 4321."),
    ("My boss is Karen.", "I was wrong about Karen, Tom told me she is nice."),
    ("We use Postgres.", "I was wrong about Postgres, it does support MERGE."),
    ("My tutor is Lena.", "I wrote Lena about Oskar."),
    ("The trip to Japan is in May.", "The trip to Porto is put off."),
    ("The meeting with Ana is on 3 May.", "The meeting with Ben was put back."),
    # other people
    ("My dad lives in Bath.", "My mom moved to Wells."),
    ("My sister is allergic to nuts.", "My brother is no longer allergic to nuts."),
    ("The user drives a van.", "My neighbour sold her van."),
    ("My husband is vegan.", "I'm vegetarian now."),
    ("I live in Leeds.", "My parents live in York now."),
    ("We have a dog called Pip.", "Our neighbour's dog died yesterday."),
    ("My flight is on Friday.", "My brother's flight was cancelled."),
    ("I owe Tom 20 euros.", "Tom owes me 30 euros now."),
    ("My sister's baby is due in May.", "My sister's exam is due in June now."),
    # what isn't claimed
    ("I live in Leeds.", "If I moved to York, I'd miss the market."),
    ("I work for Shell.", "I might move to BP next year."),
    ("I live in Leeds.", "My aunt claims that I live in York now."),
    ("I'm a nurse.", "Let's play: I'm a pirate now."),
    ("I live in Leeds.", 'She said "I moved to York" and hung up.'),
    ("The user lives in Leeds.", "We're thinking of moving to York."),
    ("I have a goldfish.", "What do goldfish eat now?"),
    ("I have a gym membership.", "Can I get out of a gym membership?"),
    # another time, place or kind
    ("I live in Leeds.", "In my twenties I was based in York."),
    ("I live in Leeds.", "We spent a weekend in York."),
    ("The test queue keeps messages for a day.", "The live queue now keeps messages for a week."),
    ("The demo for sales is on Monday.", "The demo for support is on Tuesday now."),
    ("Our frontend lead is Ann.", "Our backend lead is Bob now."),
    ("I like tea in the morning.", "I like wine in the evening now."),
    ("I lived in Rome for a year.", "I moved to Oslo."),
    ("I work for Halden.", "My daughter's first payslip from Orsted came this week."),
    ("I have a broken ankle.", "My son's boot is off and he walks again."),
    ("I go to the gym.", "The gym is closed for Easter."),
    ("My dog Rex is a beagle.", "Rex ran off after a squirrel."),
    ("My boyfriend Pavel cooks.", "Pavel and I split the bill."),
    ("I'm lactose intolerant.", "Gluten is fine for my husband."),
    ("I have a sailing boat.", "In my twenties I sold boats."),
    ("I live in Leeds.", "Bought a holiday place in York."),
    ("I work for Halden.", "Write a poem: I joined Orsted."),
    # one more
    ("I like hiking.", "I also like sailing now."),
    ("I have a tabby called Moss.", "We now have another cat, Fern."),
    # only a shared word or name
    ("Maya left Google.", "Maya joined Microsoft."),
    ("I live near the school.", "I gave the old piano to the school."),
]


@pytest.mark.parametrize(("older", "newer"), RENEWED)
def test_a_newer_statement_ends_or_replaces_an_older_one(older, newer):
    assert renewal(older, newer) is not None


@pytest.mark.parametrize(("older", "newer"), KEPT)
def test_look_alikes_leave_the_older_statement(older, newer):
    assert renewal(older, newer) is None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("My dentist's name is Margit Sohn.", "Sorry, it's Margrit."),
        ("The key rotates every 30 days.", "90 days, sorry, 30 is for passwords."),
        ("My daughter turns six on the 12th of March.", "Sorry, I meant the 21st."),
    ],
)
def test_a_correction_counts_within_a_session_only(older, newer):
    assert renewal(older, newer, apart=1) is not None
    assert renewal(older, newer, apart=9) is None
    assert renewal(older, newer) is None


def test_a_single_shared_word_needs_similar_sentences():
    older, newer = "The night shift has four nurses.", "The shift key has come off now."
    assert renewal(older, newer, similarity=0.2) is None


def test_statements_without_a_cue_look_nothing_up():
    assert not told("I live in Leeds with two cats.").renews
    assert told("I live in Leeds now.").renews
