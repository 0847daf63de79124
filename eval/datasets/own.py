"""Data sets of your own: one user a line, `{"memories": [...], "questions": [...]}`.

A memory is a text, or an object with `content` (or `text`) and any of `id`, `created_at`,
`session_id`, `role`, `name`, `category`, `confidence`, `importance`, `tags`. A memory with a
`session_id` is a message of that conversation; the others are facts. A question is
`{query, relevant_ids}` and any of `id`, `kind`, `asked_at`, `answer`; a question without relevant
ids can't be answered and is measured separately. A user may have a `writer`, and be `held` for
measuring only.

A missing id is the position in the list, from 0. An undated memory is a minute later than the one
before it; an undated question is asked a day after the last memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

from pydantic import AliasChoices, BeforeValidator, Field

from eval.datasets import DataSet, History, Memory, Question
from eval.datasets.files import read_text
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.facts import Category
from semantic_memory.domain.messages import Role
from semantic_memory.domain.refusals import parse
from semantic_memory.domain.values import Content, Identifier, Name, Tag, Timestamp, Value
from semantic_memory.domain.values import Unit as Share

_START = datetime(2026, 1, 1, tzinfo=UTC)
_Id = Annotated[Identifier, BeforeValidator(lambda given: str(given))]


class _Memory(Value):
    content: Annotated[Content, Field(validation_alias=AliasChoices("content", "text"))]
    id: _Id | None = None
    created_at: Timestamp | None = None
    session_id: Identifier | None = None
    role: Role = "user"
    name: Name | None = None
    category: Category = Category.PERSONAL
    confidence: Share = 1.0
    importance: Share = 0.5
    tags: tuple[Tag, ...] = ()


class _Question(Value):
    query: Content
    relevant_ids: tuple[_Id, ...]
    id: str | None = None
    kind: str = "all"
    asked_at: Timestamp | None = None
    answer: str = ""


class _User(Value):
    memories: tuple[str | dict[str, Any], ...] = Field(min_length=1)
    questions: tuple[dict[str, Any], ...] = Field(min_length=1)
    user_id: Identifier | None = None
    writer: str = ""
    held: bool = False


def load_own(path: Path) -> DataSet:
    """Load the users of a JSONL file, plain or gzipped. Raises InvalidInputError with the line."""
    lines = read_text(path).splitlines()
    histories = [
        _history(number, f"{path} line {number}", line)
        for number, line in enumerate(lines, start=1)
        if line.strip()
    ]
    if not histories:
        raise InvalidInputError(f"{path} holds no user: one JSON object a line is expected")
    users = [history.user_id for history in histories]
    if len(set(users)) < len(users):
        raise InvalidInputError(f"{path}: two lines have the same user_id")
    return DataSet("own", histories, "a store of your own: one user a line")


def _history(number: int, place: str, line: str) -> History:
    try:
        values = json.loads(line)
    except json.JSONDecodeError as error:
        raise InvalidInputError(f"{place} is not JSON: {error}") from None
    if not isinstance(values, dict):
        raise InvalidInputError(f"{place} is not an object with memories and questions")
    user = parse(_User, place, values)
    memories = list(_memories(user, place))
    known = {memory.id for memory in memories}
    if len(known) < len(memories):
        raise InvalidInputError(f"{place}: two memories have the same id")
    user_id = user.user_id or f"user-{number}"
    last = max(memory.said_at for memory in memories) + timedelta(days=1)
    questions = []
    for order, given in enumerate(user.questions):
        question = parse(_Question, f"{place}: question {order}", given)
        if unknown := set(question.relevant_ids) - known:
            raise InvalidInputError(
                f"{place}: {question.query!r} names ids that no memory has: {sorted(unknown)}"
            )
        questions.append(
            Question(
                id=f"{user_id}/{question.id or order}",
                kind=question.kind if question.relevant_ids else "unanswerable",
                text=question.query,
                relevant=frozenset(question.relevant_ids),
                asked_at=question.asked_at or last,
                answer=question.answer,
            )
        )
    return History(user_id, memories, questions)


def _memories(user: _User, place: str) -> Iterator[Memory]:
    said_at = _START
    for order, one in enumerate(user.memories):
        values = {"content": one} if isinstance(one, str) else one
        given = parse(_Memory, f"{place}: memory {order}", values)
        said_at = given.created_at or said_at + timedelta(minutes=1)
        yield Memory(
            id=given.id or str(order),
            text=given.content,
            said_at=said_at,
            session_id=given.session_id,
            role=given.role,
            speaker=given.name,
            category=given.category,
            confidence=given.confidence,
            importance=given.importance,
            tags=given.tags,
        )
