"""The choice between files and a database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from semantic_memory.domain.observers import ignore_event
from semantic_memory.domain.ports import Clock
from semantic_memory.domain.ports.encryption import Encryption
from semantic_memory.entrypoints.keys import Keys
from semantic_memory.entrypoints.state.embedded import EmbeddedState

if TYPE_CHECKING:
    from semantic_memory.entrypoints.api.access import Rates
    from semantic_memory.entrypoints.api.replies import Replies

_MOST_CONNECTIONS = 5  # as each is used for a statement or two, but for one


class ServiceState(Protocol):
    """State of a service beside the memory, each part made when it is asked for."""

    def keys(self) -> Keys:
        """Return the API keys of the store."""
        ...

    def replies(self, clock: Clock) -> AbstractContextManager[Replies]:
        """Lend the kept answers."""
        ...

    def rates(self, requests_per_minute: int) -> Rates:
        """Return the rates of callers."""
        ...


@contextmanager
def opened(
    data_dir: Path, encryption: Encryption | None, url: str | None = None
) -> Iterator[ServiceState]:
    """Lend the state in the files of `data_dir`, or in the PostgreSQL database at `url`.

    Raises MissingDependencyError without psycopg, StoreUnavailableError without a server.
    """
    if url is None:
        yield EmbeddedState(data_dir, encryption)
        return
    from semantic_memory.entrypoints.state.shared import SharedState
    from semantic_memory.ledger.postgres.connections import Connections

    with closing(Connections(url, ignore_event, most=_MOST_CONNECTIONS)) as connections:
        yield SharedState(connections, encryption)
