"""Plant facts that nobody said in recorded answers, to see how many are admitted.

Each is a statement of another conversation in the language of its request. One half quotes words
that aren't in the message that it names, the other half copies words of that message.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ingest.extract.answer import MOST_OF_A_MESSAGE
from semantic_memory.domain.language import language

_GOLD = Path("data/gold")
_WORDS = 8  # of a message that a planted fact quotes


class Planting:
    """Adds facts to answers, up to `most` in all."""

    def __init__(self, most: int, each: int) -> None:
        """Add `each` to an answer, as far as its messages have room."""
        self._left = most
        self._each = each
        self._random = random.Random(most)
        self._statements = _statements()
        self.planted: set[str] = set()
        """The statements that were added."""

    def plant(
        self, document: Mapping[str, Any], facts: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Return the facts of an answer, with others that nobody said."""
        added = [fact for _ in range(self._each) for fact in self._one(document, facts)]
        return [*facts, *added]

    def _one(
        self, document: Mapping[str, Any], facts: list[dict[str, Any]]
    ) -> Iterator[dict[str, Any]]:
        named = Counter(fact["messages"][0] for fact in facts)
        room = [
            message
            for message in document["messages"]
            if message["role"] == "user" and named[message["n"]] < MOST_OF_A_MESSAGE
        ]
        statements = self._statements.get(_language(document), [])
        if not (self._left and room and statements):
            return
        message = self._random.choice(room)
        statement = statements.pop(self._random.randrange(len(statements)))
        copied = len(self.planted) % 2
        self._left -= 1
        self.planted.add(statement)
        yield {
            "statement": statement,
            "category": "personal",
            "messages": [message["n"]],
            "quote": " ".join((message["text"] if copied else statement).split()[:_WORDS]),
            "holds_from": None,
            "holds_until": None,
            "certainty": "stated",
            "temporary": False,
            "tags": [],
            "replaces": [],
        }


def _language(document: Mapping[str, Any]) -> str:
    own = " ".join(one["text"] for one in document["messages"] if one["role"] == "user")
    return language(own) or "en"


def _statements() -> dict[str, list[str]]:
    """Return statements of invented people by language."""
    rows = _rows("facts.jsonl")
    found = {"en": [memory["content"] for row in rows for memory in row["memories"]]}
    for row in _rows("languages.jsonl"):
        if row["kind"] == "pair":
            found.setdefault(row["language"], []).extend(row["statements"])
    return found


def _rows(name: str) -> list[dict[str, Any]]:
    lines = (_GOLD / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]
