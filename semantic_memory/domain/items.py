"""Items: JSON values under exact keys, beside the facts.

An item is kept as it was put: it merges with no other, contradicts none and doesn't fade.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field, StringConstraints

from semantic_memory.domain.fields import MOST_TTL
from semantic_memory.domain.item_paths import WHOLE_VALUE, Path
from semantic_memory.domain.values import (
    MAX_CONTENT_BYTES,
    Identifier,
    Timestamp,
    Value,
    has_surrogate,
)

MOST_DEPTH = 64
"""Levels of a value."""
MOST_LABELS = 32
MOST_PATHS = 32
ANY = "*"
"""Stands for any one label, where namespaces are asked for."""


def _plain(text: object) -> object:
    if isinstance(text, str):
        if "\x00" in text:
            raise ValueError("contains a NUL character")
        if has_surrogate(text):
            raise ValueError("contains a lone surrogate")
    return text


_NO_NUL = Field(json_schema_extra={"pattern": r"^[^\x00]+$"})

Label = Annotated[
    str,
    BeforeValidator(_plain),
    StringConstraints(min_length=1, max_length=256, strict=True),
    _NO_NUL,
]
"""A level of a namespace: any text of 1-256 characters without NUL."""
Key = Annotated[
    str,
    BeforeValidator(_plain),
    StringConstraints(min_length=1, max_length=1_024, strict=True),
    _NO_NUL,
]
"""The key of an item in its namespace: any text of 1-1,024 characters without NUL."""
Prefix = Annotated[tuple[Label, ...], Field(max_length=MOST_LABELS)]
"""The beginning of namespaces, by whole labels; empty, of all."""
Namespace = Annotated[tuple[Label, ...], Field(min_length=1, max_length=MOST_LABELS)]

Ttl = Annotated[float, Field(gt=0, le=MOST_TTL, allow_inf_nan=False, strict=True)]
"""Seconds to live, up to 100 years."""


def _exact(value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError("must be an object")
    found: dict[str, Any] = _copied(value, 1)
    try:
        size = len(json.dumps(found, ensure_ascii=False).encode())
    except ValueError as error:  # whole numbers of thousands of digits
        raise ValueError(f"can't be written as JSON: {error}") from None
    if size > MAX_CONTENT_BYTES:
        raise ValueError(f"is {size:,} bytes as JSON; the limit is {MAX_CONTENT_BYTES:,}")
    return found


def _copied(value: object, depth: int) -> Any:
    if depth > MOST_DEPTH:
        raise ValueError(f"is nested deeper than {MOST_DEPTH} levels")
    match value:
        case None | bool() | int() | float() | str():
            return _checked(value)
        case list() | tuple():
            return [_copied(one, depth + 1) for one in value]
        case Mapping():
            for name in value:
                if not isinstance(name, str):
                    raise ValueError(f"holds the key {name!r}, which must be a text")
            return {_copied(name, depth): _copied(one, depth + 1) for name, one in value.items()}
    raise ValueError(f"holds a {type(value).__name__}, which JSON has not")


def _checked(value: float | str | None) -> float | str | None:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"holds {value!r}, which is no number in JSON")
    if isinstance(value, str) and has_surrogate(value):
        raise ValueError("holds a text with a lone surrogate")
    return value


ItemValue = Annotated[dict[str, Any], BeforeValidator(_exact)]
"""A JSON object of up to 1,000,000 bytes, kept exactly: whole numbers of any size, no NaN."""


class Item(Value):
    """A value under an exact key."""

    user_id: Identifier
    """The owner, with whom it is forgotten and exported."""
    namespace: Namespace
    key: Key
    value: ItemValue
    created_at: Timestamp
    updated_at: Timestamp
    """When it was put last."""
    ttl: Ttl | None = None
    """Seconds that it is kept after it was put, or read; None for ever."""
    expires_at: Timestamp | None = None
    index: tuple[Path, ...] = (WHOLE_VALUE,)
    """Paths of the texts that `search` finds it by; none, it isn't found."""

    def holds(self, now: datetime) -> bool:
        """Return True unless it has expired."""
        return self.expires_at is None or self.expires_at > now


class ItemHit(Value):
    """An item that was found, with its score."""

    item: Item
    score: float
    """By meaning the cosine similarity, by words the share of the query's words, or both merged."""


By = Literal["both", "meaning", "words"]


BEFORE_ALL = datetime.min.replace(tzinfo=UTC)
"""A time at which no item has expired."""


class ItemScope(NamedTuple):
    """The items of namespaces that begin with a prefix, without those that have expired."""

    user_id: str | None
    """None: of every user."""
    prefix: tuple[str, ...]
    now: datetime

    def covers(self, item: Item) -> bool:
        """Return True for an item in the scope."""
        return (
            self.user_id in (None, item.user_id)
            and item.namespace[: len(self.prefix)] == self.prefix
            and item.holds(self.now)
        )


def begins(namespace: Sequence[str], labels: Sequence[str]) -> bool:
    """Return True if a namespace begins with labels, of which `*` stands for any one."""
    return len(namespace) >= len(labels) and all(
        label in (ANY, own) for own, label in zip(namespace, labels, strict=False)
    )
