"""Figures of duplicates, and of what ordinary talk retires."""

from datetime import timedelta

from eval.datasets import History, Memory
from eval.duplicates import judged
from eval.retired import retired, told
from tests.conftest import NOW


def test_a_pair_is_merged_if_facts_of_both_are():
    rows = [
        {"a": "I love hiking.", "b": "I enjoy hiking.", "same": True},
        {"a": "My brother is a cook.", "b": "My brother-in-law is a cook.", "same": False},
        {"a": "Hm.", "b": "I enjoy hiking.", "same": False},
    ]
    found = [(one.same, one.known, one.merged) for one in judged(rows)]
    assert found == [(True, True, True), (False, True, False), (False, False, False)]


def test_what_a_conversation_retires_is_listed_with_what_took_its_place(memory):
    texts = ("I live in Oslo.", "The sea is calm today.", "I moved to Rome last week.")
    said = [
        Memory(f"d{day}", text, NOW - timedelta(days=30 - day), session_id=f"s{day}")
        for day, text in enumerate(texts)
    ]
    told(memory, History("u1", said, ()))
    found = retired(memory, "u1")
    assert found
    assert all("Oslo" in older and "Rome" in newer for older, newer in found)
