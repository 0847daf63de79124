"""Small histories for the tests of the evaluation."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from eval.datasets import DataSet, History, Memory, Question

START = datetime(2026, 2, 1, tzinfo=UTC)
ASKED = START + timedelta(days=30)


def told(number: int, text: str, session_id: str | None = "s1") -> Memory:
    return Memory(f"m{number}", text, START + timedelta(hours=number), session_id, speaker="Ada")


def question(text: str, *relevant: str, kind: str = "what", answer: str = "") -> Question:
    return Question(f"q-{text}", kind, text, frozenset(relevant), ASKED, answer)


def small() -> DataSet:
    """Return two users: one with two sessions, one with facts only."""
    dialogue = [
        told(1, "The violin was lent to Bruno"),
        told(2, "Bruno plays it every Sunday"),
        told(3, "Our roof leaks over the kitchen", "s2"),
        told(4, "The plumber repaired the kitchen tap", "s2"),
    ]
    facts = [
        told(1, "The spare key hangs behind the clock", None),
        told(2, "The clock stops every winter", None),
        told(3, "Ada drinks tea without milk", None),
    ]
    return DataSet(
        "small",
        [
            History(
                "u1",
                dialogue,
                [
                    question("Who was lent the violin?", "m1", answer="Bruno"),
                    question("What happened in the kitchen?", "m3", "m4", kind="many"),
                    question("Which ship sank?"),
                ],
            ),
            History("u2", facts, [question("Where is the spare key?", "m1", answer="The clock")]),
        ],
        "made up",
    )
