"""LoCoMo at the turn level.

Maharana et al. (2024), "Evaluating Very Long-Term Conversational Memory of LLM Agents".

A user is a conversation. Every turn is a memory, `{speaker}: {text}` with the caption of an image
if it has one, dated by its session. The questions are those of categories 1 to 4 with evidence that
names a turn; `evidence_clean`, if the file has it, contains repaired ids. Category 5 can't be
answered from the conversation and is measured separately. Questions are asked a day after the last
session.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

from eval.datasets import DataSet, History, Memory, Question
from eval.datasets.files import read_samples
from ingest.readers import Incoming
from ingest.readers.locomo import locomo_turns

KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
_UNANSWERABLE = 5
_PROTOCOL = (
    "one user per conversation, every turn one memory, categories 1-4 with evidence that names a"
    " turn; category 5 apart"
)


def load_locomo(path: Path) -> DataSet:
    """Load the conversations of a LoCoMo file, plain or gzipped."""
    return DataSet("locomo", read_samples(path, "LoCoMo", _histories), _PROTOCOL)


def _histories(samples: list[dict[str, Any]]) -> list[History]:
    asked = {str(sample["sample_id"]): sample["qa"] for sample in samples}
    turns = [item for item in locomo_turns(samples) if isinstance(item, Incoming)]
    histories = []
    for user_id, own in groupby(turns, key=lambda item: str(item.user_id)):
        memories = [_memory(item) for item in own]
        asked_at = max(memory.said_at for memory in memories) + timedelta(days=1)
        questions = locomo_questions(user_id, asked[user_id], memories, asked_at)
        histories.append(History(user_id, memories, questions))
    return histories


def _memory(item: Incoming) -> Memory:
    message = item.message
    if message.created_at is None:
        raise ValueError(f"turn {message.id} has no date")
    return Memory(
        message.id,
        message.content,
        message.created_at,
        item.session_id,
        speaker=message.name,
    )


def locomo_questions(
    user_id: str, rows: Sequence[Mapping[str, Any]], memories: Sequence[Memory], asked_at: datetime
) -> list[Question]:
    """Return a sample's questions with evidence in `memories`, and the unanswerable ones."""
    turns = {memory.id for memory in memories}
    questions = []
    for number, row in enumerate(rows):
        evidence = frozenset(row.get("evidence_clean", row.get("evidence")) or ()) & turns
        answerable = row["category"] != _UNANSWERABLE
        if answerable and not evidence:
            continue
        questions.append(
            Question(
                id=f"{user_id}/{number}",
                kind=KINDS[row["category"]] if answerable else "unanswerable",
                text=row["question"],
                relevant=evidence if answerable else frozenset(),
                asked_at=asked_at,
                answer=str(row.get("answer", "")),
            )
        )
    return questions
