"""Labelled pairs and sentences of `data/gold`, split by writer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

GOLD = Path(__file__).resolve().parent.parent / "data" / "gold"
PAIR_LABELS = ("neither", "over", "same")
HELD_SHARE = 5
"""One writer of this many is held out of training, by the hash of the writer's name."""


class Pair(NamedTuple):
    """Two statements of one user, the older first."""

    older: str
    newer: str
    label: int
    """Index in PAIR_LABELS."""
    writer: str
    kind: str
    held: bool


class Sentence(NamedTuple):
    """A sentence with what was said before it, and its labels; None for an unknown one."""

    text: str
    context: str
    writer: str
    labels: dict[str, str | None]
    held: bool


def rows(path: Path) -> list[dict[str, object]]:
    """Return the rows of a file of JSON lines."""
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def digest(rows: Iterable[Pair] | Iterable[Sentence]) -> str:
    """Return the SHA-256 of the rows that a judge was trained on, whatever their order."""
    total = hashlib.sha256()
    for row in sorted(map(repr, rows)):
        total.update(f"{row}\n".encode())
    return total.hexdigest()


def is_held(writer: str) -> bool:
    """Return True if a writer's rows only measure.

    >>> sum(is_held(f"writer {n}") for n in range(1000)) in range(150, 250)
    True
    """
    return int(hashlib.sha256(writer.encode()).hexdigest(), 16) % HELD_SHARE == 0


def pairs(gold: Path = GOLD) -> list[Pair]:
    """Return all pairs, those of held writers marked."""
    return [
        Pair(
            str(row["older"]),
            str(row["newer"]),
            PAIR_LABELS.index(str(row["label"])),
            str(row["writer"]),
            str(row["type"]),
            bool(row["held"]),
        )
        for row in rows(gold / "pairs.jsonl")
    ]


def sentences(gold: Path = GOLD) -> list[Sentence]:
    """Return all sentences, those of held writers marked."""
    return [
        Sentence(
            str(row["text"]),
            str(row.get("context") or ""),
            str(row["writer"]),
            {name: _label(row.get(name)) for name in SENTENCE_LABELS},
            bool(row["held"]),
        )
        for row in rows(gold / "sentences.jsonl")
    ]


def _label(value: object) -> str | None:
    return None if value is None else str(value)


SENTENCE_LABELS: dict[str, tuple[str, ...]] = {
    "worth": ("keep", "moment", "task"),
    "alone": ("no", "yes"),
    "about": ("self", "near", "other"),
    "kind": (
        "none",
        "state",
        "event",
        "plan",
        "habit",
        "preference",
        "standing_order",
        "decision",
        "opinion",
    ),
    "slot": (
        "none",
        "name",
        "address",
        "pronouns",
        "home",
        "job",
        "employer",
        "partner",
        "family",
        "pet",
        "allergy",
        "diet",
        "health",
        "medication",
        "language",
        "birthday",
        "age",
        "origin",
        "education",
        "vehicle",
        "device",
        "tool",
        "hobby",
        "deadline",
        "goal",
        "budget",
        "schedule",
        "membership",
        "travel",
        "possession",
    ),
    "category": (
        "none",
        "preference",
        "personal",
        "feedback",
        "project",
        "technical",
        "decision",
        "finding",
        "reference",
    ),
}
"""The readings of a sentence, with their values in the order of the model's outputs."""
