"""Vector index in collections of Chroma, and on its embedded client, in this process.

Users share one collection until `own` moves a user to a collection of their own: Chroma answers an
unfiltered query over 500,000 memories in 1 ms, but any `where` reads the metadata of the whole
collection (80 ms at 100,000), and a thousand collections take 3 GB. A user's own collection is
searched without `where`: the query fetches more than the limit and filters here, and falls back to
`where` only for a filter that admits almost nothing.

Chroma writes its HNSW files as a whole every `sync_threshold` writes, and an interrupted write
breaks them: `vectors.chroma.seal` detects the damage, `vectors.sync` rebuilds the index.

A memory has an entry ("piece") for each window of its text. All pieces have its metadata, for
filters; only the first has its text, in a directory of Chroma alone.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, repeat
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import chromadb
import numpy as np
from chromadb.api import ClientAPI
from chromadb.api.client import Client
from chromadb.api.collection_configuration import CreateCollectionConfiguration
from chromadb.config import Settings
from chromadb.errors import NotFoundError

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.files import digest_of
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.ports import IndexEntry, Match
from semantic_memory.domain.values import levels
from semantic_memory.vectors.chroma.where import has, meets, where

SHARED = "memories"
BATCH = 4_000
"""Pieces written at once; Chroma's limit is 5,461."""
_DELETED_AT_ONCE = 1_000
_FAR_FUTURE = 1e12  # `valid_to` of active facts, as Chroma's metadata can't hold infinity
_OVERFETCH = 4
_MOST_FETCHED = 1_024
_MOVED_AT_ONCE = 128
_LISTED_AT_ONCE = 1_000

Metadata = Mapping[str, Any]
PartT = TypeVar("PartT")

_FILLING, _FILLED, _COMPLETE = "filling", "filled", "complete"
"""States of a user's own collection: being copied to; in use while the copied pieces are deleted
from the shared one; complete."""


class ChromaCollections:
    """`VectorIndex` in the collections of a client whose names begin with a prefix."""

    copies = True

    def __init__(
        self, client: ClientAPI, sync_threshold: int, prefix: str = "", *, texts: bool = True
    ) -> None:
        """Finish the moves of users that were interrupted; keep `texts` beside vectors."""
        self._client = client
        self._prefix = prefix
        self._shared = prefix + SHARED
        self._texts = texts
        self._configuration: CreateCollectionConfiguration = {
            "hnsw": {"space": "cosine", "sync_threshold": sync_threshold}
        }
        self._collections: dict[str, chromadb.Collection] = {}
        self._moves: dict[str, Iterator[None]] = {}
        self.refresh()

    def refresh(self) -> None:
        """Find the collections that another process made, and finish moves that it left."""
        found = {
            name: self._client.get_collection(name, embedding_function=None)
            for name in names(self._client, self._prefix)
            if name not in self._collections
        }
        for name, collection in found.items():
            if _state(collection) == _FILLING:
                self._client.delete_collection(name)
            else:
                self._collections[name] = collection
        for collection in found.values():
            if _state(collection) == _FILLED:
                for _ in self._leave_shared(collection):
                    pass

    def begin(self) -> None:
        """Create the shared collection, unless another process has."""
        self._collections[self._shared] = self._client.get_or_create_collection(
            self._shared,
            configuration=self._configuration,
            metadata={"state": _COMPLETE},
            embedding_function=None,
        )

    def look_for(self, user_id: str) -> bool:
        """Return True if a user has a collection of their own by now, and use it."""
        name = self._own_name(user_id)
        try:
            collection = self._client.get_collection(name, embedding_function=None)
        except NotFoundError:
            return False
        if _state(collection) == _FILLING:
            return False
        self._collections[name] = collection
        return True

    def upsert(self, entries: Sequence[IndexEntry]) -> None:
        """Insert or replace entries in the collections of their users."""
        groups: dict[str, list[IndexEntry]] = defaultdict(list)
        for entry in entries:
            groups[self._collection_of(entry.fact.user_id)].append(entry)
        for name, group in groups.items():
            self._write(self._collection(name), group)

    def delete(self, fact_ids: Sequence[str]) -> None:
        """Delete memories from every collection."""
        for collection in [*self._collections.values()]:
            for start in range(0, len(fact_ids), _DELETED_AT_ONCE):
                held = _held(collection, fact_ids[start : start + _DELETED_AT_ONCE])
                gone = [one for fact_id, of in held.items() for one in _ids(fact_id, _windows(of))]
                if gone:
                    collection.delete(ids=gone)

    def query(
        self, vector: Matrix, *, user_id: str, limit: int, filters: Filters = NO_FILTERS
    ) -> list[Match]:
        """Return the user's nearest memories by HNSW: approximate, recall .97 at 500,000."""
        name = self._collection_of(user_id)
        collection = self._collections.get(name)
        if collection is None or limit < 1:
            return []
        conditions = filters.conditions()
        matching = where(user_id, conditions)
        if name == self._shared:
            return self._filtered(collection, vector, limit, matching)
        fetch, size = limit * _OVERFETCH, collection.count()
        while True:
            found = self._nearest(collection, vector, min(fetch, size))
            passed = [match for match, metadata in found if meets(metadata, conditions)]
            if len(passed) >= limit or fetch >= size:
                return passed[:limit]
            if fetch >= _MOST_FETCHED:
                return self._filtered(collection, vector, limit, matching)
            fetch *= _OVERFETCH

    def count(self) -> int:
        """Return the number of memories in the index."""
        return len(self.ids())

    def ids(self) -> set[str]:
        """Return the ids of all memories in the index."""
        return {
            piece
            for collection in [*self._collections.values()]
            for piece in collection.get(include=[])["ids"]
            if "#" not in piece
        }

    def owns(self, user_id: str) -> bool:
        """Return True if a user has a collection of their own."""
        return self._own_name(user_id) in self._collections

    def own(self, user_id: str) -> None:
        """Move a user from the shared collection to one of their own."""
        while self.own_more(user_id):
            pass

    def own_more(self, user_id: str) -> bool:
        """Move a part of a user to a collection of their own; return True if more is left.

        The shared collection answers until everything is copied; the user's memories must not be
        written meanwhile. An unfinished copy is deleted at the next opening.
        """
        move = self._moves.pop(user_id, None) or self._move(user_id)
        for _ in move:
            self._moves[user_id] = move
            return True
        return False

    def probe(self) -> None:
        """Read an entry of every collection, so that a damaged collection fails here."""
        for collection in self._collections.values():
            some = collection.get(limit=1, include=["embeddings"])
            if some["ids"]:
                collection.query(query_embeddings=some["embeddings"], n_results=1, include=[])

    def close(self) -> None:
        """Release Chroma's handles."""
        cast("Client", self._client).close()  # ClientAPI doesn't declare it

    # ---------------------------------------------------------------- collections

    def _move(self, user_id: str) -> Iterator[None]:
        name = self._own_name(user_id)
        if name in self._collections:
            return
        collection = self._create(name, _FILLING)
        shared = self._collection(self._shared)
        pieces = shared.get(where={"user_id": user_id}, include=[])["ids"]
        for start in range(0, len(pieces), _MOVED_AT_ONCE):
            yield
            part = shared.get(
                ids=pieces[start : start + _MOVED_AT_ONCE],
                include=["embeddings", "documents", "metadatas"],
            )
            collection.upsert(
                ids=part["ids"],
                embeddings=part["embeddings"],
                documents=part["documents"] if self._texts else None,
                metadatas=part["metadatas"],
            )
        collection.modify(metadata={"state": _FILLED})
        self._collections[name] = self._client.get_collection(name, embedding_function=None)
        yield from self._leave_shared(self._collections[name])

    def _leave_shared(self, own: chromadb.Collection) -> Iterator[None]:
        """Delete from the shared collection the pieces in a user's own collection."""
        shared = self._collection(self._shared)
        pieces = own.get(include=[])["ids"]
        for start in range(0, len(pieces), _MOVED_AT_ONCE):
            yield
            shared.delete(ids=pieces[start : start + _MOVED_AT_ONCE])
        own.modify(metadata={"state": _COMPLETE})

    def _collection_of(self, user_id: str) -> str:
        own = self._own_name(user_id)
        return own if own in self._collections else self._shared

    def _own_name(self, user_id: str) -> str:
        return f"{self._prefix}user-{digest_of(user_id)}"

    def _collection(self, name: str) -> chromadb.Collection:
        if name not in self._collections:
            self._collections[name] = self._create(name, _COMPLETE)
        return self._collections[name]

    def _create(self, name: str, state: str) -> chromadb.Collection:
        return self._client.create_collection(
            name,
            configuration=self._configuration,
            metadata={"state": state},
            embedding_function=None,
        )

    # ---------------------------------------------------------------- reading and writing one

    def _write(self, collection: chromadb.Collection, entries: Sequence[IndexEntry]) -> None:
        for start in range(0, len(entries), BATCH):
            batch = {entry.fact.id: pieces(entry) for entry in entries[start : start + BATCH]}
            held = _held(collection, [piece.id for new in batch.values() for piece in new])
            stale = [
                piece
                for fact_id, new in batch.items()
                if fact_id in held
                for piece in _ids(fact_id, _windows(held[fact_id]))[len(new) :]
            ]
            if stale:
                collection.delete(ids=stale)
            fresh: list[Piece] = []
            same: list[Piece] = []
            for fact_id, new in batch.items():
                unchanged = held.get(fact_id, {}).get("digest") == new[0].metadata["digest"]
                (same if unchanged else fresh).extend(new)
            # Backwards: a memory counts as held by its first piece, which comes after the others,
            # as the end of the process may part them.
            for part in _parts(fresh[::-1]):
                collection.upsert(
                    ids=[piece.id for piece in part],
                    embeddings=np.stack([piece.window for piece in part]),
                    documents=[piece.document for piece in part] if self._texts else None,
                    metadatas=[_replacing(held.get(piece.id, {}), piece) for piece in part],
                )
            for part in _parts(same):  # leaves HNSW unchanged
                collection.update(
                    ids=[piece.id for piece in part],
                    metadatas=[_replacing(held.get(piece.id, {}), piece) for piece in part],
                )

    def _nearest(
        self,
        collection: chromadb.Collection,
        vector: Matrix,
        number: int,
        where: dict[str, Any] | None = None,
    ) -> list[tuple[Match, Mapping[str, Any]]]:
        """Return the memories of the nearest pieces, best first."""
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
        limit: int,
        where: dict[str, Any],
    ) -> list[Match]:
        fetch = limit
        while True:
            found = self._nearest(collection, vector, fetch, where)
            # Long memories have several pieces; fetch more until there are enough memories.
            if len(found) >= limit or fetch >= collection.count():
                return [match for match, _ in found[:limit]]
            if len(collection.get(where=where, include=[], limit=fetch + 1)["ids"]) <= fetch:
                return [match for match, _ in found]
            fetch *= _OVERFETCH


class ChromaIndex(ChromaCollections):
    """`VectorIndex` on a directory that no other process has open."""

    def __init__(self, path: Path, sync_threshold: int) -> None:
        settings = Settings(anonymized_telemetry=False)
        super().__init__(chromadb.PersistentClient(str(path), settings=settings), sync_threshold)


def _state(collection: chromadb.Collection) -> object:
    return (collection.metadata or {}).get("state")


def names(client: ClientAPI, prefix: str) -> Iterator[str]:
    """Yield the names of the collections that begin with a prefix."""
    for start in count(0, _LISTED_AT_ONCE):
        listed = client.list_collections(_LISTED_AT_ONCE, start)
        yield from (one.name for one in listed if one.name.startswith(prefix))
        if len(listed) < _LISTED_AT_ONCE:
            return


class Piece(NamedTuple):
    """An entry of a collection: one window of a memory."""

    id: str
    window: Matrix
    document: str
    metadata: dict[str, Any]


def pieces(entry: IndexEntry) -> list[Piece]:
    """Return the entries for a memory; the first has its text."""
    metadata = _metadata(entry)
    documents = [entry.fact.text, *repeat("", len(entry.windows) - 1)]
    ids = _ids(entry.fact.id, len(entry.windows))
    return [
        Piece(piece, window, document, metadata)
        for piece, window, document in zip(ids, entry.windows, documents, strict=True)
    ]


def _parts(pieces: Sequence[PartT]) -> Iterator[Sequence[PartT]]:
    for start in range(0, len(pieces), BATCH):
        yield pieces[start : start + BATCH]


def _ids(fact_id: str, windows: int) -> list[str]:
    """Return the ids of a memory's pieces; `#` can't occur in a memory's id."""
    return [fact_id, *(f"{fact_id}#{number}" for number in range(1, windows))][:windows]


def _held(collection: chromadb.Collection, pieces: Sequence[str]) -> dict[str, Metadata]:
    """Return the metadata of those of these pieces that a collection holds."""
    held: dict[str, Metadata] = {}
    for part in _parts(pieces):
        found = collection.get(ids=list(part), include=["metadatas"])
        held.update(zip(found["ids"], found["metadatas"] or [], strict=True))
    return held


def _windows(metadata: Metadata) -> int:
    """Return the number of pieces of a memory whose first one has this metadata."""
    return int(metadata.get("windows", 1))


def _replacing(held: Metadata, piece: Piece) -> dict[str, Any]:
    """Return the metadata of a piece, with None for keys to remove, as an upsert merges both."""
    return dict.fromkeys(held.keys() - piece.metadata.keys()) | piece.metadata


def _digest(entry: IndexEntry) -> str:
    """Return a digest of text and vectors, to detect changes."""
    digest = hashlib.blake2b(entry.fact.text.encode(), digest_size=8)
    digest.update(entry.windows.tobytes())
    return digest.hexdigest()


def _metadata(entry: IndexEntry) -> dict[str, Any]:
    """Return the fields that filters ask for, those without a value left out, and two of writing.

    They are written twice, to the queue, and to a table with an index, so that each counts.
    """
    fact = entry.fact
    scope = {name: value for name, value in fact.scope._asdict().items() if value}
    return {
        "user_id": fact.user_id,
        "category": fact.category.value,
        "status": fact.status.value,
        "confidence": fact.confidence,
        "importance": fact.importance,
        "created_at": fact.created_at.timestamp(),
        "valid_from": fact.valid_from.timestamp(),
        "valid_to": _FAR_FUTURE if fact.valid_to is None else fact.valid_to.timestamp(),
        "digest": _digest(entry),
        # None even of a new memory: Chroma leaves the lists of a deleted collection in its
        # database, and those that get the same numbers next would have them.
        "tags": list(dict.fromkeys(level for tag in fact.tags for level in levels(tag))) or None,
        **({"windows": len(entry.windows)} if len(entry.windows) > 1 else {}),
        **({"session_id": fact.source.session_id} if fact.source.session_id else {}),
        **scope,
        **{has(name): True for name in scope},
    }
