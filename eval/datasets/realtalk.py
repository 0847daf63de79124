"""RealTalk at the turn level: messages of real people over weeks.

Lee et al. (2025), "REALTALK: A 21-Day Real-World Dataset for Long-Term Conversation".

Evaluated as LoCoMo, but every message has its own time, and there is no fifth category.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from eval.datasets import DataSet, History, Memory
from eval.datasets.files import read_samples
from eval.datasets.locomo import locomo_questions

_SESSION = re.compile(r"session_(\d+)")
_PROTOCOL = "one user per chat, every message one memory, questions with evidence that names one"


def load_realtalk(path: Path) -> DataSet:
    """Load the chats of a RealTalk file, plain or gzipped."""
    return DataSet("realtalk", read_samples(path, "RealTalk", _histories), _PROTOCOL)


def _histories(samples: list[dict[str, Any]]) -> list[History]:
    return [_history(sample) for sample in samples]


def _history(sample: dict[str, Any]) -> History:
    user_id = str(sample["sample_id"])
    memories = list(_memories(sample))
    asked_at = max(memory.said_at for memory in memories) + timedelta(days=1)
    questions = locomo_questions(user_id, sample["qa"], memories, asked_at)
    return History(user_id, memories, questions)


def _memories(sample: dict[str, Any]) -> Iterator[Memory]:
    numbers = sorted(int(found[1]) for key in sample if (found := _SESSION.fullmatch(key)))
    for number in numbers:
        for turn in sample[f"session_{number}"]:
            caption = turn.get("blip_caption")
            text = f"{turn['clean_text']}\n[image: {caption}]" if caption else turn["clean_text"]
            if text.strip():
                said = f"{turn['date_time']} +0000"
                yield Memory(
                    turn["dia_id"],
                    text,
                    datetime.strptime(said, "%d.%m.%Y, %H:%M:%S %z"),
                    f"session_{number}",
                    speaker=turn["speaker"],
                )
