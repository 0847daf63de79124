"""Rows of the ledger's tables, and the facts and vectors they hold.

A row is a NamedTuple whose fields are the names of its columns: it is selected by them and read by
them. (`sqlite3.Row` looks each name up again; it made reading facts slower by a tenth.)
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np
from pydantic import TypeAdapter

from semantic_memory.domain.bodies import Body, whole_text
from semantic_memory.domain.changes import FactVectors, Matrix
from semantic_memory.domain.decay import endurance
from semantic_memory.domain.errors import StoreCorruptError
from semantic_memory.domain.facts import Category, Cause, Fact, Source, Status
from semantic_memory.domain.ports import Trait, TraitRow
from semantic_memory.domain.readings import Reading
from semantic_memory.domain.trust import Trust
from semantic_memory.domain.values import NO_METADATA, normalised
from semantic_memory.ledger.remedies import HOW_TO_MEND
from semantic_memory.ledger.rules import places

MOST_ROWS = 2**63 - 1
"""A LIMIT without effect."""
_CHUNK = 500  # values bound to one statement; SQLite's own limit is far above
_BODY: TypeAdapter[Body] = TypeAdapter(Body)
_CATEGORIES = {category.value: category for category in Category}  # by far the most, and faster
_TRUSTS = {trust.value: trust for trust in Trust}
_STATUSES = {status.value: status for status in Status}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

ValueT = TypeVar("ValueT", str, bytes, int)
ParamsT = ParamSpec("ParamsT")
ResultT = TypeVar("ResultT")


class FactRow(NamedTuple):
    """The columns of `facts` that make a fact."""

    id: str
    user_id: str
    session_id: str | None
    position: int | None
    role: str | None
    speaker: str | None
    category: str
    status: str
    content: str
    content_key: bytes
    confidence: float
    importance: float
    created_at: int
    recorded_at: int
    valid_from: int
    valid_to: int | None
    confirmed_at: int | None
    last_used_at: int | None
    expires_at: int | None
    use_count: int
    superseded_by: str | None
    tags: str
    said_in: str
    detail: str
    body: str | None
    trust: str
    agent_id: str
    run_id: str
    version: int


class TraitColumns(NamedTuple):
    """The columns that ranking and filtering read: of `facts f`, its stems and `vectors v`."""

    num: int
    id: str
    session_id: str | None
    position: int | None
    role: str | None
    speaker: str | None
    category: str
    status: str
    content: str
    body: str | None
    confidence: float
    importance: float
    created_at: int
    confirmed_at: int | None
    valid_from: int
    valid_to: int | None
    expires_at: int | None
    last_used_at: int | None
    tags: str
    said_in: str
    agent_id: str
    run_id: str
    use_count: int
    revision: int
    following: str | None
    """The detail of a fact that follows others."""
    corroborations: int
    stems: str | None
    windows: int
    sentences: int
    data: bytes | None


FACT = ", ".join(f"f.{name}" for name in FactRow._fields)
"""Selects a FactRow of `facts f`."""
VECTORS = "v.windows, v.sentences, v.data"
_TRAIT = ", ".join(f"f.{name}" for name in TraitColumns._fields[:-6])


def traits(follows: str, corroborations: str, stems: str) -> str:
    """Return the selection of TraitColumns.

    `follows` tests whether a fact's detail may name others that it follows; `corroborations` counts
    those of a fact.
    """
    following = f"CASE WHEN {follows} THEN f.detail END"
    counted = f"CASE WHEN f.category = 'conversation' THEN 0 ELSE coalesce({corroborations}, 0) END"
    return f"{_TRAIT}, {following}, {counted}, {stems}, {VECTORS}"


def micros(moment: datetime) -> int:
    """Return a moment as microseconds since 1970."""
    return (moment - _EPOCH) // _MICROSECOND


def moment(value: int) -> datetime:
    """Return the moment `value` microseconds after 1970."""
    return _EPOCH + timedelta(microseconds=value)


def maybe_micros(moment: datetime | None) -> int | None:
    """Return a moment as microseconds since 1970, None for none."""
    return None if moment is None else micros(moment)


def maybe_moment(value: int | None) -> datetime | None:
    """Return the moment `value` microseconds after 1970, None for none."""
    return None if value is None else moment(value)


def content_key(content: str) -> bytes:
    """Return the digest that exact duplicates share."""
    return hashlib.blake2b(normalised(content).encode(), digest_size=12).digest()


def chunks(values: Sequence[ValueT]) -> Iterator[tuple[Sequence[ValueT], str]]:
    """Yield `values` in chunks to bind, each with its question marks."""
    for start in range(0, len(values), _CHUNK):
        chunk = values[start : start + _CHUNK]
        yield chunk, ", ".join("?" * len(chunk))


def of_user(
    query: str, values: tuple[Any, ...], user_id: str | None
) -> tuple[str, tuple[Any, ...]]:
    """Return a query narrowed to a user, with its values; unchanged without one."""
    if user_id is None:
        return query, values
    joint = " AND" if " WHERE " in query else " WHERE"
    return f"{query}{joint} user_id = ?", (*values, user_id)


def from_fact(fact: Fact) -> FactRow:
    """Return a fact as a row."""
    source = fact.source
    agent_id, run_id = fact.scope.columns
    detail = {
        "source": source.model_dump(mode="json", exclude_defaults=True),
        "corroborations": [
            other.model_dump(mode="json", exclude_defaults=True) for other in fact.corroborations
        ],
        "references": list(fact.references),
        "metadata": dict(fact.metadata),
        "contested_by": list(fact.contested_by),
        "ended_by": None if fact.ended_by is None else _of_cause(fact.ended_by),
        "perhaps_changed": [_of_cause(link) for link in fact.perhaps_changed],
        "follows": list(fact.follows),
        "rests_on": list(fact.rests_on),
        "reading": None if fact.reading is None else fact.reading.model_dump(mode="json"),
        "schema_version": fact.schema_version,
    }
    return FactRow(
        id=fact.id,
        user_id=fact.user_id,
        session_id=source.session_id,
        position=source.position,
        role=source.role,
        speaker=source.speaker,
        category=fact.category.value,
        status=fact.status.value,
        content=fact.content,
        content_key=content_key(fact.content),
        confidence=fact.confidence,
        importance=fact.importance,
        created_at=micros(fact.created_at),
        recorded_at=micros(fact.recorded_at),
        valid_from=micros(fact.valid_from),
        valid_to=maybe_micros(fact.valid_to),
        confirmed_at=maybe_micros(fact.confirmed_at),
        last_used_at=maybe_micros(fact.last_used_at),
        expires_at=maybe_micros(fact.expires_at),
        use_count=fact.use_count,
        superseded_by=fact.superseded_by,
        tags=" ".join(fact.tags),
        said_in=" ".join(places(fact.sources)),
        detail=json.dumps(
            {key: value for key, value in detail.items() if value}, ensure_ascii=False
        ),
        body=None if fact.body is None else fact.body.model_dump_json(),
        trust=fact.trust.value,
        agent_id=agent_id,
        run_id=run_id,
        version=fact.version,
    )


def decoding(decode: Callable[ParamsT, ResultT]) -> Callable[ParamsT, ResultT]:
    """Have a function that reads a row raise StoreCorruptError if the row is damaged."""

    @wraps(decode)
    def decoded(*row: ParamsT.args, **options: ParamsT.kwargs) -> ResultT:
        try:
            return decode(*row, **options)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            # without what pydantic and json quote, which may be the text of a memory
            raise StoreCorruptError(
                f"a record of the ledger is damaged ({type(error).__name__}): {HOW_TO_MEND}"
            ) from None

    return decoded


@decoding
def to_body(stored: str | None) -> Body | None:
    """Return the body of a row."""
    return None if stored is None else _BODY.validate_json(stored)


@decoding
def to_fact(row: FactRow) -> Fact:
    """Return the fact of a row, whose values were validated on their way in."""
    detail = json.loads(row.detail)
    return Fact.model_construct(
        id=row.id,
        user_id=row.user_id,
        content=row.content,
        category=_CATEGORIES.get(row.category) or Category(row.category),
        confidence=row.confidence,
        importance=row.importance,
        created_at=moment(row.created_at),
        recorded_at=moment(row.recorded_at),
        valid_from=moment(row.valid_from),
        valid_to=maybe_moment(row.valid_to),
        confirmed_at=maybe_moment(row.confirmed_at),
        last_used_at=maybe_moment(row.last_used_at),
        expires_at=maybe_moment(row.expires_at),
        use_count=row.use_count,
        status=_STATUSES[row.status],
        superseded_by=row.superseded_by,
        tags=tuple(row.tags.split()),
        references=tuple(detail.get("references", ())),
        source=Source.model_validate(detail.get("source", {})),
        corroborations=tuple(
            Source.model_validate(other) for other in detail.get("corroborations", ())
        ),
        metadata=detail.get("metadata", NO_METADATA),
        body=to_body(row.body),
        tombstone=None,
        trust=_TRUSTS[row.trust],
        agent_id=row.agent_id or None,
        run_id=row.run_id or None,
        contested_by=tuple(detail.get("contested_by", ())),
        ended_by=Cause.model_validate(detail["ended_by"]) if "ended_by" in detail else None,
        perhaps_changed=tuple(map(Cause.model_validate, detail.get("perhaps_changed", ()))),
        follows=tuple(detail.get("follows", ())),
        rests_on=tuple(detail.get("rests_on", ())),
        reading=Reading.model_validate(detail["reading"]) if "reading" in detail else None,
        version=row.version,
        schema_version=detail["schema_version"],
    )


def _of_cause(cause: Cause) -> dict[str, Any]:
    return cause.model_dump(mode="json", exclude_none=True)


@decoding
def to_old_fact(snapshot: str) -> Fact:
    """Return the fact of an earlier version."""
    return Fact.model_validate_json(snapshot)


@decoding
def to_trait(row: TraitColumns) -> TraitRow:
    """Return the trait row of its columns."""
    created = row.created_at / 1e6
    tags = tuple(row.tags.split())
    trait = Trait(
        num=row.num,
        id=row.id,
        session_id=row.session_id,
        position=row.position,
        role=row.role,
        speaker=row.speaker,
        category=_CATEGORIES.get(row.category) or Category(row.category),
        status=_STATUSES[row.status],
        content=row.content if row.body is None else whole_text(row.content, to_body(row.body)),
        confidence=row.confidence,
        importance=row.importance,
        created_at=created,
        stated_at=created if row.confirmed_at is None else max(created, row.confirmed_at / 1e6),
        used_at=-math.inf if row.last_used_at is None else row.last_used_at / 1e6,
        valid_from=row.valid_from / 1e6,
        valid_to=math.inf if row.valid_to is None else row.valid_to / 1e6,
        expires_at=math.inf if row.expires_at is None else row.expires_at / 1e6,
        tags=tags,
        said_in=tuple(row.said_in.split()),
        agent_id=row.agent_id,
        run_id=row.run_id,
        endurance=endurance(row.use_count, row.corroborations, tags),
        corroborations=row.corroborations,
        follows=tuple(json.loads(row.following).get("follows", ())) if row.following else (),
    )
    data = row.data
    vectors = None if data is None else to_vectors(row.windows, row.sentences, data)
    # a stem may be empty: that of "s"
    return TraitRow(trait, row.stems.split(" ") if row.stems else (), vectors)


def from_vectors(vectors: FactVectors) -> tuple[int, int, bytes]:
    """Return the number of windows, the number of sentences and the bytes of both."""
    both = np.concatenate((vectors.windows, vectors.sentences), dtype=np.float32)
    return len(vectors.windows), len(vectors.sentences), both.tobytes()


@decoding
def to_vectors(windows: int, sentences: int, data: bytes) -> FactVectors:
    """Return the vectors of a row of `vectors`."""
    both = np.frombuffer(data, np.float32).reshape(windows + sentences, -1)
    return FactVectors(both[:windows], both[windows:])


@decoding
def nearest_windows(stored: Sequence[tuple[int, int, bytes]], vector: Matrix) -> Matrix:
    """Return the cosine of `vector` to the nearest window of each row of `vectors`."""
    windows, sentences, data = zip(*stored, strict=True)
    counts = np.column_stack((windows, sentences)).ravel()
    cosines = np.frombuffer(b"".join(data), np.float32).reshape(counts.sum(), -1) @ vector
    of_windows = np.repeat(np.arange(len(counts)) % 2 == 0, counts)
    starts = np.cumsum([0, *windows[:-1]])
    return np.maximum.reduceat(cosines[of_windows], starts)
