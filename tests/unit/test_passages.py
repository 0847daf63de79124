from itertools import pairwise

import numpy as np

from semantic_memory.testing import HashEmbedder
from semantic_memory.vectors.passages import (
    OVERLAP_CHARACTERS,
    WINDOW_CHARACTERS,
    embed_facts,
    split,
)
from tests.conftest import make_fact


def test_a_short_text_is_one_window_and_no_sentences():
    assert split("I live in Oslo.") == (["I live in Oslo."], [])


def test_a_text_of_several_sentences_has_them_besides():
    windows, sentences = split("Hi! I live in Oslo. My sister lives in Berlin.")
    assert windows == ["Hi! I live in Oslo. My sister lives in Berlin."]
    assert sentences == ["I live in Oslo.", "My sister lives in Berlin."]


def test_a_long_text_is_cut_into_overlapping_windows_of_whole_sentences():
    text = " ".join(f"This is sentence number {number}." for number in range(200))
    windows, sentences = split(text)
    assert not sentences
    assert all(len(window) <= WINDOW_CHARACTERS for window in windows)
    assert all(window.startswith("This is") and window.endswith(".") for window in windows)
    for before, behind in pairwise(windows):
        assert behind[:28] in before[-2 * OVERLAP_CHARACTERS :]
    assert all(f"number {number}." in " ".join(windows) for number in range(200))


def test_a_long_text_without_a_break_is_cut_all_the_same():
    windows, _ = split("x" * 3_000)
    assert max(map(len, windows)) <= WINDOW_CHARACTERS
    assert sum(map(len, windows)) >= 3_000


def test_every_fact_gets_its_own_vectors():
    facts = [make_fact(1, content="One. And two words here."), make_fact(2, content="Three")]
    embedder = HashEmbedder()
    together = embed_facts(embedder, facts)
    for fact, vectors in zip(facts, together, strict=True):
        (alone,) = embed_facts(embedder, [fact])
        assert np.array_equal(vectors.windows, alone.windows)
        assert np.array_equal(vectors.sentences, alone.sentences)
    assert together[1].sentences.shape == (0, 64)
