"""LoCoMo at the turn level.

Maharana et al. (2024), "Evaluating Very Long-Term Conversational Memory of LLM Agents".

A user is a conversation; every turn is a memory, `{speaker}: {text}` with the caption of an image
where there is one, dated by its session. The questions are those of categories 1 to 4 with evidence
that names a turn; `evidence_clean`, where the file has it, holds repaired ids.
"""

from __future__ import annotations

import gzip
import json
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

from eval.datasets import History, Question, Session
from ingest.readers import Incoming, read

KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}


def load_locomo(path: Path) -> list[History]:
    """The conversations of a LoCoMo file, plain or gzipped."""
    data = path.read_bytes()
    document = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    samples = {sample["sample_id"]: sample for sample in document}
    turns = [item for item in read(path, "locomo", "") if isinstance(item, Incoming)]
    histories = []
    for user_id, own in groupby(turns, key=lambda item: str(item.user_id)):
        sessions = [
            Session(session_id, [item.message for item in items])
            for session_id, items in groupby(own, key=lambda item: item.session_id)
        ]
        messages = [message for session in sessions for message in session.messages]
        last = max(message.created_at for message in messages if message.created_at)
        questions = _questions(
            user_id, samples[user_id]["qa"], {message.id for message in messages}
        )
        histories.append(History(user_id, sessions, questions, last + timedelta(days=1)))
    return histories


def _questions(user_id: str, rows: list[dict[str, Any]], turns: set[str]) -> list[Question]:
    questions = []
    for number, row in enumerate(rows):
        evidence = row.get("evidence_clean", row.get("evidence")) or ()
        relevant = frozenset(evidence) & turns
        if row["category"] in KINDS and relevant:
            question_id = f"{user_id}/{number}"
            kind = KINDS[row["category"]]
            questions.append(Question(question_id, kind, row["question"], relevant))
    return questions
