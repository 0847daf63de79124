"""Offering a store to other processes, from the moment its lock is taken."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from semantic_memory.domain.ports.encryption import Encryption
from semantic_memory.settings import Settings
from semantic_memory.sharing.owner import Owner, Role, announced, announcing, own_version
from semantic_memory.sharing.sockets import listening


class Sharing:
    """The offer of a data directory by this process, and its view of others' offers.

    Others connect as soon as the lock is taken, and wait until the store is open and served.
    """

    def __init__(
        self,
        settings: Settings,
        role: Role,
        encryption: Encryption | None,
        *,
        url: str | None = None,
        offers: bool = True,
    ) -> None:
        """`url` is where the process listens anyway. One that doesn't offer only sees others."""
        self._settings = settings
        self._role = role
        self._encryption = encryption
        self._url = url
        self._offers = offers
        self.token = secrets.token_urlsafe(32)
        self.owner: Owner | None = None
        """This process, while it is announced."""
        self.listener: socket.socket | None = None
        """The socket of the announcement, with it."""

    def other(self) -> Owner | None:
        """Return the process that offers the directory. Raises ConfigurationError."""
        return announced(self._settings.data_dir, self._encryption)

    @contextmanager
    def offered(self) -> Iterator[None]:
        """Listen, and announce this process as the owner; it holds the lock."""
        if not self._offers:
            yield
            return
        directory = self._settings.data_dir
        with listening(directory) as found:
            self.listener = found.socket
            self.owner = Owner(
                pid=os.getpid(),
                role=self._role,
                version=own_version(),
                token=self.token,
                settings=self._settings.model_dump(mode="json"),
                url=self._url or found.url,
                socket=None if found.path is None else str(found.path),
            )
            try:
                with announcing(directory, self.owner, self._encryption):
                    yield
            finally:  # the store may be opened again without being offered: to read, on a full disk
                self.owner = self.listener = None
