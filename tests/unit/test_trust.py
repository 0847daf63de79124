"""Trust: its order, its place in facts and filters, and how much each door grants."""

from __future__ import annotations

from itertools import pairwise

import pytest

from semantic_memory import InvalidInputError, Message, Source, Trust
from semantic_memory.application.importing import import_file
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.trust import of_lineage, of_role
from tests.conftest import make_fact


def test_trust_is_ordered_from_imports_to_the_user():
    order = ["imported", "external", "tool", "assistant", "agent", "user"]
    assert [str(one) for one in sorted(Trust)] == order
    for lower, higher in pairwise(Trust):
        assert lower < higher
        assert lower <= higher
        assert higher > lower
        assert higher >= lower
    assert min(Trust.USER, Trust.IMPORTED) is Trust.IMPORTED
    assert Trust.TOOL.and_above == (Trust.TOOL, Trust.ASSISTANT, Trust.AGENT, Trust.USER)


@pytest.mark.parametrize(
    ("role", "name", "trust"),
    [
        ("user", None, "user"),
        ("user", "web", "user"),
        (None, None, "user"),
        ("assistant", None, "assistant"),
        ("tool", None, "tool"),
        ("tool", "calculator", "tool"),
        ("tool", "web_search", "external"),
        ("tool", "readEmail", "external"),
        ("tool", "http.fetch", "external"),
        ("tool", "researcher", "tool"),
    ],
)
def test_the_trust_in_a_message_follows_from_its_role(role, name, trust):
    assert of_role(role, name) == trust


def test_a_message_may_be_trusted_less_than_its_role_but_never_more():
    assert Message(role="user", content="x", trust="external").trusted is Trust.EXTERNAL
    assert Message(role="tool", content="x", trust="user").trusted is Trust.TOOL


def test_the_trust_of_a_fact_is_the_lowest_of_its_lineage():
    user, tool = ("user", Trust.USER), ("tool", Trust.TOOL)
    assert of_lineage([user, tool]) is Trust.TOOL
    assert of_lineage([user, ("assistant", Trust.ASSISTANT)]) is Trust.USER
    assert of_lineage([tool, ("assistant", Trust.ASSISTANT)]) is Trust.TOOL
    assert make_fact(source=Source(role="assistant")).trust is Trust.ASSISTANT
    assert make_fact().trust is Trust.USER


def test_a_caller_may_say_less_and_filters_find_by_trust(memory):
    own = memory.add("Prefers tea", user_id="u")
    read = memory.add("Prefers cocoa at night", user_id="u", trust="external")
    assert (own.trust, read.trust) == (Trust.USER, Trust.EXTERNAL)
    assert memory.get(read.id) == read
    assert {fact.id for fact in memory.list(user_id="u")} == {own.id, read.id}
    for filters in ("min_trust:tool", {"min_trust": "tool"}, Filters(min_trust=Trust.TOOL)):
        assert [fact.id for fact in memory.list(user_id="u", filters=filters)] == [own.id]
        hits = memory.search("what does the user prefer", user_id="u", filters=filters)
        assert [hit.fact.id for hit in hits] == [own.id]
    with pytest.raises(InvalidInputError):
        memory.list(user_id="u", filters="min_trust:boss")
    with pytest.raises(InvalidInputError):
        memory.add("x", user_id="u", trust="boss")


def test_what_is_imported_from_elsewhere_is_trusted_least(memory, tmp_path):
    file = tmp_path / "chat.jsonl"
    file.write_text(
        '{"session_id": "old", "role": "user", "content": "I live in Bergen."}\n', encoding="utf-8"
    )
    assert import_file(memory, file, form="jsonl", user_id="u").accepted == 1
    memory.flush()
    found = memory.list(user_id="u")
    assert {str(fact.category) for fact in found} >= {"conversation", "personal"}
    assert {fact.trust for fact in found} == {Trust.IMPORTED}
