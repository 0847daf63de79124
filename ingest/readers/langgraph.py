"""Reader of the items of a LangGraph store: a list of `Item.dict()`, or an object a line.

The rows of its tables are read too, with `prefix` in place of `namespace`. The items stand where
`SemanticMemoryStore` keeps its own, below its root.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from io import BufferedReader
from typing import Any

from pydantic import AliasChoices, Field, field_validator

from ingest.readers.documents import items_or_lines
from ingest.readers.records import Entry, Foreign, Found, IncomingRecord, parsed, read_each
from semantic_memory.domain.values import Timestamp

ROOT = "langgraph"
"""The first label of the namespaces of `SemanticMemoryStore`, unless it is given another."""
_MINUTE = 60.0


class _Item(Foreign):
    namespace: tuple[str, ...] = Field(validation_alias=AliasChoices("namespace", "prefix"))
    key: str
    value: Mapping[str, Any]
    created_at: Timestamp | None = None
    updated_at: Timestamp | None = None
    expires_at: Timestamp | None = None
    ttl_minutes: float | None = None

    @field_validator("namespace", mode="before")
    @classmethod
    def _labels(cls, value: Any) -> Any:
        return value.split(".") if isinstance(value, str) else value


def read_langgraph(file: BufferedReader, written: datetime) -> Iterator[Found]:
    """Read items with their keys and times; `written` dates what has no time."""
    return read_each(items_or_lines(file), "item", partial(_item, written=written))


def _item(value: Any, place: str, written: datetime) -> Iterator[Found]:
    item = parsed(_Item, value)
    created = item.created_at or item.updated_at or written
    entry = parsed(
        Entry,
        {
            "namespace": (ROOT, *item.namespace),
            "key": item.key,
            "value": item.value,
            "created_at": created,
            "updated_at": item.updated_at or created,
            "ttl": None if item.ttl_minutes is None else item.ttl_minutes * _MINUTE,
            "expires_at": item.expires_at,
        },
    )
    yield IncomingRecord(None, place, entry)
