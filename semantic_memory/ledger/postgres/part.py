"""The base of the parts that run on PostgreSQL alone."""

from __future__ import annotations

from semantic_memory.ledger.postgres.connections import Connections
from semantic_memory.ledger.sql import part


class Part(part.Part):
    """A part of the ledger on PostgreSQL."""

    _connections: Connections
