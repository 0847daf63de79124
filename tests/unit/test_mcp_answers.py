"""Answers of the tools of agents: lines that fit a budget of tokens, whatever they hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semantic_memory.context.tokens import TiktokenCounter
from semantic_memory.entrypoints.mcp.answers import MOST_TOKENS, Row, cut, fitting

COUNT = TiktokenCounter().count
IDS = [f"{number:024x}" for number in range(50)]


@pytest.mark.parametrize("text", ["Tea with milk. ", "茶を飲みます。", "\U00010330", "🍵 ", "\n\n"])
@pytest.mark.parametrize("times", [1, 40, 4_000])
def test_fifty_memories_of_any_length_fit_with_all_their_ids(text, times):
    found = fitting(["head"], [Row(f"{one} 2026-01-01 personal", text * times) for one in IDS])
    assert COUNT(found) <= MOST_TOKENS
    assert [line.split()[0] for line in found.splitlines()[1:51]] == IDS


@given(st.lists(st.text(max_size=300), max_size=8), st.text(max_size=40))
def test_what_fits_is_shown_whole_and_on_its_own_line(texts, foot):
    rows = [Row(f"row {number}", text) for number, text in enumerate(texts)]
    found = fitting(["head"], rows, [foot])
    assert COUNT(found) <= MOST_TOKENS
    if all(len(text) <= 50 for text in texts):
        for row in rows:
            assert " ".join(row.text.split()) in found
    shown = [line for line in found.split("\n") if line.startswith("row ")]
    assert len(shown) >= len(rows)


@given(st.text(max_size=20), st.integers(0, 4_000))
def test_a_text_is_cut_to_the_budget_and_says_so(text, times):
    whole = text * times
    found = cut(whole)
    assert COUNT(found) <= MOST_TOKENS
    assert found == whole or (found.endswith("[… clipped]") and whole.startswith(found[:-12]))
