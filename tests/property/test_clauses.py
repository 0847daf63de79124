"""Sentences of any words are cut into clauses that hold their words."""

from hypothesis import example, given
from hypothesis import strategies as st

from semantic_memory.language.clauses import (
    clauses,
    is_clause,
    lacks_antecedent,
    leans,
    points_back,
    sentences,
    without_opener,
)

WORDS = st.sampled_from(
    "I i we I'm I'll my our and but so or then , ; - – ( ) . ? ! ... by the way in fact because "
    "when who she her them it live work moved love plan dog Porto Ann 12 yes haha please can you "
    "don't remember not é 日本 🙂".split()
)


@example("For my family and I and then we are going to ski")
@example("I and then we ski")
@given(st.lists(WORDS, max_size=24).map(" ".join))
def test_any_words_are_cut_into_clauses_with_no_word_made_up(text: str) -> None:
    for sentence in sentences(text):
        for clause in clauses(sentence):
            spoken = without_opener(clause.text)
            assert spoken in clause.text
            assert 0 <= clause.start <= clause.end <= len(sentence)
            for judge in (is_clause, lacks_antecedent, leans, points_back):
                assert judge(spoken) in (True, False)
