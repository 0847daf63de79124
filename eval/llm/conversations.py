"""Conversations in natural chat, with what changes in them and what only looks like it.

`data/gold/llm/NAME.jsonl` has a message a line; `labels.json` has, by conversation:

    updates     `old` and `new`: words of the statement that no longer holds, and of the one that
                does (none where nothing takes its place); a statement with all of `old` and all of
                `new`, or one of `unless`, tells of the change, and isn't the old one
    look-alikes `said`: words of the message; `kept`: words of a fact that it doesn't end; `absent`:
                words of a statement that it doesn't make

`a|b` stands for either of two.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from pydantic import Field

from semantic_memory.domain.facts import Fact
from semantic_memory.domain.messages import Message, Role
from semantic_memory.domain.values import Timestamp, Value

DATA = Path("data/gold/llm")
Words = tuple[str, ...]


class Turn(Value):
    """A message of a conversation."""

    at: Timestamp
    role: Role
    text: str


class Update(Value):
    """A change of what holds."""

    old: Words
    new: Words = ()
    unless: Words = ()

    def is_old(self, fact: Fact) -> bool:
        """Return True for a fact that states what no longer holds."""
        tells = bool(self.new) and has_all(fact, self.new)
        return (
            has_all(fact, self.old) and not tells and not any(has(fact, one) for one in self.unless)
        )


class Lookalike(Value):
    """A message that only looks like a change."""

    said: str
    kept: Words = ()
    absent: Words = ()


class Labels(Value):
    """The changes in a conversation, and the statements that stay."""

    updates: tuple[Update, ...]
    lookalikes: tuple[Lookalike, ...] = Field(alias="look-alikes")


class Conversation(Value):
    """A conversation of one user with an assistant, in one session."""

    name: str
    messages: tuple[Message, ...]
    labels: Labels


def load_conversations(data: Path = DATA) -> list[Conversation]:
    """Load the conversations in a directory, by name."""
    labels = json.loads((data / "labels.json").read_text(encoding="utf-8"))
    return [
        Conversation(
            name=name,
            messages=_messages((data / f"{name}.jsonl").read_text(encoding="utf-8")),
            labels=Labels.model_validate(own),
        )
        for name, own in sorted(labels.items())
    ]


def _messages(text: str) -> tuple[Message, ...]:
    turns = [Turn.model_validate_json(line) for line in text.splitlines()]
    return tuple(
        Message(id=f"m{number}", role=turn.role, content=turn.text, created_at=_moment(turn))
        for number, turn in enumerate(turns, 1)
    )


def _moment(turn: Turn) -> datetime:
    return turn.at


def has_all(fact: Fact, words: Sequence[str]) -> bool:
    """Return True if a fact has each of some words."""
    return all(has(fact, one) for one in words)


def has(fact: Fact, word: str) -> bool:
    """Return True if a fact has a word, or one of several that `|` separates."""
    text = fact.content.casefold()
    return any(one.casefold() in text for one in word.split("|"))
