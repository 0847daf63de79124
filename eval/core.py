"""Measure that a block has what every answer to its user needs.

Every user of `data/gold/core.jsonl` tells a store their conversation. A request needs facts, each
of one field of the core profile or of another kind; it has one if a line of its block holds a word
of each of the fact's groups. Nothing private about other people may be in the core.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, NamedTuple

from pydantic import Field

from eval.gold import Half, share
from eval.wording import holds_all
from semantic_memory.domain.messages import Message, Role
from semantic_memory.domain.ports import Progress
from semantic_memory.domain.values import Content, Identifier, Timestamp, Value
from semantic_memory.memory import SemanticMemory
from semantic_memory.testing import FrozenClock

Groups = tuple[tuple[str, ...], ...]

CORE = frozenset(
    "name allergy diet health home family job instruction deadline language goal".split()
)
"""Fields that the core profile has; the others must be recalled."""
_SECTIONS = ("<core>", "<instructions>")


class Said(Value):
    """One message of a conversation."""

    id: Identifier
    session_id: Identifier
    role: Role
    created_at: Timestamp
    content: Content


class Need(Value):
    """A fact that a request needs."""

    field: str
    has: Groups = Field(min_length=1)


class Private(Value):
    """Something sensitive about another person."""

    about: str
    has: Groups = Field(min_length=1)


class Request(Value):
    """A request, what its answer needs, and what it must not touch."""

    id: Identifier
    query: Content
    asked_at: Timestamp
    needs: tuple[Need, ...]
    private: tuple[Private, ...] = ()


class User(Value):
    """A user's conversation, and requests after it."""

    user_id: Identifier
    messages: tuple[Said, ...]
    requests: tuple[Request, ...]


class Judged(NamedTuple):
    """A needed fact, and the place of the block that has it."""

    need: Need
    place: Literal["core", "recalled", "nowhere"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A request with its block."""

    user_id: str
    half: Half
    request: Request
    block: str
    tokens: int
    judged: Sequence[Judged]
    leaked: bool
    """True if the core, or the instructions, have something private about another person."""
    shown: bool
    """True if the block has."""


def ask(
    memory: SemanticMemory,
    clock: FrozenClock,
    users: Sequence[User],
    budget: int,
    progress: Progress,
    half: Half | None = None,
) -> list[Outcome]:
    """Tell every user's conversation, then ask every request within `budget` tokens.

    Every second user belongs to the half to build on, the others to the half to measure.
    """
    outcomes: list[Outcome] = []
    for place, user in enumerate(users):
        own: Half = "measure" if place % 2 else "build"
        if half not in (None, own):
            continue
        for session_id, said in groupby(user.messages, key=lambda one: one.session_id):
            messages = [
                Message(id=one.id, role=one.role, content=one.content, created_at=one.created_at)
                for one in said
            ]
            clock.moment = max(one.created_at or clock.moment for one in messages)
            memory.observe(messages, user_id=user.user_id, session_id=session_id)
            memory.flush()
        for request in user.requests:
            clock.moment = request.asked_at
            found = memory.context(request.query, user_id=user.user_id, budget=budget)
            outcomes.append(_outcome(user.user_id, own, request, found.text, found.tokens))
        progress("asking", place + 1, len(users))
    return outcomes


def figures(outcomes: Sequence[Outcome]) -> dict[str, float | None]:
    """Return the measures of a group of requests."""
    judged = [one for outcome in outcomes for one in outcome.judged]
    core = [one for one in judged if one.need.field in CORE]
    return {
        "requests": len(outcomes),
        "needed core facts in the block": share(one.place != "nowhere" for one in core),
        "needed core facts in the core": share(one.place == "core" for one in core),
        "all needed facts in the block": share(one.place != "nowhere" for one in judged),
        "requests with every core fact": share(
            all(one.place != "nowhere" for one in outcome.judged if one.need.field in CORE)
            for outcome in outcomes
        ),
        "private in the core": share(outcome.leaked for outcome in outcomes),
        "private in the block": share(outcome.shown for outcome in outcomes),
    }


def row(outcome: Outcome) -> Mapping[str, object]:
    """Return a request's row, for a file."""
    return {
        "id": outcome.request.id,
        "half": outcome.half,
        "query": outcome.request.query,
        "missing": [
            [one.need.field, one.need.has] for one in outcome.judged if one.place == "nowhere"
        ],
        "recalled": [one.need.field for one in outcome.judged if one.place == "recalled"],
        "leaked": outcome.leaked,
        "shown": outcome.shown,
        "tokens": outcome.tokens,
        "block": outcome.block,
    }


def _outcome(user_id: str, half: Half, request: Request, block: str, tokens: int) -> Outcome:
    core, rest = _parts(block)

    def place(need: Need) -> Literal["core", "recalled", "nowhere"]:
        if any(holds_all(line, need.has) for line in core):
            return "core"
        return "recalled" if any(holds_all(line, need.has) for line in rest) else "nowhere"

    def has(lines: Sequence[str]) -> bool:
        return any(holds_all(line, one.has) for line in lines for one in request.private)

    judged = [Judged(need, place(need)) for need in request.needs]
    return Outcome(user_id, half, request, block, tokens, judged, has(core), has([*core, *rest]))


def _parts(block: str) -> tuple[list[str], list[str]]:
    """Return the lines of the core and its instructions, and all others."""
    parts: tuple[list[str], list[str]] = ([], [])
    inside = False
    for line in block.splitlines():
        if line in _SECTIONS:
            inside = True
        elif line.startswith("</"):
            inside = False
        else:
            parts[0 if inside else 1].append(line)
    return parts
