"""Read the answer of a language model as an `Extraction`, or say why it can't be used.

Nothing of an answer is trusted: each part is validated by itself, so one that is wrong costs no
other, and the parts left out are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar

import json_repair
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from semantic_memory.domain.extraction import Candidate, Extraction, HistoryLine
from semantic_memory.domain.facts import Category
from semantic_memory.domain.messages import Message
from semantic_memory.domain.profile import WRITTEN_FIELDS, ProfileField
from semantic_memory.domain.values import Content, Value

Reason = Literal["malformed", "refused", "rejected", "too_long"]


class AnswerError(Exception):
    """A model's answer can't be used."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


class _Part(BaseModel):
    """A part of the answer. Strict schemas forbid further keys; answers may have them all the same.

    All fields are required, as strict schemas must have it.
    """

    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})


class _Fact(_Part):
    statement: str
    category: Literal[
        "preference",
        "personal",
        "feedback",
        "project",
        "technical",
        "decision",
        "finding",
        "reference",
    ]
    confidence: float
    messages: list[int]


class _History(_Part):
    line: str
    messages: list[int]


class _Profile(_Part):
    work_context: str | None
    personal_context: str | None
    top_of_mind: str | None


class _Answer(_Part):
    facts: list[_Fact]
    profile: _Profile
    history: list[_History]


_TEXT: TypeAdapter[str] = TypeAdapter(Content)

SCHEMA: Mapping[str, Any] = _Answer.model_json_schema()
"""JSON schema of the answer, in the subset that strict structured outputs take."""


def read_answer(text: str, messages: Sequence[Message]) -> Extraction:
    """Return what the model found in `messages`, which it knows by their numbers from 1.

    Raises AnswerError: `malformed` (nothing to be used).
    """
    try:
        parts = json_repair.loads(text)
    except RecursionError:
        raise AnswerError("malformed") from None
    if isinstance(parts, list):
        parts = {"facts": parts}  # models leave out what encloses a single list
    if not isinstance(parts, dict) or not isinstance(parts.get("facts"), list):
        raise AnswerError("malformed")
    refused: Counter[str] = Counter()
    facts = parts["facts"]
    if _breaks_off(text):
        refused["cut off"] += len(facts[-1:])
        facts = facts[:-1]
    candidates = [
        candidate
        for fact in _valid(_Fact, facts, refused)
        if (candidate := _candidate(fact, messages, refused)) is not None
    ]
    if parts["facts"] and not candidates:
        raise AnswerError("malformed")
    history = [
        line
        for item in _valid(_History, parts.get("history"), refused)
        if (line := _history(item, messages, refused)) is not None
    ]
    return Extraction(
        candidates=tuple(candidates),
        profile=_profile(parts.get("profile")),
        history=tuple(history),
        refused=+refused,
    )


def joined(extractions: Sequence[Extraction]) -> Extraction:
    """Join the extractions of stretches that follow each other; the later profile wins."""
    refused: Counter[str] = Counter()
    profile: dict[ProfileField, str] = {}
    for extraction in extractions:
        refused.update(extraction.refused)
        profile.update(extraction.profile)
    return Extraction(
        candidates=tuple(item for each in extractions for item in each.candidates),
        profile=profile,
        history=tuple(item for each in extractions for item in each.history),
        refused=refused,
    )


def _breaks_off(text: str) -> bool:
    """Return whether an answer ends in the middle of a value, which repairing would close."""
    return '"' in text[text.rfind("}") + 1 :]


PartT = TypeVar("PartT", bound=_Part)
ValueT = TypeVar("ValueT", bound=Value)


def _valid(part: type[PartT], items: Any, refused: Counter[str]) -> Iterable[PartT]:
    for item in items if isinstance(items, list) else ():
        try:
            yield part.model_validate(item)
        except ValidationError:
            refused["malformed"] += 1


def _candidate(fact: _Fact, messages: Sequence[Message], refused: Counter[str]) -> Candidate | None:
    values = {
        "content": fact.statement.strip(),
        "category": Category(fact.category),
        "confidence": fact.confidence,
    }
    return _sourced(Candidate, values, fact.messages, messages, refused)


def _history(
    item: _History, messages: Sequence[Message], refused: Counter[str]
) -> HistoryLine | None:
    return _sourced(HistoryLine, {"content": item.line.strip()}, item.messages, messages, refused)


def _sourced(
    value: type[ValueT],
    values: dict[str, Any],
    numbers: Sequence[int],
    messages: Sequence[Message],
    refused: Counter[str],
) -> ValueT | None:
    """Return a value with the ids of its messages; None if it names no message of these."""
    numbers = list(dict.fromkeys(numbers))
    known = [number for number in numbers if 1 <= number <= len(messages)]
    refused["unknown message"] += len(numbers) - len(known)
    if not known:
        refused["no source"] += 1
        return None
    try:
        ids = tuple(messages[number - 1].id for number in known)
        return value.model_validate({**values, "message_ids": ids})
    except ValidationError:
        refused["malformed"] += 1
        return None


def _profile(fields: Any) -> dict[ProfileField, str]:
    profile: dict[ProfileField, str] = {}
    for name in WRITTEN_FIELDS if isinstance(fields, dict) else ():
        try:
            profile[name] = _TEXT.validate_python(fields.get(name))
        except ValidationError:
            continue  # null, most often: nothing new
    return profile
