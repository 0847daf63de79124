"""The feed of events, as far as they are numbered."""

from __future__ import annotations

from semantic_memory.ledger.postgres.connections import Connections
from semantic_memory.ledger.postgres.numbering import PATIENCE_SECONDS, number_events
from semantic_memory.ledger.sql import events


class EventReader(events.EventReader):
    """The role `EventFeed`, except waking its followers."""

    _connections: Connections

    def _settle(self) -> None:
        number_events(self._connections, PATIENCE_SECONDS)
