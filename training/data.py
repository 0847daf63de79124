"""Labelled pairs, sentences and messages of `data/gold`, split by writer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from semantic_memory.domain.evidence import pieces

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


class Mark(NamedTuple):
    """Place of words in a text, and what they are: one of MARKS."""

    start: int
    end: int
    name: str


class Sentence(NamedTuple):
    """A sentence with what was said before it, and its labels; None for an unknown one."""

    text: str
    context: str
    writer: str
    labels: dict[str, str | None]
    held: bool
    marks: tuple[Mark, ...] | None = ()


def rows(path: Path) -> list[dict[str, Any]]:
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
    """Return all sentences, those of held writers marked. They neither ask nor hide anything."""
    return [
        Sentence(
            str(row["text"]),
            str(row.get("context") or ""),
            str(row["writer"]),
            {name: _label(row.get(name)) for name in SENTENCE_LABELS} | {"act": "none"},
            bool(row["held"]),
        )
        for row in rows(gold / "sentences.jsonl")
    ]


def messages(gold: Path = GOLD) -> list[Sentence]:
    """Return messages labelled with what they ask to forget, and with the secrets in them."""
    written = of_file(gold / "messages.jsonl")
    asking = [
        _message(f"forgetting: {row['half']}", row["half"] == "measure", row | {"act": _act(row)})
        for row in rows(gold / "forgetting.jsonl")
    ]
    hiding = [
        _message(f"secrets: {row['half']}", row["half"] == "measure", row)
        for row in rows(gold / "secrets.jsonl")
    ]
    return written + asking + hiding


def of_file(path: Path) -> list[Sentence]:
    """Return the messages of a file of JSON lines."""
    return [_message(str(row["writer"]), bool(row["held"]), row) for row in rows(path)]


def talk(gold: Path = GOLD) -> list[Sentence]:
    """Return the sentences of conversations and of assistants' answers.

    They ask nothing to be forgotten and hide nothing.
    """
    said = [(row, told["content"]) for row in rows(gold / "talk.jsonl") for told in row["memories"]]
    said += [(row, row["text"]) for row in rows(gold / "answers.jsonl")]
    return [
        Sentence(
            sentence.strip(),
            "",
            str(row["writer"]),
            dict.fromkeys(SENTENCE_LABELS) | {"act": "none"},
            bool(row["held"]),
        )
        for row, text in said
        for sentence in pieces(text)
        if sentence.strip()
    ]


def _message(writer: str, held: bool, row: Mapping[str, Any]) -> Sentence:
    labels = dict.fromkeys(SENTENCE_LABELS) | {"act": row.get("act", "none")}
    return Sentence(row["text"], row.get("before", ""), writer, labels, held, _marks(row))


def _act(row: Mapping[str, Any]) -> str:
    acts = {None: "none", "topic": "forget_subject", "everything": "forget_everything"}
    return f"forget_{row['message']}" if row["scope"] == "message" else acts[row["scope"]]


def _marks(row: Mapping[str, Any]) -> tuple[Mark, ...] | None:
    """Return the marks of a message, in order; None if its subject isn't marked."""
    subject = row.get("subject")
    if row.get("act") == "forget_subject" and not subject:
        return None
    named = [(one, "secret") for one in row.get("secrets", ())]
    named += [(subject, "subject")] if subject else []
    found: list[Mark] = []
    begin: dict[str, int] = {}
    for words, name in named:
        start = row["text"].index(words, begin.get(words, 0))
        begin[words] = start + len(words)
        found.append(Mark(start, begin[words], name))
    return tuple(sorted(found))


def _label(value: object) -> str | None:
    return None if value is None else str(value)


MARKS = ("none", "secret", "subject")
"""Labels of a token: part of a secret, or of the subject that is to be forgotten."""


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
    "act": (
        "none",
        "forget_subject",
        "forget_this",
        "forget_previous",
        "forget_everything",
        "confirm",
        "decline",
    ),
}
"""The readings of a sentence, with their values in the order of the model's outputs."""
