import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.recalled import extractable, strip_recalled, without_recalled
from semantic_memory.context.render import (
    Entry,
    block,
    load_template,
    place,
)
from semantic_memory.domain.markers import WROTE_MEMORY, writes_memory
from tests.conftest import make_fact, say

STORABLE = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
TEMPLATES = ("xml", "markdown", "plain", "json")


def rendered(*contents: str, template: str = "xml", left_out: int = 0) -> str:
    categories = itertools.cycle(["preference", "conversation", "technical"])
    facts = [
        make_fact(number, content=content, category=next(categories))
        for number, content in enumerate(contents)
    ]
    form = load_template(template)
    facts.sort(key=place)
    entries = [
        Entry(fact, form.shown(fact, topic=topic), "notes", topic)
        for topic, fact in enumerate(facts, start=1)
    ]
    return block(entries, left_out, form)


BLOCK = rendered("Maya likes tea", "1 < 2", "Uses Postgres", left_out=3)


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_template_is_known_again(template):
    whole = rendered("Maya likes tea", "1 < 2", "Uses Postgres", template=template, left_out=12)
    assert strip_recalled(whole) == ""
    assert strip_recalled(f"{whole}\n\n3 apples, please") == "3 apples, please"
    assert strip_recalled(f"Be kind.\n\n{whole}\n\nBe brief.") == "Be kind.\n\nBe brief."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BLOCK, ""),
        (f"{BLOCK}\n\nWhat now?", "What now?"),
        (f"You are kind.\n\n{BLOCK}\n\nBe brief.", "You are kind.\n\nBe brief."),
        (f"One\n{BLOCK}\nTwo\n{BLOCK}\nThree", "One\n\nTwo\n\nThree"),
        (BLOCK.replace("\n", "\r\n") + "\r\nHi", "Hi"),
        (BLOCK.replace("\n", "\n  ") + "\nHi", "Hi"),
        (BLOCK[: BLOCK.index("</notes>")] + "\nHi, I'm Maya", "Hi, I'm Maya"),
        (BLOCK[: BLOCK.index("Postgres")], ""),
        (f"{BLOCK[: BLOCK.index('Postgres')]}\n\nOne\n\n{BLOCK}\nTwo", "One\n\nTwo"),
    ],
)
def test_what_recall_rendered_is_taken_out(text, said):
    assert strip_recalled(text) == said


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No block here",
        "<memory>\n- [2026-03-02] I typed this\n</memory>",
        "How does <memory> work?",
        "  white space stays  \n\n\n\n",
    ],
)
def test_what_only_looks_like_it_stays(text):
    assert strip_recalled(text) == text


@given(
    st.lists(st.text(STORABLE, min_size=1).filter(str.strip), min_size=1),
    st.text(),
    st.text(),
    st.sampled_from(TEMPLATES),
)
def test_whatever_was_recalled_goes_and_whatever_was_said_stays(recalled, before, after, template):
    before, after = (" ".join(text.split()) for text in (before, after))
    whole = rendered(*recalled, template=template)
    stripped = strip_recalled(f"{before}\n\n{whole}\n\n{after}")
    assert stripped.split() == [*before.split(), *after.split()]


def test_a_message_of_recalled_text_alone_was_not_said():
    only, mixed, plain = say(BLOCK, f"{BLOCK}\nHi", "Hi")
    assert without_recalled(only) is None
    assert without_recalled(mixed) == mixed.model_copy(update={"content": "Hi"})
    assert without_recalled(plain) is plain


def test_a_turn_in_which_the_agent_wrote_memories_is_not_extracted():
    wrote = {WROTE_MEMORY: True}
    messages = [
        *say("Hello", role="assistant"),
        *say("Remember this", start=2),
        *say("Calling", role="assistant", start=3, metadata=wrote),
        *say("ok", role="tool", start=4),
        *say("I own a boat", BLOCK, start=5),
        *say("Nice", role="assistant", start=7, metadata={WROTE_MEMORY: False}),
    ]
    assert [message.id for message in extractable(messages)] == ["m1", "m5", "m7"]
    assert extractable([]) == []


@pytest.mark.parametrize(
    ("tool", "writes"),
    [
        ("add_memory", True),
        ("mcp__semantic-memory__add_memory", True),
        ("memory.delete_memory", True),
        ("search_memory", False),
        ("add_memory_card", False),
        ("", False),
    ],
)
def test_tools_that_write_are_told_by_name(tool, writes):
    assert writes_memory(tool) is writes


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_block_within_the_json_of_a_tool_result_is_taken_out(template):
    contents = ('Maya said "tea"', r"prints '\n' and C:\new", "Uses Postgres")
    whole = rendered(*contents, template=template, left_out=3)
    result = json.dumps({"text": whole, "tokens": 80})
    assert strip_recalled(result) == '{"text": "", "tokens": 80}'
    assert strip_recalled(json.dumps([f"{whole}\n\nHi, I'm Maya"])) == r'["\n\nHi, I' + "'m Maya\"]"
