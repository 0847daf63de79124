"""State of any number of workers in one PostgreSQL database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from semantic_memory.domain.ports import Clock
from semantic_memory.domain.ports.encryption import Encryption
from semantic_memory.entrypoints.state.postgres_keys import PostgresKeys
from semantic_memory.entrypoints.state.postgres_rates import PostgresRates
from semantic_memory.entrypoints.state.postgres_replies import PostgresReplies
from semantic_memory.ledger.postgres.connections import Connections


class SharedState:
    """`ServiceState` in tables, over connections that its maker closes."""

    def __init__(self, connections: Connections, encryption: Encryption | None) -> None:
        self._connections = connections
        self._encryption = encryption

    def keys(self) -> PostgresKeys:
        """Return the API keys of the store."""
        return PostgresKeys(self._connections, self._encryption)

    @contextmanager
    def replies(self, clock: Clock) -> Iterator[PostgresReplies]:
        """Lend the kept answers, with a thread that renews the leases of requests under way."""
        with closing(PostgresReplies(self._connections, clock, self._encryption)) as replies:
            yield replies

    def rates(self, requests_per_minute: int) -> PostgresRates:
        """Return the rates of callers."""
        return PostgresRates(self._connections, requests_per_minute)
