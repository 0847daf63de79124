"""The vector index on Chroma's embedded client, in this process.

Users share one collection until `own` gives one a collection of its own: Chroma answers an
unfiltered query over 500,000 memories in 1 ms, but any `where` reads the whole collection's
metadata (80 ms at 100,000), and a thousand collections cost 3 GB. In a collection of its own a user
is searched without `where`: more than asked for is fetched and filtered here, and only a filter
that lets almost nothing through falls back to `where`.

Chroma's HNSW files are written whole every `sync_threshold` writes and can't survive being cut off
half way; `semantic_memory.index.seal` finds out, `semantic_memory.index.keeper` rebuilds.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import chromadb
import numpy as np
from chromadb.api.client import Client
from chromadb.api.collection_configuration import CreateCollectionConfiguration
from chromadb.config import Settings

from semantic_memory.changes import Matrix
from semantic_memory.models import NO_FILTERS, Fact, Filters, Status, covers
from semantic_memory.ports import IndexEntry, Match

SHARED = "memories"
_BATCH = 1_000  # Chroma takes 5,461 at most
_FAR_FUTURE = 1e12  # `valid_to` of what is still believed: Chroma's metadata knows no infinity
_OVERFETCH = 4
_MOST_FETCHED = 1_024


class ChromaIndex:
    """A `VectorIndex` on a directory that no other process has open."""

    def __init__(self, path: Path, sync_threshold: int) -> None:
        self._client = chromadb.PersistentClient(
            str(path), settings=Settings(anonymized_telemetry=False)
        )
        self._configuration: CreateCollectionConfiguration = {
            "hnsw": {"space": "cosine", "sync_threshold": sync_threshold}
        }
        self._collections = {
            collection.name: self._client.get_collection(collection.name, embedding_function=None)
            for collection in self._client.list_collections()
        }
        for name in [name for name, held in self._collections.items() if _unfinished(held)]:
            self._drop(name)

    def upsert(self, entries: Sequence[IndexEntry]) -> None:
        """Insert or replace, each user's in the collection that holds them."""
        for name, group in _grouped(entries, self._collection_of).items():
            self._write(self._collection(name), group)

    def delete(self, fact_ids: Sequence[str]) -> None:
        """Take out of every collection."""
        for collection in self._collections.values():
            for start in range(0, len(fact_ids), _BATCH):
                known = _window_counts(collection, fact_ids[start : start + _BATCH])
                gone = [
                    piece for fact_id, number in known.items() for piece in _ids(fact_id, number)
                ]
                if gone:
                    collection.delete(ids=gone)

    def query(
        self, vector: Matrix, *, user_id: str, limit: int, filters: Filters = NO_FILTERS
    ) -> list[Match]:
        """The user's nearest memories, by HNSW: approximate, recall about .97 at 500,000."""
        name = self._collection_of(user_id)
        collection = self._collections.get(name)
        if collection is None or limit < 1:
            return []
        if name == SHARED:
            return self._filtered(collection, vector, user_id, limit, filters)
        fetch, size = limit * _OVERFETCH, collection.count()
        while True:
            found = self._nearest(collection, vector, min(fetch, size))
            passed = [match for match, metadata in found if _admits(metadata, filters)]
            if len(passed) >= limit or fetch >= size:
                return passed[:limit]
            if fetch >= _MOST_FETCHED:
                return self._filtered(collection, vector, user_id, limit, filters)
            fetch *= _OVERFETCH

    def count(self) -> int:
        """Number of memories held."""
        return len(self.ids())

    def ids(self) -> set[str]:
        """Ids of all memories held."""
        return {
            piece
            for collection in self._collections.values()
            for piece in collection.get(include=[])["ids"]
            if "#" not in piece
        }

    def owns(self, user_id: str) -> bool:
        """Whether a user has a collection of their own."""
        return _own_name(user_id) in self._collections

    def own(self, user_id: str) -> None:
        """Move a user from the shared collection to one of their own.

        Until that is complete the shared one keeps answering; cut off, it is begun anew.
        """
        shared = self._collections.get(SHARED)
        if shared is None or self.owns(user_id):
            return
        name = _own_name(user_id)
        collection = self._create(name, {"state": "filling"})
        pieces = shared.get(where={"user_id": user_id}, include=[])["ids"]
        for start in range(0, len(pieces), _BATCH):
            part = shared.get(
                ids=pieces[start : start + _BATCH], include=["embeddings", "documents", "metadatas"]
            )
            collection.upsert(
                ids=part["ids"],
                embeddings=part["embeddings"],
                documents=part["documents"],
                metadatas=part["metadatas"],
            )
        collection.modify(metadata={"state": "full"})
        self._collections[name] = self._client.get_collection(name, embedding_function=None)
        for start in range(0, len(pieces), _BATCH):
            shared.delete(ids=pieces[start : start + _BATCH])

    def probe(self) -> None:
        """Read a little of every collection, so that a damaged one fails here and now."""
        for collection in self._collections.values():
            some = collection.get(limit=1, include=["embeddings"])
            if some["ids"]:
                collection.query(query_embeddings=some["embeddings"], n_results=1, include=[])

    def close(self) -> None:
        """Release Chroma's handles."""
        cast("Client", self._client).close()  # which ClientAPI doesn't declare

    # ---------------------------------------------------------------- collections

    def _collection_of(self, user_id: str) -> str:
        own = _own_name(user_id)
        return own if own in self._collections else SHARED

    def _collection(self, name: str) -> chromadb.Collection:
        if name not in self._collections:
            self._collections[name] = self._create(name, {"state": "full"})
        return self._collections[name]

    def _create(self, name: str, metadata: dict[str, Any]) -> chromadb.Collection:
        return self._client.create_collection(
            name, configuration=self._configuration, metadata=metadata, embedding_function=None
        )

    def _drop(self, name: str) -> None:
        self._client.delete_collection(name)
        self._collections.pop(name, None)

    # ---------------------------------------------------------------- reading and writing one

    def _write(self, collection: chromadb.Collection, entries: Sequence[IndexEntry]) -> None:
        for start in range(0, len(entries), _BATCH):
            batch = {entry.fact.id: entry for entry in entries[start : start + _BATCH]}
            known = _window_counts(collection, list(batch))
            stale = [
                piece
                for fact_id, number in known.items()
                for piece in _ids(fact_id, number)[len(batch[fact_id].windows) :]
            ]
            if stale:
                collection.delete(ids=stale)
            pieces = [
                (piece, window, entry)
                for entry in batch.values()
                for piece, window in zip(
                    _ids(entry.fact.id, len(entry.windows)), entry.windows, strict=True
                )
            ]
            for first in range(0, len(pieces), _BATCH):
                part = pieces[first : first + _BATCH]
                collection.upsert(
                    ids=[piece for piece, _, _ in part],
                    embeddings=[window for _, window, _ in part],
                    documents=[entry.fact.content for _, _, entry in part],
                    metadatas=[_metadata(entry) for _, _, entry in part],
                )

    def _nearest(
        self,
        collection: chromadb.Collection,
        vector: Matrix,
        number: int,
        where: dict[str, Any] | None = None,
    ) -> list[tuple[Match, Mapping[str, Any]]]:
        """The nearest pieces, best first, one a memory."""
        found = collection.query(
            query_embeddings=np.asarray([vector]),
            n_results=max(1, number),
            where=where,
            include=["distances", "metadatas"],
        )
        distances, metadatas = found["distances"], found["metadatas"]
        if distances is None or metadatas is None:
            return []
        nearest: dict[str, tuple[Match, Mapping[str, Any]]] = {}
        for piece, distance, metadata in zip(
            found["ids"][0], distances[0], metadatas[0], strict=True
        ):
            fact_id = piece.partition("#")[0]
            nearest.setdefault(fact_id, (Match(fact_id, 1.0 - distance), metadata))
        return list(nearest.values())

    def _filtered(
        self,
        collection: chromadb.Collection,
        vector: Matrix,
        user_id: str,
        limit: int,
        filters: Filters,
    ) -> list[Match]:
        where = _where(user_id, filters)
        fetch = limit
        while True:
            found = self._nearest(collection, vector, fetch, where)
            # Long memories fill several places; ask for more until there are enough memories.
            if len(found) >= limit or fetch >= collection.count():
                return [match for match, _ in found[:limit]]
            if len(collection.get(where=where, include=[], limit=fetch + 1)["ids"]) <= fetch:
                return [match for match, _ in found]
            fetch *= _OVERFETCH


def _own_name(user_id: str) -> str:
    return f"user-{hashlib.blake2b(user_id.encode(), digest_size=16).hexdigest()}"


def _unfinished(collection: chromadb.Collection) -> bool:
    return (collection.metadata or {}).get("state") != "full"


def _ids(fact_id: str, windows: int) -> list[str]:
    """Chroma's ids for a memory's windows; `#` can't occur in a memory's own id."""
    return [fact_id, *(f"{fact_id}#{number}" for number in range(1, windows))][:windows]


def _grouped(entries: Sequence[IndexEntry], key: Any) -> dict[str, list[IndexEntry]]:
    groups: dict[str, list[IndexEntry]] = {}
    for entry in entries:
        groups.setdefault(key(entry.fact.user_id), []).append(entry)
    return groups


def _window_counts(collection: chromadb.Collection, fact_ids: Sequence[str]) -> dict[str, int]:
    found = collection.get(ids=list(fact_ids), include=["metadatas"])
    metadatas = found["metadatas"] or []
    return {
        fact_id: int(str(metadata["windows"]))
        for fact_id, metadata in zip(found["ids"], metadatas, strict=True)
    }


def _metadata(entry: IndexEntry) -> dict[str, Any]:
    fact: Fact = entry.fact
    return {
        "user_id": fact.user_id,
        "category": fact.category.value,
        "status": fact.status.value,
        "confidence": fact.confidence,
        "importance": fact.importance,
        "created_at": fact.created_at.timestamp(),
        "recorded_at": fact.recorded_at.timestamp(),
        "valid_from": fact.valid_from.timestamp(),
        "valid_to": _FAR_FUTURE if fact.valid_to is None else fact.valid_to.timestamp(),
        "session_id": fact.source.session_id or "",
        "windows": len(entry.windows),
        # None takes away the tags of an earlier state; an upsert merges metadata.
        "tags": list(dict.fromkeys(level for tag in fact.tags for level in _levels(tag))) or None,
    }


def _levels(tag: str) -> list[str]:
    parts = tag.split(".")
    return [".".join(parts[:depth]) for depth in range(1, len(parts) + 1)]


def _where(user_id: str, filters: Filters) -> dict[str, Any]:
    """The condition that says what `Filters.admits` says."""
    terms: list[dict[str, Any]] = [{"user_id": user_id}]
    if filters.as_of is None:
        terms.append({"status": Status.ACTIVE.value})
    else:
        at = filters.as_of.timestamp()
        terms.append({"status": {"$in": [Status.ACTIVE.value, Status.SUPERSEDED.value]}})
        terms += [{"valid_from": {"$lte": at}}, {"valid_to": {"$gt": at}}]
    if filters.categories is not None:
        # Chroma refuses an empty list; no memory has an empty category.
        terms.append({"category": {"$in": sorted(filters.categories) or [""]}})
    if filters.since is not None:
        terms.append({"created_at": {"$gte": filters.since.timestamp()}})
    if filters.until is not None:
        terms.append({"created_at": {"$lt": filters.until.timestamp()}})
    if filters.min_confidence > 0:
        terms.append({"confidence": {"$gte": filters.min_confidence}})
    if filters.session_id is not None:
        terms.append({"session_id": filters.session_id})
    terms += [{"tags": {"$contains": tag}} for tag in filters.tags]
    return {"$and": terms}


def _admits(metadata: Mapping[str, Any], filters: Filters) -> bool:
    """`Filters.admits`, from a memory's metadata."""
    if filters.as_of is None:
        believed = metadata["status"] == Status.ACTIVE
    else:
        at = filters.as_of.timestamp()
        believed = (
            metadata["status"] in (Status.ACTIVE, Status.SUPERSEDED)
            and metadata["valid_from"] <= at < metadata["valid_to"]
        )
    since = -math.inf if filters.since is None else filters.since.timestamp()
    until = math.inf if filters.until is None else filters.until.timestamp()
    return (
        believed
        and (filters.categories is None or metadata["category"] in filters.categories)
        and since <= metadata["created_at"] < until
        and metadata["confidence"] >= filters.min_confidence
        and (filters.session_id is None or metadata["session_id"] == filters.session_id)
        and all(any(covers(t, own) for own in metadata.get("tags") or ()) for t in filters.tags)
    )
