"""Reader of the edges of a graph of Zep or Graphiti: a list, or an object's `edges`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from io import BufferedReader
from typing import Any

from pydantic import AliasChoices, Field

from ingest.readers.documents import items
from ingest.readers.records import (
    Foreign,
    Found,
    IncomingRecord,
    given,
    parsed,
    read_each,
    stated,
)
from semantic_memory.domain.values import Timestamp


class _Edge(Foreign):
    uuid: str = Field(validation_alias=AliasChoices("uuid", "uuid_"))
    fact: str
    name: str | None = None
    group_id: str | None = Field(None, validation_alias=AliasChoices("group_id", "graph_uuid"))
    source_node_uuid: str | None = None
    target_node_uuid: str | None = None
    episodes: Sequence[str] | None = Field(
        None, validation_alias=AliasChoices("episodes", "episode_uuids")
    )
    attributes: Mapping[str, Any] | None = None
    reference_time: Timestamp | None = None
    created_at: Timestamp | None = None
    valid_at: Timestamp | None = None
    invalid_at: Timestamp | None = None
    expired_at: Timestamp | None = None


def read_zep(file: BufferedReader, written: datetime) -> Iterator[Found]:
    """Read edges as facts; one that was invalidated has ended then.

    `written` dates what has no time.
    """
    return read_each(items(file, "edges"), "edge", partial(_fact, written=written))


def _fact(item: Any, place: str, written: datetime) -> Iterator[Found]:
    edge = parsed(_Edge, item)
    statement = stated(
        system="zep",
        key=(edge.uuid,),
        content=edge.fact,
        created_at=edge.reference_time or edge.created_at or edge.valid_at or written,
        valid_from=edge.valid_at,
        valid_to=edge.invalid_at or edge.expired_at,
        metadata=edge.attributes,
        origin=given(
            id=edge.uuid,
            relation=edge.name,
            graph=edge.group_id,
            source_node=edge.source_node_uuid,
            target_node=edge.target_node_uuid,
            episodes=list(edge.episodes or ()),
            until=edge.invalid_at and edge.invalid_at.isoformat(),
            expired=edge.expired_at and edge.expired_at.isoformat(),
        ),
    )
    yield IncomingRecord(None, place, statement)
