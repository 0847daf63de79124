"""Delivery of events to an endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from semantic_memory.domain.feed import MemoryEvent


class Delivery(Protocol):
    """Sends events of a user, and waits until they are taken. Thread-safe."""

    @property
    def name(self) -> str:
        """A digest that tells receivers apart, and no address."""
        ...

    def send(self, events: Sequence[MemoryEvent], at: datetime) -> None:
        """Send events in one message; an attempt is made `at` a time. Raises DeliveryError."""
        ...

    def close(self) -> None:
        """End a sending that is under way, and start no other."""
        ...
