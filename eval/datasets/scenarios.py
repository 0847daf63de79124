"""Scenarios of what a store should believe: two statements in natural chat, with talk between.

A line of `data/gold/beliefs.jsonl` is one user's scenario. A message `{"talk": id}` stands for an
exchange of `data/gold/chatter.jsonl`. Messages of a session are a minute apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Literal, Self, get_args

from pydantic import Field

from eval.datasets.files import rows_of
from eval.datasets.load import GOLD
from eval.gold import Half
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.messages import Role
from semantic_memory.domain.refusals import parse
from semantic_memory.domain.values import Content, Identifier, Timestamp, Value

Kind = Literal["update", "correction", "look-alike", "paraphrase", "near-duplicate"]
Style = Literal["clean", "messy"]
Domain = Literal["work", "private"]
Side = Literal["old", "new"]
KINDS: tuple[Kind, ...] = get_args(Kind)
HALVES: tuple[Half, ...] = get_args(Half)

BELIEFS = GOLD / "beliefs.jsonl"
CHATTER = GOLD / "chatter.jsonl"


@dataclass(frozen=True, slots=True)
class Words:
    """Groups of words, each of which marks a text as carrying a value.

    A text carries the value if every word of one group occurs in it, in lower case and in any
    order. A word matches as a whole; one that ends in `*` matches as a prefix.
    """

    groups: tuple[tuple[re.Pattern[str], ...], ...]

    @classmethod
    def of(cls, groups: Sequence[str]) -> Self:
        """Compile groups written as words with spaces between."""
        return cls(tuple(tuple(_pattern(word) for word in group.split()) for group in groups))

    def carried_by(self, text: str) -> bool:
        """Return True if the text carries the value."""
        lower = text.lower().replace("’", "'")
        return any(all(word.search(lower) for word in group) for group in self.groups)

    def __bool__(self) -> bool:
        return bool(self.groups)


def _pattern(word: str) -> re.Pattern[str]:
    # 3 must not match 3.11, nor 9 the 9 of 9:15; a full stop at a sentence's end is fine.
    end = r"(?!\w)(?![.,:]\d)" if not word.endswith("*") else ""
    return re.compile(rf"(?<!\w)(?<!\d[.,:]){re.escape(word.removesuffix('*'))}{end}")


@dataclass(frozen=True, slots=True)
class Turn:
    """A message of a scenario."""

    position: int
    """Place among the user's messages, from 0."""
    role: Role
    content: str
    said_at: datetime
    tells: Side | None = None
    """The statement that the message makes; None for all others."""
    chatter: bool = False


class _Header(Value):
    id: Identifier
    half: Half
    kind: Kind
    type: str
    style: Style
    domain: Domain
    ask: Content | None = None
    """The question to ask afterwards."""


class Scenario(_Header):
    """A user's conversations with two statements, and the question to ask afterwards."""

    sessions: tuple[tuple[Turn, ...], ...]
    old: Words
    new: Words
    """Empty where the second statement ends something without a new value."""

    @property
    def retires(self) -> bool:
        """True if the second statement makes the first untrue."""
        return self.kind in ("update", "correction")

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        """All messages, in order."""
        return tuple(turn for session in self.sessions for turn in session)

    def told(self, side: Side) -> Turn:
        """Return the message that makes one of the two statements."""
        return next(turn for turn in self.turns if turn.tells == side)


class _Said(Value):
    role: Role
    content: Content


class _Exchange(Value):
    id: Identifier
    style: Style
    domain: Domain
    messages: tuple[_Said, ...]


class _Talk(Value):
    talk: Identifier


class _Statement(_Said):
    tells: Side | None = None


class _Session(Value):
    at: Timestamp
    messages: tuple[_Talk | _Statement, ...] = Field(min_length=1)


class _Line(_Header):
    sessions: tuple[_Session, ...] = Field(min_length=1)
    old: tuple[str, ...] = Field(min_length=1)
    new: tuple[str, ...]


def load_scenarios(path: Path = BELIEFS, chatter: Path = CHATTER) -> list[Scenario]:
    """Read the scenarios of a file. Raises NotFoundError, InvalidInputError that names the line."""
    exchanges = load_exchanges(chatter)
    return [_scenario(place, parse(_Line, place, row), exchanges) for place, row in rows_of(path)]


def load_exchanges(path: Path = CHATTER) -> Mapping[str, Sequence[_Said]]:
    """Read the messages of each exchange by its id. Raises as `load_scenarios`."""
    exchanges = (parse(_Exchange, place, row) for place, row in rows_of(path))
    return {exchange.id: exchange.messages for exchange in exchanges}


def _scenario(place: str, line: _Line, exchanges: Mapping[str, Sequence[_Said]]) -> Scenario:
    sessions: list[tuple[Turn, ...]] = []
    position = 0
    for session in line.sessions:
        turns: list[Turn] = []
        for message, chatter in _messages(place, session, exchanges):
            turns.append(
                Turn(
                    position,
                    message.role,
                    message.content,
                    session.at + timedelta(minutes=len(turns)),
                    message.tells if isinstance(message, _Statement) else None,
                    chatter,
                )
            )
            position += 1
        sessions.append(tuple(turns))
    told = [turn.tells for session in sessions for turn in session if turn.tells]
    if told != ["old", "new"]:
        raise InvalidInputError(f"{place}: one message must tell the old, a later one the new")
    return Scenario(
        **line.model_dump(include=set(_Header.model_fields)),
        sessions=tuple(sessions),
        old=Words.of(line.old),
        new=Words.of(line.new),
    )


def _messages(
    place: str, session: _Session, exchanges: Mapping[str, Sequence[_Said]]
) -> Iterator[tuple[_Said, bool]]:
    for message in session.messages:
        if isinstance(message, _Statement):
            yield message, False
        elif message.talk in exchanges:
            yield from ((said, True) for said in exchanges[message.talk])
        else:
            raise InvalidInputError(f"{place}: no exchange {message.talk!r} in the chatter")
