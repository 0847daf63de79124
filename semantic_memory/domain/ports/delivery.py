"""Delivery of events to an endpoint."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from semantic_memory.domain.feed import MemoryEvent


class Delivery(Protocol):
    """Sends events, one at a time, and waits until they are taken."""

    def send(self, event: MemoryEvent, at: datetime) -> None:
        """Send an event; an attempt is made `at` a time. Raises DeliveryError."""
        ...

    def close(self) -> None:
        """End a sending that is under way, and start no other."""
        ...
