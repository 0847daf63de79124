"""Vector index on a Chroma server, which several processes may share.

The collections of a store begin with its name and with the generation of the index, so that nobody
takes an earlier filling for the present one. They hold no texts. The process that keeps the index
level writes; every process queries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import urlsplit

import chromadb
import httpx
from chromadb.api import ClientAPI
from chromadb.api.client import Client
from chromadb.config import Settings
from chromadb.errors import (
    AuthorizationError,
    ChromaAuthError,
    InternalError,
    InvalidArgumentError,
    InvalidDimensionException,
    NotFoundError,
)

from semantic_memory.domain.changes import Matrix
from semantic_memory.domain.errors import (
    ConfigurationError,
    IndexBrokenError,
    IndexUnavailableError,
)
from semantic_memory.domain.filters import NO_FILTERS, Filters
from semantic_memory.domain.ports import IndexEntry, Match
from semantic_memory.vectors.chroma.index import ChromaCollections, names
from semantic_memory.vectors.chroma.worker import LACKS

_TIMEOUT = httpx.Timeout(30.0, connect=5.0)
_PORTS: Mapping[str, int] = {"http": 80, "https": 443}
_REFUSALS = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


class ChromaServer:
    """An `IndexHome` of collections on a Chroma server, to which texts are never sent."""

    name = "chroma-server"

    def __init__(self, url: str, token: str, name: str, sync_threshold: int) -> None:
        """Use the server at `url`, `http://host:port`, by a token, empty for none.

        `name` tells the store's collections from others on the server. Raises ConfigurationError
        for another URL; connects at the first opening.
        """
        self._address = _address(url)
        self._url = url
        self._headers = {"Authorization": f"Bearer {token}", "X-Chroma-Token": token}
        if not token:
            self._headers = {}
        self._prefix = f"{name}-"
        self._sync_threshold = sync_threshold
        self._client: ClientAPI | None = None

    def damage(self, generation: str) -> None:
        """Return None: damage shows only in use."""

    def open(self, generation: str) -> ServedIndex:
        """Open the collections of a generation, over a new connection."""
        self.close()
        with _translated(self._url):
            prefix = f"{self._prefix}{generation}-"
            held = ChromaCollections(self._connected(), self._sync_threshold, prefix, texts=False)
            held.begin()
            return ServedIndex(held, self._url)

    def position(self) -> None:
        """Return None: the server isn't copied with the store."""

    def note(self, changes: int) -> None:
        """Do nothing: there is no place for a note."""

    def set_aside(self) -> None:
        """Keep nothing: the collections are deleted before new ones are filled."""

    def empty(self) -> None:
        """Delete the store's collections of all generations."""
        self.close()
        with _translated(self._url):
            client = self._connected()
            for name in [*names(client, self._prefix)]:
                _delete(client, name)

    def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            cast("Client", client).close()  # ClientAPI doesn't declare it
            for session in _sessions(client):
                session.close()

    def _connected(self) -> ClientAPI:
        if self._client is None:
            host, port, is_encrypted = self._address
            # The client asks the same first, without a bound on the wait.
            identity = f"{self._url.rstrip('/')}/api/v2/auth/identity"
            httpx.get(identity, headers=self._headers, timeout=_TIMEOUT).raise_for_status()
            self._client = chromadb.HttpClient(
                host,
                port,
                ssl=is_encrypted,
                headers=dict(self._headers),
                settings=Settings(anonymized_telemetry=False),
            )
            for session in _sessions(self._client):
                session.timeout = _TIMEOUT
        return self._client


class ServedIndex:
    """`VectorIndex` of collections on a server. Thread-safe."""

    copies = True

    def __init__(self, collections: ChromaCollections, url: str) -> None:
        self._collections = collections
        self._url = url

    def upsert(self, entries: Sequence[IndexEntry]) -> None:
        """Insert or replace entries in the collections of their users."""
        with self._refreshed() as collections:
            collections.upsert(entries)

    def delete(self, fact_ids: Sequence[str]) -> None:
        """Delete memories from every collection."""
        with self._refreshed() as collections:
            collections.delete(fact_ids)

    def query(
        self, vector: Matrix, *, user_id: str, limit: int, filters: Filters = NO_FILTERS
    ) -> list[Match]:
        """Return the user's nearest memories by HNSW, also of a user who is being moved."""
        collections = self._collections
        with _translated(self._url):
            owned = collections.owns(user_id)
            found = collections.query(vector, user_id=user_id, limit=limit, filters=filters)
            # Pieces leave the shared collection only once the user's own one is in use.
            if owned or not collections.look_for(user_id):
                return found
            return collections.query(vector, user_id=user_id, limit=limit, filters=filters)

    def count(self) -> int:
        """Return the number of memories in the index."""
        return len(self.ids())

    def ids(self) -> set[str]:
        """Return the ids of all memories in the index."""
        with self._refreshed() as collections:
            return collections.ids()

    def owns(self, user_id: str) -> bool:
        """Return True if a user has a collection of their own."""
        return self._collections.owns(user_id)

    def own(self, user_id: str) -> None:
        """Move a user from the shared collection to one of their own."""
        with self._refreshed() as collections:
            collections.own(user_id)

    def close(self) -> None:
        """Do nothing: the home closes the connections."""

    @contextmanager
    def _refreshed(self) -> Iterator[ChromaCollections]:
        """Return the collections, including those that another process has made since."""
        with _translated(self._url):
            self._collections.refresh()
            yield self._collections


def _address(url: str) -> tuple[str, int, bool]:
    """Return host, port, and whether the connection is encrypted."""
    parts = urlsplit(url)
    try:
        port = parts.port or _PORTS[parts.scheme]
    except (KeyError, ValueError):
        port = 0
    if not port or not parts.hostname or parts.path.strip("/") or parts.query:
        raise ConfigurationError(
            f"index.url {url!r} isn't the URL of a Chroma server: write http://host:8000, or https"
        )
    return parts.hostname, port, parts.scheme == "https"


def _sessions(client: ClientAPI) -> list[httpx.Client]:
    """Return the connections of a client, which neither bounds its waits nor closes them."""
    private = cast("Any", client)
    return [part._server._session for part in (private, private._admin_client)]  # noqa: SLF001


def _delete(client: ClientAPI, name: str) -> None:
    try:
        client.delete_collection(name)
    except NotFoundError:  # another process was faster
        return


@contextmanager
def _translated(url: str) -> Iterator[None]:
    """Translate Chroma's errors into those of an index; the message names the server."""
    try:
        yield
    except (NotFoundError, InvalidArgumentError, InvalidDimensionException) as error:
        raise IndexBrokenError(f"Chroma at {url}: {error}") from error
    except (ChromaAuthError, AuthorizationError) as error:
        raise _refused(url) from error
    except InternalError as error:
        if any(words in str(error) for words in LACKS):
            raise IndexUnavailableError(f"Chroma at {url}: {error}") from error
        raise IndexBrokenError(f"Chroma at {url}: {error}") from error
    except Exception as error:  # httpx's, and answers of a proxy before it, as plain exceptions
        if _status(error) in _REFUSALS:
            raise _refused(url) from error
        raise IndexUnavailableError(
            f"Chroma at {url} can't be reached: see that the server runs, and correct index.url"
            f" ({type(error).__name__}: {error})"
        ) from error


def _status(error: Exception) -> int:
    """Return the status that an error of the client stands for; 0 if there was no answer."""
    seen: BaseException | None = error
    while seen is not None and not isinstance(seen, httpx.HTTPStatusError):
        seen = seen.__context__
    return 0 if seen is None else seen.response.status_code


def _refused(url: str) -> IndexUnavailableError:
    return IndexUnavailableError(f"Chroma at {url} refuses the access: set index.token")
