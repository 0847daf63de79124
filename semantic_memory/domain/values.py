"""The types of the fields of records: identifiers, times, texts and tags, with their checks.

Times are timezone-aware and in UTC; a naive datetime is taken to be in UTC.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
)

from semantic_memory.domain.patterns import regex

MAX_CONTENT_BYTES = 1_000_000
"""Size limit of one memory, in UTF-8 bytes."""
_LONGEST_CACHED = 2_000  # characters
_RANDOM = regex(r"[0-9a-f]{32}")

MAX_QUERY_BYTES = 8_192
"""Size limit of a query, in UTF-8 bytes."""

SCHEMA_VERSION = 1
"""Schema version written into exports and session logs; readers refuse newer ones."""


def _utc(value: datetime) -> datetime:
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise ValueError("is outside the years 1 to 9999 in UTC") from None


def _written(value: object) -> object:
    # Seconds or milliseconds? Pydantic would guess.
    if isinstance(value, int | float):
        raise ValueError("must be written as a date and time, like 2026-05-10T12:00:00Z")
    return value


def _storable(text: str) -> str:
    """Reject text that stores and model APIs can't carry: NUL, lone surrogates, blank, too long."""
    if "\x00" in text:
        raise ValueError(f"contains a NUL character at position {text.index(chr(0))}; remove it")
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise ValueError(
            f"contains a lone surrogate at position {error.start}; decode the text properly first"
        ) from None
    if not text.strip():
        raise ValueError("is empty")
    if size > MAX_CONTENT_BYTES:
        raise ValueError(
            f"is {size:,} bytes; the limit is {MAX_CONTENT_BYTES:,}: split it into parts"
        )
    return text


def _tag(text: str) -> str:
    tag = text.strip().casefold()
    if not 1 <= len(tag) <= 64 or not re.fullmatch(r"[\w+#-]+(\.[\w+#-]+)*", tag):
        raise ValueError(
            f"tag {text[:80]!r} must be 1-64 letters, digits and '_-+#', with '.' between levels"
        )
    return tag


def _encodable(values: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    try:
        json.dumps(values, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except ValueError as error:
        raise ValueError(f"can't be written as JSON: {error}") from None
    return values


Timestamp = Annotated[datetime, BeforeValidator(_written), AfterValidator(_utc)]
DAY = 86_400.0
"""Seconds of a day."""


Identifier = Annotated[
    str, StringConstraints(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9_.@:+\-]+$")
]
"""1-128 letters, digits and `_ . @ : + -`; never put into paths or SQL unescaped."""


_STORABLE_SCHEMA: dict[str, JsonValue] = {"minLength": 1, "pattern": r"^[^\x00]*[^\s\x00][^\x00]*$"}


Content = Annotated[
    str,
    AfterValidator(_storable),
    Field(json_schema_extra={**_STORABLE_SCHEMA, "maxLength": MAX_CONTENT_BYTES}),
]


def _erased_or_storable(text: str) -> str:
    return text and _storable(text)


Kept = Annotated[
    str,
    AfterValidator(_erased_or_storable),
    Field(json_schema_extra={"maxLength": MAX_CONTENT_BYTES}),
]
"""The content of a memory, which is empty once it is forgotten."""


def _asked(text: str) -> str:
    size = len(_storable(text).encode("utf-8"))
    if size > MAX_QUERY_BYTES:
        raise ValueError(
            f"is {size:,} bytes; the limit of a query is {MAX_QUERY_BYTES:,}: ask about less at"
            " once"
        )
    return text


Question = Annotated[
    str,
    AfterValidator(_asked),
    Field(json_schema_extra={**_STORABLE_SCHEMA, "maxLength": MAX_QUERY_BYTES}),
]
"""A text to search for, of up to 8,192 bytes."""


Passage = Annotated[
    str,
    StringConstraints(max_length=2_000),
    AfterValidator(_storable),
    Field(json_schema_extra=_STORABLE_SCHEMA),
]
"""A part of a fact's body, of up to 2,000 characters."""


Name = Annotated[
    str,
    StringConstraints(max_length=128),
    AfterValidator(_storable),
    Field(json_schema_extra=_STORABLE_SCHEMA),
]


Tag = Annotated[
    str,
    AfterValidator(_tag),
    Field(json_schema_extra={"pattern": r"^[\w+#-]+(\.[\w+#-]+)*$", "maxLength": 64}),
]


Metadata = Annotated[Mapping[str, JsonValue], AfterValidator(_encodable)]


def _refuse(*_: object, **__: object) -> Any:
    raise TypeError("facts are frozen: give a copy of this one other metadata by `model_copy`")


class _Nothing(dict[str, JsonValue]):
    __setitem__ = setdefault = update = __ior__ = _refuse


NO_METADATA: Mapping[str, JsonValue] = _Nothing()
"""Metadata of a stored fact that has none. All readers share it, so it stays empty."""


Unit = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False, strict=True)]


def number(value: object) -> object:
    """Return a number as it is. Raises ValueError for a boolean or a text, which pydantic reads.

    It stands behind the limits in an `Annotated`, or the JSON schema doesn't show them.
    """
    if isinstance(value, bool | str):
        raise ValueError("must be a number")
    return value


Whole = Annotated[int, BeforeValidator(number)]


def no_boolean(value: object) -> object:
    """Return a value as it is. Raises ValueError for a boolean, which pydantic reads as a number.

    It stands behind the limits in an `Annotated`, as `number` does.
    """
    if isinstance(value, bool):
        raise ValueError("must be a number")
    return value


Count = Annotated[int, BeforeValidator(no_boolean)]
"""As `Whole`; also written as a text, as in a URL."""


Real = Annotated[float, Field(strict=True, allow_inf_nan=False)]


def has_surrogate(text: str) -> bool:
    """Return True for a text with a lone surrogate, which UTF-8 can't encode."""
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)


def clipped(text: str, most_bytes: int) -> str:
    """Return the beginning and the end of a text, at most so many UTF-8 bytes.

    >>> clipped("one two three four", 10)
    'one t four'
    """
    written = text.encode("utf-8")
    if len(written) <= most_bytes:
        return text
    half = most_bytes // 2
    start, end = written[:half], written[half - most_bytes :]
    return start.decode(errors="ignore") + end.decode(errors="ignore")


def new_id() -> str:
    """Return a random identifier of 32 hexadecimal digits, more than a derived one has."""
    return uuid.uuid4().hex


def is_random(identifier: str) -> bool:
    """Return True if an identifier has the form of random ones, which no derived one has.

    >>> is_random(new_id()), is_random(derived_id("maya", "monday"))
    (True, False)
    """
    return _RANDOM.fullmatch(identifier) is not None


def derived_id(*parts: str) -> str:
    """Return the identifier of `parts`, 24 hexadecimal digits; the same parts give the same one."""
    joined = "\x1f".join(parts).encode("utf-8")
    return hashlib.blake2b(joined, digest_size=12).hexdigest()


def normalised(text: str) -> str:
    """Fold a text for exact comparison: NFKC, case, white space and end marks."""
    # long ones, of up to a megabyte, would fill gigabytes of the cache
    return _folded_once(text) if len(text) <= _LONGEST_CACHED else _folded(text)


def _folded(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.split()).strip(" .!;,。।¡")


_folded_once = lru_cache(maxsize=4_096)(_folded)


class Value(BaseModel):
    """Base of every record: frozen, closed to unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def covers(tag: str, other: str) -> bool:
    """Return True if `other` is `tag` or lies below it."""
    return other == tag or other.startswith(tag + ".")


def levels(tag: str) -> list[str]:
    """Return the tags that cover `tag`, itself last.

    >>> levels("security.tls")
    ['security', 'security.tls']
    """
    parts = tag.split(".")
    return [".".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
