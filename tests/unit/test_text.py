import pytest

from semantic_memory.domain.text import lexical_text, matchable, searched_words, stems, words


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


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("Wir wohnten früher in Kassel.", "Wo habe ich früher gewohnt und wohne jetzt?"),
        ("Je suis allergique aux crevettes.", "À quelles allergies est-ce que je dois penser ?"),
        ("Mi hermana trabaja en un hospital.", "¿Dónde está trabajando mi hermana?"),
        ("Mijn vriend werkt als kok.", "Wat voor werk heeft mijn vriend?"),
        ("Я работаю врачом в Омске.", "Кем я работал?"),
        ("私は札幌に住んでいます。", "札幌に住んでいるのは誰ですか？"),
        ("我们的数据库在5433端口运行。", "5433端口是什么？"),
        ("저는 남편과 부산에 살아요.", "부산은 어때요?"),
    ],
)
def test_a_question_matches_what_was_said_in_its_language(said, asked):
    indexed = set(stems(lexical_text(said, None, 0)))
    wanted = {found for word in searched_words(asked) for found in stems(word)}
    day = set(stems(lexical_text("", None, 0)))
    assert indexed & wanted - day


def test_english_is_indexed_as_it_is_written():
    for said in ("We lived in Kassel, near the Café Zoë.", "i tkae sertraline every mornign", "42"):
        assert matchable(said) == said
        assert list(searched_words(said)) == list(words(said))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("The user's sister moved to Lisbon", "user sister move lisbon"),
        ("It`s Maya’s 3rd running shoe", " maya 3rd run shoe"),
        ("Wir wohnten früher in Kassel.", "wir wohnten früher kassel wohnt0d fruh0d kassel0d"),
        ("Mi hermana trabaja en Vigo", "mi hermana trabaja en vigo herman0 trabaj0 vig0"),
        ("私は札幌に住んでいます。", "私は は札 札幌 幌に に住 住ん んで でい いま ます"),
    ],
)
def test_what_ledgers_keep_of_a_text_is_as_it_was(said, expected):
    """A change of it needs a migration that stores the stems and the words of all texts anew."""
    assert " ".join(stems(matchable(said))) == expected
