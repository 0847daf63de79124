"""Reader of the file of the MCP reference memory server: an entity or a relation a line.

The file has no times and no ids: facts get the time of the file, and ids by their texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from pydantic import Field

from ingest.readers.records import (
    Foreign,
    Found,
    IncomingRecord,
    given,
    parsed,
    read_each,
    stated,
)
from semantic_memory.domain.english.tables import phrases
from semantic_memory.domain.patterns import regex

_SPEAKER = regex(rf"\b{phrases('pronouns.speaker')}\b", re.IGNORECASE)
_USER = "default_user"
"""The entity that the server's instructions name for the user."""


class _Entity(Foreign):
    name: str = Field(min_length=1)
    entity_type: str | None = Field(None, alias="entityType")
    observations: Sequence[str]


class _Relation(Foreign):
    source: str = Field(min_length=1, alias="from")
    target: str = Field(min_length=1, alias="to")
    relation: str = Field(min_length=1, alias="relationType")


def read_mcp_memory(lines: Iterable[bytes], written: datetime) -> Iterator[Found]:
    """Read each observation and each relation as a fact that names what it is about."""
    return read_each(lines, "line", partial(_line, written=written))


def is_graph_line(value: Any) -> bool:
    """Return True for an entity or a relation."""
    return isinstance(value, Mapping) and (
        (value.get("type") == "entity" and "observations" in value)
        or (value.get("type") == "relation" and "relationType" in value)
    )


def _line(line: bytes, place: str, written: datetime) -> Iterator[Found]:
    if not line.strip():
        return
    value = json.loads(line.decode("utf-8"))
    match value:
        case {"type": "entity"}:
            yield from _observations(parsed(_Entity, value), place, written)
        case {"type": "relation"}:
            one = parsed(_Relation, value)
            key = (one.source, one.relation, one.target)
            parts = ("" if one.source == _USER else one.source, one.relation, one.target)
            origin = {"from": one.source, "relation": one.relation, "to": one.target}
            yield _record(place, key, " ".join(map(_spaced, parts)).strip(), origin, written)
        case _:
            raise ValueError("is no entity and no relation of the MCP memory server")


def _observations(entity: _Entity, place: str, written: datetime) -> Iterator[Found]:
    name = _spaced(entity.name)
    origin = given(entity=entity.name, entity_type=entity.entity_type)
    for text in entity.observations:
        content = text if _names(name, text) or entity.name == _USER else f"{name}: {text}"
        yield _record(place, (entity.name, text), content, origin, written)


def _record(
    place: str, key: tuple[str, ...], content: str, origin: Mapping[str, str], written: datetime
) -> IncomingRecord:
    statement = stated(
        system="mcp-memory", key=key, content=content, created_at=written, origin=origin
    )
    return IncomingRecord(None, place, statement)


def _names(name: str, text: str) -> bool:
    """Return True for a text in the third person that begins with a name.

    >>> _names("Ann", "Ann keeps bees"), _names("Ann", "Annual leave"), _names("Al", "Al: I sail")
    (True, False, False)
    """
    begins = re.match(rf"{re.escape(name)}(?!\w)", text, re.IGNORECASE)
    return begins is not None and not _SPEAKER.search(text)


def _spaced(name: str) -> str:
    return name.replace("_", " ")
