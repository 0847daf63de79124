"""Between facts and the ledger's columns."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from semantic_memory.domain.changes import FactVectors
from semantic_memory.domain.decay import endurance
from semantic_memory.domain.facts import Category, Fact, Source, Status
from semantic_memory.domain.filters import Filters
from semantic_memory.domain.ports import Trait, TraitRow
from semantic_memory.domain.values import normalised

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

FACT_COLUMNS = (
    "id, user_id, session_id, position, role, speaker, category, status, content, content_key,"
    " confidence, importance, created_at, recorded_at, valid_from, valid_to, confirmed_at,"
    " last_used_at, use_count, superseded_by, tags, said_in, detail, version"
)
FACT = ", ".join(f"f.{name.strip()}" for name in FACT_COLUMNS.split(","))
"""The same, of `facts f`."""
TRAIT_COLUMNS = (
    "f.num, f.id, f.session_id, f.position, f.role, f.speaker, f.category, f.status, f.content,"
    " f.confidence, f.importance, f.created_at, f.confirmed_at, f.valid_from, f.valid_to, f.tags,"
    " f.said_in, f.use_count,"
    " CASE WHEN f.category = 'conversation' THEN 0"
    " ELSE coalesce(json_array_length(f.detail, '$.corroborations'), 0) END,"
    " v.windows, v.sentences, v.data"
)


def micros(moment: datetime) -> int:
    """Microseconds since 1970."""
    return (moment - _EPOCH) // _MICROSECOND


def moment(value: int) -> datetime:
    """The moment `value` microseconds after 1970."""
    return _EPOCH + timedelta(microseconds=value)


def _maybe(value: int | None) -> datetime | None:
    return None if value is None else moment(value)


def content_key(content: str) -> bytes:
    """What exact duplicates have in common."""
    return hashlib.blake2b(normalised(content).encode(), digest_size=12).digest()


def owner_token(user_id: str) -> str:
    """The user as one word of the full-text index; letters only, so that stemming can't touch it.

    A stem never ends in `z`, whatever comes before it.
    """
    digest = hashlib.blake2b(user_id.encode(), digest_size=10).hexdigest()
    return f"u{digest}z"


def said_in(sources: Iterable[Source]) -> str:
    """`session/message` of every message named by `sources`."""
    return " ".join(
        dict.fromkeys(f"{s.session_id or ''}/{m}" for s in sources for m in s.message_ids)
    )


def from_fact(fact: Fact) -> tuple[Any, ...]:
    """The values of FACT_COLUMNS."""
    source = fact.source
    detail = {
        "source": source.model_dump(mode="json", exclude_defaults=True),
        "corroborations": [
            other.model_dump(mode="json", exclude_defaults=True) for other in fact.corroborations
        ],
        "references": list(fact.references),
        "metadata": dict(fact.metadata),
        "schema_version": fact.schema_version,
    }
    return (
        fact.id,
        fact.user_id,
        source.session_id,
        source.position,
        source.role,
        source.speaker,
        fact.category.value,
        fact.status.value,
        fact.content,
        content_key(fact.content),
        fact.confidence,
        fact.importance,
        micros(fact.created_at),
        micros(fact.recorded_at),
        micros(fact.valid_from),
        None if fact.valid_to is None else micros(fact.valid_to),
        None if fact.confirmed_at is None else micros(fact.confirmed_at),
        None if fact.last_used_at is None else micros(fact.last_used_at),
        fact.use_count,
        fact.superseded_by,
        " ".join(fact.tags),
        said_in(fact.sources),
        json.dumps({key: value for key, value in detail.items() if value}, ensure_ascii=False),
        fact.version,
    )


def to_fact(row: tuple[Any, ...]) -> Fact:
    """A fact from the values of FACT_COLUMNS. They were validated on their way in."""
    detail = json.loads(row[22])
    return Fact.model_construct(
        id=row[0],
        user_id=row[1],
        content=row[8],
        category=Category(row[6]),
        confidence=row[10],
        importance=row[11],
        created_at=moment(row[12]),
        recorded_at=moment(row[13]),
        valid_from=moment(row[14]),
        valid_to=_maybe(row[15]),
        confirmed_at=_maybe(row[16]),
        last_used_at=_maybe(row[17]),
        use_count=row[18],
        status=Status(row[7]),
        superseded_by=row[19],
        tags=tuple(row[20].split()),
        references=tuple(detail.get("references", ())),
        source=Source.model_validate(detail.get("source", {})),
        corroborations=tuple(
            Source.model_validate(other) for other in detail.get("corroborations", ())
        ),
        metadata=detail.get("metadata", {}),
        version=row[23],
        schema_version=detail["schema_version"],
    )


def to_trait(row: tuple[Any, ...]) -> TraitRow:
    """A trait row from the values of TRAIT_COLUMNS."""
    created = row[11] / 1e6
    tags = tuple(row[15].split())
    trait = Trait(
        num=row[0],
        id=row[1],
        session_id=row[2],
        position=row[3],
        role=row[4],
        speaker=row[5],
        category=row[6],
        status=row[7],
        content=row[8],
        confidence=row[9],
        importance=row[10],
        created_at=created,
        stated_at=created if row[12] is None else row[12] / 1e6,
        valid_from=row[13] / 1e6,
        valid_to=math.inf if row[14] is None else row[14] / 1e6,
        tags=tags,
        said_in=tuple(row[16].split()),
        endurance=endurance(row[17], row[18], tags),
    )
    return TraitRow(trait, None if row[21] is None else to_vectors(row[19], row[20], row[21]))


def from_vectors(vectors: FactVectors) -> tuple[int, int, bytes]:
    """Windows, sentences and the bytes of both."""
    both = np.concatenate((vectors.windows, vectors.sentences), dtype=np.float32)
    return len(vectors.windows), len(vectors.sentences), both.tobytes()


def to_vectors(windows: int, sentences: int, data: bytes) -> FactVectors:
    """The vectors behind the values of the `vectors` table."""
    both = np.frombuffer(data, dtype=np.float32).reshape(windows + sentences, -1)
    return FactVectors(windows=both[:windows], sentences=both[windows:])


def where(
    user_id: str | None, filters: Filters, status: Status | None = None
) -> tuple[str, list[Any]]:
    """The condition on `facts f` that says what `Filters.admits` says, or asks for a status."""
    condition, values = narrowed(
        user_id, filters.tags, filters.since, filters.until, filters.session_id
    )
    terms = [condition] if condition else []

    def both(term: str, *bound: Any) -> None:
        terms.append(term)
        values.extend(bound)

    if status is not None:
        both("f.status = ?", status.value)
    elif filters.as_of is None:
        both("f.status = 'active'")
    if filters.as_of is not None:
        at = micros(filters.as_of)
        both("f.status IN ('active', 'superseded')")
        both("f.valid_from <= ? AND (f.valid_to IS NULL OR ? < f.valid_to)", at, at)
    if filters.categories is not None:
        marks = ", ".join("?" * len(filters.categories))
        both(f"f.category IN ({marks})", *sorted(filters.categories))
        if Category.CONVERSATION not in filters.categories:
            both("f.category <> 'conversation'")  # so that SQLite may use the indexes of facts
    if filters.min_confidence > 0:
        both("f.confidence >= ?", filters.min_confidence)
    return " AND ".join(terms), values


def narrowed(
    user_id: str | None,
    tags: Iterable[str],
    since: datetime | None,
    until: datetime | None,
    session_id: str | None,
) -> tuple[str, list[Any]]:
    """The condition on `facts f` for whose, about what, when said and where; "" for all."""
    terms: list[str] = []
    values: list[Any] = []

    def both(term: str, *bound: Any) -> None:
        terms.append(term)
        values.extend(bound)

    if user_id is not None:
        both("f.user_id = ?", user_id)
    if since is not None:
        both("f.created_at >= ?", micros(since))
    if until is not None:
        both("f.created_at < ?", micros(until))
    if session_id is not None:
        both("f.session_id = ?", session_id)
    for tag in tags:
        # A tag holds neither space nor any of LIKE's and GLOB's marks save '_', hence instr.
        both(
            "(instr(' ' || f.tags || ' ', ' ' || ? || ' ')"
            " OR instr(' ' || f.tags, ' ' || ? || '.'))",
            tag,
            tag,
        )
    return " AND ".join(terms), values
