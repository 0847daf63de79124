"""LongMemEval's knowledge updates, told and asked."""

from __future__ import annotations

import json

import pytest

from eval.knowledge_updates import Outcome, outcomes, shares
from semantic_memory.testing import HashEmbedder


def _session(text: str, *, evidence: bool = False) -> list[dict[str, object]]:
    said = {"role": "user", "content": text, "has_answer": evidence}
    return [said, {"role": "assistant", "content": "Noted."}]


def _question(**values):
    sessions = [
        _session("I live in Oslo.", evidence=True),
        *(_session(f"My sister likes the number {number}.") for number in range(4)),
        _session("I moved to Bergen.", evidence=True),
    ]
    return {
        "question_id": "q",
        "question_type": "knowledge-update",
        "question": "Where do I live?",
        "question_date": "2023/05/30 (Tue) 18:40",
        "answer": "Bergen",
        "answer_session_ids": [],
        "haystack_dates": [f"2023/05/{20 + day} (Sat) 02:00" for day in range(6)],
        "haystack_session_ids": [f"session-{number}" for number in range(6)],
        "haystack_sessions": sessions,
    } | values


@pytest.mark.parametrize(("others", "turns"), [(0, 0), (2, 2), (9, 4)])
def test_an_update_is_told_among_as_many_other_sessions_as_asked(tmp_path, others, turns):
    file = tmp_path / "longmemeval.json"
    unanswerable = _question(question_id="q_abs")
    of_another_kind = _question(question_type="multi-session")
    file.write_text(json.dumps([_question(), unanswerable, of_another_kind]), encoding="utf-8")
    told = []
    (outcome,) = outcomes(
        file, HashEmbedder(), lambda _, done, total: told.append((done, total)), others=others
    )
    assert told == [(1, 1)]
    assert outcome.turns == turns
    assert outcome.changed
    assert outcome.touched == 0
    assert True in outcome.shown


def test_shares_count_updates_and_other_turns_apart():
    found = [
        Outcome(shown=(False, True), changed=True, followed=False, turns=30, touched=1),
        Outcome(shown=(True, False), changed=False, followed=True, turns=70, touched=0),
        Outcome(shown=(False,), changed=False, followed=False, turns=0, touched=0),
        Outcome(shown=(), changed=False, followed=False, turns=0, touched=0),
    ]
    assert [*shares(found).values()] == [
        "2 of 4 (50.0%)",
        "1 of 4 (25.0%)",
        "1 of 4 (25.0%)",
        "2 of 4 (50.0%)",
        "1 of 100 (1.0%)",
    ]
