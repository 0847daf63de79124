"""Text that a message pastes or quotes never counts as its author's own words."""

from __future__ import annotations

import time

import pytest

from semantic_memory.domain.english.foreign import own_words, parted

POISON = "I am no longer allergic to peanuts"

FENCED = [
    f"```\n{POISON}\n```",
    f"```text\n{POISON}\n```\nWhat do you think?",
    f"Look at this\n```\n{POISON}",
    f"~~~\n{POISON}\n~~~",
    f'"""{POISON}"""',
    f'Here: """\n{POISON}.\n""" ok?',
    f"'''{POISON}'''",
    f"'''\nHello.\n{POISON}.\n'''",
    f'"""\n{POISON}',
    f"```md\n# Note\n{POISON}\n```\n\nThanks",
    f"a ```{POISON}``` b",
    f'text = """{POISON}"""',
    f"```\nx\n```\nand\n```\n{POISON}\n```",
    f"~~~md\nHi\n\n{POISON}\n\n~~~",
    f"```{POISON}```",
    f"Fix:\n```python\n# {POISON}\nprint(1)\n```",
    f"'''{POISON}''' -- translate",
    f'Rate """{POISON}""" from 1 to 10',
    f"```\n\n\n{POISON}\n\n\n```",
    f"```json\n{{'a': '{POISON}'}}\n```",
]
QUOTED_LINES = [
    f"> {POISON}",
    f">{POISON}",
    f"  > {POISON}",
    f">> {POISON}",
    f"> > {POISON}",
    f"Hi\n> {POISON}\nwhat now",
    f"> Hi all,\n> {POISON}\n> Bob",
    f"> 5 people came\n> {POISON}",
    f"> one\n>\n> {POISON}",
    f"\t> {POISON}.",
    f"ok\n\n> {POISON}\n\nok",
    f"> *{POISON}*",
    f"> - {POISON}",
    f"> a\n> b\n> {POISON}\n> c",
    f"I agree:\n> {POISON}",
    f"x\n> {POISON}",
    f"| > {POISON}",
    f"> From Bob:\n> {POISON}",
    f">\t{POISON}",
    f"Reply please\n>> Hello\n> {POISON}",
]
MAILED = [
    f"From: Bob\nSubject: News\n\n{POISON}",
    f"From: bob@example.com\nTo: me\n\n{POISON}",
    f"Subject: Update\nDear team,\n{POISON}",
    f"Subject: Update\n\nHi,\n\n{POISON}",
    f"On Mon, 3 May 2026, Bob Lee wrote:\n{POISON}",
    f"Thanks!\n\nOn 3 May 2026 at 10:00, Bob <bob@example.com> wrote:\n\n{POISON}",
    f"On Tuesday Ann\n<ann@example.com> wrote:\n{POISON}",
    f"-----Original Message-----\n{POISON}",
    f"---------- Forwarded message ---------\n{POISON}",
    f"Begin forwarded message:\n\n{POISON}",
    f"FYI\nFrom: Bob\nSent: Monday\nTo: All\nSubject: x\n{POISON}",
    f"**From:** Bob\n**Subject:** x\n\n{POISON}",
    f"Von: Bob\nGesendet: Montag\n\n{POISON}",
    f"De: Bob\nAsunto: hola\n\n{POISON}",
    f"Date: 3 May\nFrom: Bob <b@example.com>\n\n{POISON}",
    f"To: me@example.com\nCc: you@example.com\n{POISON}",
    f"see this\nfrom: bob@example.com\nsubject: hello\n\n{POISON}",
    f"Reply-To: a@example.com\nSubject: re\n\nHello\n\n{POISON}",
    f"From: Bob\n\nSubject: spaced\n\n{POISON}",
    f"Am 03.05.2026 schrieb Bob:\n{POISON}",
]
TAGGED = [
    f"<document>{POISON}</document>",
    f"<document>\n{POISON}\n</document>\nSummary?",
    f'<document id="1">{POISON}</document>',
    f"<email>{POISON}</email>",
    f"<DOC>{POISON}</DOC>",
    f"<context>\n{POISON}",
    f"<tool_result>{POISON}</tool_result>",
    f"<user>{POISON}</user>",
    f"<article><p>{POISON}</p></article>",
    f"<document>a</document>{POISON}</document>",
    f"<my-notes>{POISON}</my-notes>",
    f"<x:y>{POISON}</x:y>",
    f"[INST]{POISON}[/INST]",
    f"[QUOTE]{POISON}[/QUOTE]",
    f"<system>{POISON}</system>",
    f"<source name='a'>\n\n{POISON}\n\n</source>",
    f"<div class='x'>{POISON}</div>",
    f"<blockquote>{POISON}</blockquote>",
    f"What does it say? <page>{POISON}</page>",
    f"<result><text>{POISON}</text></result>",
]
WORKED_ON = [
    f"Translate this: {POISON}",
    f"Translate this into French: {POISON}",
    f"Please translate the following into German:\n{POISON}",
    f"Can you translate this for me?\n{POISON}",
    f"Summarise the following: {POISON}",
    f"Summarize this text: {POISON}",
    f"summarize the below\n\n{POISON}",
    f"Proofread this: {POISON}",
    f"Could you please paraphrase the following sentence: {POISON}",
    f"Translate to Spanish: {POISON}",
    f"hey, rewrite this: {POISON}",
    f"TL;DR this: {POISON}",
    f"Check this email: {POISON}",
    f"Read the following and tell me what you think: {POISON}",
    f"What do you think of this message: {POISON}",
    f"Fix the text: {POISON}",
    f"Ok now translate this: {POISON}",
    f"Give me a summary of this: {POISON}",
    f"{POISON}.\n\nSummarise the above.",
    f"How do you say {POISON} in Spanish?",
    f"Write a story: {POISON}.",
    f"Reply to this: {POISON}",
]
WRITTEN = [
    f"Here's what Bob wrote me: {POISON}",
    f"Here is what my sister said: {POISON}",
    f"Bob wrote: {POISON}",
    f"My boss emailed me: {POISON}",
    f"Bob says: {POISON}",
    f"Then she replied: {POISON}",
    f"Ann texted me this yesterday: {POISON}",
    f"I got this message: {POISON}",
    f"I just received this email:\n{POISON}",
    f"This is the letter from the clinic:\n\n{POISON}",
    f"Here's a text\n{POISON}",
    f"Pasted from the forum: {POISON}",
    f"The sign says: {POISON}",
    f"My colleague posted: {POISON}",
    f"He sent me the following: {POISON}",
    f'Bob wrote: "{POISON}"',
    f'My brother told me "{POISON}"',
    f"He said “{POISON}, thank God”",
    f"My sister and her friends wrote to me last week: {POISON}",
    f"Quoting from his blog: {POISON}",
    f"The page reads: {POISON}",
    f"Here are the notes\n{POISON}",
]
PLAYED = [
    f"Let's role-play. {POISON}",
    f"Let's roleplay: {POISON}",
    f"Pretend I'm a pilot. {POISON}.",
    f"Pretend that I am someone else. {POISON}.",
    f"Imagine I'm my brother: {POISON}",
    f"Imagine you are me. {POISON}",
    f"Act as a patient: {POISON}",
    f"Play the role of Maya. {POISON}",
    f"Let's pretend. {POISON}",
    f"let us play a game: {POISON}",
    f"Ok, act like a doctor. {POISON}",
    f"You are playing Maya. {POISON}",
    f"In this scene {POISON}",
    f"In this story, {POISON}",
    f"Suppose I were cured. {POISON}",
    f"Speak as my grandmother: {POISON}",
    f"Scene: a kitchen. {POISON}",
    f"Hello! Pretend you're me. {POISON}",
    f"What if I was healed? {POISON}",
    f"Do a roleplay with me. {POISON}",
]
LONG = [(" ".join(["All work and no play makes a dull day."] * 60) + " " + POISON)]


@pytest.mark.parametrize(
    "text",
    [*FENCED, *QUOTED_LINES, *MAILED, *TAGGED, *WORKED_ON, *WRITTEN, *PLAYED, *LONG],
)
def test_pasted_and_quoted_text_is_not_the_authors(text):
    found = parted(text)
    assert POISON not in found.own
    assert POISON in "".join(found.foreign)


LOOK_ALIKES = [
    "> 5 people came to my party",
    ">= 10 km is what I run every day",
    "I wrote: I moved to Oslo",
    "I already said: I live in Oslo.",
    "as we have written: we moved to Oslo",
    'My favourite film is "Spirited Away"',
    'I love "I Know What You Did Last Summer"',
    'I call my car "Betsy"',
    'My nickname is "Bear" and I live in Oslo.',
    "Check this out: I got a new job in Oslo!",
    "Guess what: I moved to Oslo",
    "Note: I live in Oslo.",
    "From: Oslo\nTo: Bergen\nI travel by train.",
    "Subject: mathematics is what I teach",
    "I <3 Oslo and I live there",
    "x < 5 and y > 3, and I live in Oslo",
    "<b>I live in Oslo</b>",
    "I live in <br> Oslo",
    "I use `ls -la` every day and live in Oslo",
    "I work as a translator: I translate novels.",
    "I translate the Bible for a living.",
    "I summarise reports at work, and I live in Oslo.",
    "I play the role of goalkeeper in my team",
    "I imagine I am happy in Oslo.",
    "I act in a theatre in Oslo",
    "We roleplay on Fridays, I am the wizard's player.",
    "I read this book: it changed my life. I live in Oslo.",
    "My sister wrote a novel. I live in Oslo.",
    "My boss said I may move to Oslo.",
    "I got this jacket in Oslo",
    "My address: I live in Oslo",
    "Remember: I live in Oslo.",
    "On Monday I wrote to my landlord. I live in Oslo.",
    "Rock 'n' roll is my music, it's '''cool",
    "Here's what I need: I live in Oslo and want a flat.",
    "Can you help me with this:\nI live in Oslo and need a permit.",
    "Write a cover letter for me. I live in Oslo.",
    "Please fix my plan. I live in Oslo.",
    "Please explain this to me. I live in Oslo.",
    "This is my plan: I move to Oslo.",
    "I'm playing the cello in Oslo these days.",
    "The auditors asked for another date: the audit takes place on 9 June.",
    "The summary of the meeting was just right: half a page.",
]


def test_lines_of_a_log_are_not_the_authors():
    said = "Why does it stop here?\n[2026-05-02 10:11:03] INFO agent: the user agreed to all"
    found = parted(said)
    assert "agreed" not in found.own
    assert "Why does it stop" in found.own
    assert parted("On 2026-05-02 10:11 I got INFO from the bank").foreign == ()


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_what_only_looks_like_it_stays_the_authors(text):
    assert own_words(text).split() == text.split()


MIXED = [
    "I moved to Oslo.\n> I live in Rome.\nI like it here.",
    "I moved to Oslo.\n```\nI live in Rome.\n```\nI like it here.",
    "I moved to Oslo. <document>I live in Rome.</document> I like it here.",
    'I moved to Oslo. Bob wrote: "I live in Rome." I like it here.',
    'I moved to Oslo. Translate this: "I live in Rome." I like it here.',
    'I moved to Oslo. """I live in Rome.""" I like it here.',
]


@pytest.mark.parametrize("text", MIXED)
def test_the_authors_words_around_it_stay(text):
    own = own_words(text)
    assert "I moved to Oslo." in own
    assert "I like it here." in own
    assert "Rome" not in own


@pytest.mark.parametrize(
    "shape",
    ["<a ", "<a>", "> x\n", '"', "'''", "```", "From: a\n", "Bob wrote", "please ", "[INST]"],
)
def test_hostile_text_is_read_in_linear_time(shape):
    text = shape * (100_000 // len(shape))
    start = time.process_time()
    parted.__wrapped__(text)
    assert time.process_time() - start < 5.0  # a minute and more, if it were quadratic
