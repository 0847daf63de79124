import pytest

from semantic_memory.domain.text import lexical_text, stems, words


def test_words_leave_out_function_words_and_fold_case():
    assert list(words("The Cats' toys, and what they DO with them")) == ["cats", "toys"]


def test_possessives_and_typographic_apostrophes_are_folded():
    assert list(words("Maya’s cat")) == list(words("maya's cat")) == ["maya", "cat"]


def test_stems_make_inflections_equal():
    assert stems("painting painted paints") == ["paint"] * 3


def test_unspaced_scripts_are_cut_into_pairs():
    assert list(words("東京都")) == ["東京", "京都"]


@pytest.mark.parametrize("text", ["", "?!", "the of and"])
def test_texts_without_words_have_none(text):
    assert list(words(text)) == []


def test_the_date_and_the_speaker_are_searched_too():
    assert lexical_text("Hello", "Maya", 0.0) == "1 January 1970 Maya: Hello"
