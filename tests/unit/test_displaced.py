"""Lines of the core that a newer statement moves to the notes."""

from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from ingest.readers import Incoming, read
from semantic_memory import SemanticMemory
from semantic_memory.testing import FrozenClock

CONVERSATIONS = Path(__file__).parents[2] / "data" / "conversations"
NOW = datetime(2026, 5, 10, 12, tzinfo=UTC)


def test_what_leaves_the_core_is_told_once_and_does_not_come_back(tmp_path):
    with SemanticMemory.open(tmp_path, clock=FrozenClock(NOW)) as memory:
        for file in sorted(CONVERSATIONS.glob("*.jsonl")):
            said = [one for one in read(file, "auto", file.stem) if isinstance(one, Incoming)]
            for session_id, run in groupby(said, key=lambda one: one.session_id):
                messages = [one.message for one in run]
                memory.observe(messages, user_id="maya", session_id=session_id or "")
                memory.flush()
        block = memory.context("Where does Maya live now?", user_id="maya", budget=300).text
    told = [line.partition("] ")[2] for line in block.splitlines() if "] " in line]
    assert len(told) == len(set(told)) > 2
    assert block.count("Hermannplatz") == 1
