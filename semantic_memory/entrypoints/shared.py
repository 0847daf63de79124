"""A store for several processes: one owns a data directory, and the others talk to that one.

A store in a database is opened by each.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from semantic_memory.application.keyring import make_encryption
from semantic_memory.bootstrap import Parts, build
from semantic_memory.domain.closing import Closing
from semantic_memory.domain.errors import (
    ConfigurationError,
    MissingDependencyError,
    StoreClosedError,
    StoreLockedError,
    StoreUnavailableError,
)
from semantic_memory.domain.observers import log_event, telling
from semantic_memory.domain.ports import Observer
from semantic_memory.entrypoints.api.offer import Offer, can_serve
from semantic_memory.ledger.lock import is_held
from semantic_memory.memory import SemanticMemory
from semantic_memory.settings import Settings
from semantic_memory.sharing.owner import Owner, Role, check_agreement
from semantic_memory.sharing.sharing import Sharing

if TYPE_CHECKING:
    import uvicorn

    from semantic_memory.client import AsyncClient, Client


class SharedStore(Closing):
    """A store that this process opens, or reaches through the process that has it open.

    If that process ends, this one takes over, or finds the one that did, at its next call.
    Thread-safe.
    """

    def __init__(self, settings: Settings, role: Role, parts: Callable[[], Parts] = Parts) -> None:
        """`parts` is called once this process is to open the store."""
        self._settings = settings
        self._role = role
        self._parts = parts
        self._encryption = make_encryption(settings)
        self._lock = threading.RLock()
        self._owned: _Owned | None = None
        self._other: Owner | None = None
        self._client: Client | None = None
        self._closed = False
        self._process = os.getpid()

    def memory(self) -> SemanticMemory | Client:
        """Return the open store, or a client of the process that has it open.

        Raises StoreLockedError if that process doesn't share it or has another version,
        ConfigurationError if it has other settings, and what `SemanticMemory.open` raises.
        """
        with self._lock:
            self._settle(None)
            if self._owned is not None:
                return self._owned.memory
            if self._client is None:
                from semantic_memory.client.local import client_of  # its HTTP client loads for long

                self._client = client_of(self.owner)
            return self._client

    def owner(self, gone: Owner | None = None) -> Owner:
        """Return the present owner, other than `gone` if there is another by now.

        Raises what `memory` does, MissingDependencyError if this process can't
        serve the store, StoreUnavailableError if it may only be read, ConfigurationError for a
        store in a database.
        """
        if self._settings.store.url is not None:
            raise ConfigurationError(
                "connect is for a store in a data directory: any number of processes may open the"
                " one at store.url, so use `SemanticMemory.open`"
            )
        with self._lock:
            self._settle(gone)
            if self._owned is None:
                if self._other is None:
                    raise AssertionError("unreachable: a store is owned here or elsewhere")
                return self._other
            if self._owned.owner is None:
                if can_serve():
                    raise StoreUnavailableError(
                        f"{self._settings.data_dir} is open to read only, and can't be shared:"
                        " read it with `SemanticMemory.open`"
                    )
                raise MissingDependencyError(
                    "sharing a store needs the service: pip install 'semantic-memory[service]'"
                )
            return self._owned.owner

    def own(self) -> SemanticMemory:
        """Open the store here. Raises StoreLockedError if another process has it open."""
        with self._lock:
            if self._owned is None:
                at_once = self._role == "mcp"  # beside an agent, whose hooks and other agents ask
                self._owned = _Owned(self._settings, self._parts(), self._sharing(), at_once)
            return self._owned.memory

    def _settle(self, gone: Owner | None) -> None:
        """Own the store, or know who does."""
        if self._closed:
            raise StoreClosedError(f"{self._settings.data_dir} was closed by this process")
        if self._owned is not None and os.getpid() != self._process:
            raise StoreLockedError(
                f"{self._settings.data_dir} was opened by process {self._process}, of which this"
                " one is a fork: connect after forking, in each process"
            )
        if self._owned is not None or (self._other is not None and self._other != gone):
            return
        self._other = None
        if self._settings.store.url is not None:
            self.own()
            return
        sharing = self._sharing()
        found = sharing.other() if is_held(self._settings.data_dir) else None
        if found is None:
            try:
                self.own()
            except StoreLockedError:  # taken meanwhile
                found = sharing.other()
                if found is None:
                    raise
        if found is not None:
            check_agreement(found, self._settings)
        self._other = found

    def _sharing(self) -> Sharing:
        return Sharing(self._settings, self._role, self._encryption, offers=can_serve())

    def close(self) -> None:
        """Close what this process has open; another one takes over at its next call.

        In a forked child it does nothing, as the store is the parent's.
        """
        if os.getpid() != self._process:
            return
        with self._lock:
            self._closed = True
            owned, self._owned = self._owned, None
        if self._client is not None:
            self._client.close()
        if owned is not None:
            owned.close()


class _Owned:
    """A store that is open here, and served to other processes."""

    def __init__(self, settings: Settings, parts: Parts, sharing: Sharing, at_once: bool) -> None:
        observers: list[Observer] = [parts.observer or log_event]
        observed = replace(parts, observer=telling(observers))
        with ExitStack() as stack:
            self.memory = SemanticMemory(build(settings, observed, sharing=sharing))
            self.owner = sharing.owner
            stack.callback(self.memory.close)
            if sharing.listener is not None:
                serving = partial(_serving, self.memory, sharing.token, observers)
                stack.callback(Offer(sharing.listener, serving, at_once=at_once).close)
            self.close = stack.pop_all().close


def _serving(
    memory: SemanticMemory, token: str, observers: list[Observer]
) -> AbstractContextManager[uvicorn.Server]:
    from semantic_memory.entrypoints.api.server import serving  # loads the whole service

    return serving(memory, token, observers)


def connect(settings: Settings, parts: Parts) -> Client:
    """Return a client of the owner of a store, which this process is if there is no other."""
    from semantic_memory.client.local import client_of

    store = _connected(settings, parts)
    return client_of(store.owner, store.close)


def connect_async(settings: Settings, parts: Parts) -> AsyncClient:
    """Return an asynchronous client of the owner of a store. Blocks while it is opened."""
    from semantic_memory.client.local import async_client_of

    store = _connected(settings, parts)
    return async_client_of(store.owner, store.close)


def _connected(settings: Settings, parts: Parts) -> SharedStore:
    with ExitStack() as stack:
        store = stack.enter_context(SharedStore(settings, "library", lambda: parts))
        store.owner()
        stack.pop_all()
    return store
